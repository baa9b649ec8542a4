package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/tools/bench/program"
)

// part is a program with the operations that are measured.
type part struct {
	name       string
	size       int
	program    func(n, edit int) []byte
	operations []operation
	inProcess  bool
	beside     bool // measures the other tools too, once
	floor      bool
	env        []string
	once       time.Duration // approximate duration of a run on an idle machine with two cores
	most       int           // maximum number of runs; 0 for no limit
}

// runs returns the number of runs of a part if asked runs are requested.
func (p *part) runs(asked int) int {
	if p.most > 0 {
		return min(asked, p.most)
	}
	return asked
}

// cost returns the approximate duration of a part.
func (p *part) cost(asked int) time.Duration { return time.Duration(p.runs(asked)) * p.once }

// operation is one command. The operations of a part run on one stack, in order.
type operation struct {
	name      string
	args      []string
	terraform []string // the same for terraform; nil for none
	floor     string   // the same for the floor; empty for none
	edit      int      // before the operation, the title of every edit-th resource changes
	silent    bool     // it is not measured
	times     int      // how often it runs; 0 for once
}

const (
	first, update, noopPreview, noopUp, changed = "first preview", "up", "no-op preview", "no-op up", "1% changed up"
)

// plain lists all operations. yamlhost and the Pulumi CLI take the same flags.
var plain = []operation{
	{name: "check", args: words("check"), floor: "check"},
	{name: first, args: words("preview --stack dev"), floor: "preview", terraform: words("plan -no-color")},
	{name: update, args: words("up --yes --skip-preview --stack dev"), floor: "up", terraform: apply},
	{name: noopPreview, args: words("preview --stack dev"), floor: "preview", terraform: words("plan -no-color")},
	{name: noopUp, args: words("up --yes --skip-preview --stack dev"), floor: "up", terraform: apply},
	{name: changed, args: words("up --yes --skip-preview --stack dev"), edit: 100, floor: "up", terraform: apply},
	{name: "refresh", args: words("refresh --yes --skip-preview --stack dev"), floor: "refresh",
		terraform: words("apply -refresh-only -auto-approve -no-color")},
	{name: "destroy", args: words("destroy --yes --skip-preview --stack dev"), floor: "destroy",
		terraform: words("destroy -auto-approve -refresh=false -no-color")},
}

var apply = words("apply -auto-approve -refresh=false -no-color")

func words(text string) []string { return strings.Fields(text) }

// sizes holds the numbers of resources of programs with the usual shape.
var sizes = []int{1, 10, 100, 1000, 10000, 50000, 100000}

// besideSizes holds the sizes that are measured with other tools too.
var besideSizes = []int{100, 1000}

// most returns the number of runs that suffice for programs of a size, or 0 for no limit. Larger programs vary less
// from run to run.
func most(size int) int {
	switch {
	case size >= 100000:
		return 1
	case size >= 50000:
		return 3
	}
	return 0
}

// parts returns all parts in the order of measurement; the longest come last.
func parts() []*part {
	var all, long []*part
	for _, size := range sizes {
		for _, mode := range []string{"process", "plugin"} {
			p := &part{name: fmt.Sprintf("%s/%d", mode, size), size: size, program: program.YAML,
				operations: plain, inProcess: mode == "process", floor: true, most: most(size)}
			p.once = time.Second/2 + time.Duration(size)*1500*time.Microsecond
			if !p.inProcess {
				p.once = time.Second/2 + time.Duration(size)*3500*time.Microsecond
			}
			if p.most > 0 {
				long = append(long, p)
			} else {
				all = append(all, p)
			}
		}
	}
	for _, size := range besideSizes {
		all = append(all, &part{name: fmt.Sprintf("beside/%d", size), size: size, program: program.YAML, operations: plain,
			beside: true, floor: true, most: 1, once: time.Duration(size) * time.Second / 2})
	}
	return slices.Concat(all, shapes(), long)
}

// shapes returns programs of other shapes, with an in-process provider.
func shapes() []*part {
	up := func(extra string) operation {
		return operation{name: strings.TrimSpace("up " + extra), args: words("up --yes --skip-preview --stack dev " + extra)}
	}
	preview := operation{name: noopPreview, args: words("preview --stack dev")}
	sized := func(f func(n int) []byte) func(int, int) []byte { return func(n, _ int) []byte { return f(n) } }
	shape := func(name string, size int, text func(n int) []byte, operations ...operation) *part {
		return &part{name: "shape/" + name, size: size, program: sized(text), operations: operations, inProcess: true,
			once: 5 * time.Second}
	}
	silently := func(o operation) operation { o.silent = true; return o }
	slow := shape("slow", 1000, program.Flat)
	slow.env = []string{noopDelay + "=50ms"}
	slow.once, slow.most = 65*time.Second, 3
	for _, parallel := range []int{1000, 100, 10, 1} {
		slow.operations = append(slow.operations, up(fmt.Sprintf("--parallel %d", parallel)),
			silently(operation{name: "destroy", args: words("destroy --yes --skip-preview --stack dev --parallel 1000")}))
	}
	chain := shape("chain", 2000, program.Chain, up(""), preview)
	chain.env = []string{noopDelay + "=5ms"}
	chain.once = 13 * time.Second
	target := operation{name: "up --target one of 10,000",
		args: words("up --yes --skip-preview --stack dev --target **thing5000")}
	export := operation{name: "stack export", args: words("stack export --stack dev --file exported.json")}
	list := operation{name: "stack ls", args: words("stack ls")}
	all := []*part{chain, shape("fan", 10000, program.Fan, up(""), preview),
		shape("forEach", 10000, program.ForEach, up(""), preview),
		shape("components", 10648, program.Components, up(""), preview),
		shape("big", 20, func(n int) []byte { return program.Big(n, 1<<20) }, up(""), preview),
		shape("target", 10000, func(n int) []byte { return program.YAML(n, 0) }, silently(up("")), target),
		shape("state", 100, nil, silently(up("")), list, export,
			operation{name: "config get", args: words("config get region --stack dev")}),
		shape("stacks", 50, func(n int) []byte { return program.YAML(n, 0) }, silently(up("")),
			operation{name: "stack init", args: words("stack init"), silent: true, times: 49}, list),
		shape("svg", 10000, func(n int) []byte { return program.YAML(n, 0) },
			operation{name: "graph --format svg", args: words("graph --format svg")}), slow}
	for _, n := range []int{1, 1000, 8000} {
		all = append(all, shape(fmt.Sprintf("secrets-%d", n), n, program.Secrets, up(""), preview))
	}
	for _, p := range all {
		if p.name != "shape/state" {
			continue
		}
		p.program = func(n, edit int) []byte { // first a large state, then a small program beside it
			if edit > 0 {
				return program.Flat(1)
			}
			return program.Big(n, 525_000)
		}
		p.operations[1].edit = 1
	}
	return all
}

// noopDelay is the environment variable for the duration of each change by the provider.
const noopDelay = "YAMLHOST_NOOP_DELAY"

// measure measures a part the given number of times. Tools take turns at each operation, so that other load on the
// machine affects all of them.
func (p *part) measure(dir string, b *built, runs int) ([]*row, error) {
	tools := b.ours
	if p.beside {
		tools = slices.Concat(b.ours[len(b.ours)-1:], b.beside)
	}
	if p.floor {
		tools = append([]tool{{name: floorTool}}, tools...)
	}
	rows := map[string]*row{}
	var order []*row
	for run := range p.runs(runs) {
		var stacks []*stack
		for _, t := range tools {
			s, err := newStack(t, dir, b.plugin, p.inProcess, p.env)
			if err == nil {
				err = cmpErrors(s.write(p, 0), s.begin())
			}
			if err != nil {
				return nil, err
			}
			stacks = append(stacks, s)
		}
		for _, o := range p.operations {
			for i := range stacks {
				s := stacks[(i+run)%len(stacks)]
				if o.edit > 0 {
					if err := s.write(p, o.edit); err != nil {
						return nil, err
					}
				}
				for turn := range max(o.times, 1) {
					cmd := s.command(o, b.plugin, b.floor)
					if cmd == nil {
						continue
					}
					if o.times > 0 {
						cmd.Args = append(cmd.Args, fmt.Sprintf("other%d", turn))
					}
					f, err := measure(cmd, s.dir, s.env)
					if err != nil {
						return nil, fmt.Errorf("%s of %s: %w", o.name, s.name, err)
					}
					key := s.name + " " + o.name
					if rows[key] == nil && !o.silent {
						rows[key] = &row{Part: p.name, Operation: o.name, Tool: s.name}
						order = append(order, rows[key])
					}
					if !o.silent {
						rows[key].add(f)
					}
				}
			}
		}
		for _, s := range stacks {
			if err := os.RemoveAll(s.dir); err != nil {
				return nil, err
			}
		}
	}
	return order, nil
}

// begin creates the stack with the tool's own command.
func (s *stack) begin() error {
	args := words("stack init dev")
	switch s.name {
	case floorTool:
		return nil
	case terraformTool:
		args = words("init -no-color")
	}
	cmd := s.command(operation{args: args, terraform: args}, "", "")
	if s.name != terraformTool {
		// a setting to read
		text := "config: {generated:region: north}\n"
		if err := os.WriteFile(filepath.Join(s.dir, "Pulumi.dev.yaml"), []byte(text), 0o644); err != nil {
			return err
		}
	}
	_, err := measure(cmd, s.dir, s.env)
	return err
}

func cmpErrors(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
