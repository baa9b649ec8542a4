// Command editor measures the language server as an editor runs it: over standard input and output, on generated
// programs. It prints a table: for each request the 95th percentile of 100 samples, as elapsed time and as CPU time
// of the server, in milliseconds. On a machine that others use, compare the CPU time. With a directory of gzipped
// package schemas in YAMLHOST_SCHEMAS, it measures a program of the package with the largest one too.
//
//	go run ./tools/bench/editor [-binary yamlhost] [-sizes 1000,10000] [-samples 40] [-edits 1000]
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/tools/bench/program"
)

var (
	binary  = flag.String("binary", "", "the program; built where it is not named")
	sizes   = flag.String("sizes", "1000,10000", "how many resources")
	samples = flag.Int("samples", 40, "how often each request is sent")
	edits   = flag.Int("edits", 1000, "how many edits are sent before memory is looked at again")
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "editor")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if *binary == "" {
		*binary = filepath.Join(dir, "yamlhost")
		if err := build(*binary, "./cmd/yamlhost"); err != nil {
			return err
		}
	}
	if err := build(filepath.Join(dir, "plugins", "pulumi-resource-noop"), "./tools/bench/pulumi-resource-noop"); err != nil {
		return err
	}
	var jobs []job
	for size := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(size)
		if err != nil || n < 10 {
			return fmt.Errorf("-sizes: %q is not a number from 10 on", size)
		}
		jobs = append(jobs, job{name: size + " resources", resources: n, text: program.YAML(n, 0), pkg: "noop",
			plugins: filepath.Join(dir, "plugins"), number: "      size: ", key: "      size: ",
			reference: "      upstream: ", step: ".uid"})
	}
	if schemas := os.Getenv("YAMLHOST_SCHEMAS"); schemas != "" {
		large, err := largest(schemas, filepath.Join(dir, "large"))
		if err != nil {
			return err
		}
		jobs = append(jobs, large)
	}
	var tables []*table
	for _, j := range jobs {
		t, err := measure(dir, j)
		if err != nil {
			return fmt.Errorf("%s: %w", j.name, err)
		}
		tables = append(tables, t)
	}
	show(tables)
	return nil
}

func build(out, pkg string) error {
	text, err := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-o", out, pkg).CombinedOutput()
	if err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, text)
	}
	return nil
}

// sample is one measurement: the elapsed time and the CPU time.
type sample struct{ wall, cpu time.Duration }

// job is a program to edit. The beginnings of lines locate the edits.
type job struct {
	name      string
	resources int
	text      []byte
	pkg       string
	plugins   string // the folder of its provider
	number    string // the beginning of a line, whose value is changed
	key       string // the beginning of a line, whose key is misspelt and completed
	reference string // the beginning of a line with a reference to another resource
	step      string // the text after the name in that reference
}

// table holds the measurements with one program.
type table struct {
	job
	names   []string // in order
	samples map[string][]sample
	memory  map[string]int64 // bytes, by when
}

func (t *table) add(name string, s sample) {
	if t.samples[name] == nil {
		t.names = append(t.names, name)
	}
	t.samples[name] = append(t.samples[name], s)
}

// high returns the 95th percentile of the samples.
func high(list []sample, field func(sample) time.Duration) float64 {
	values := make([]time.Duration, len(list))
	for i, s := range list {
		values[i] = field(s)
	}
	slices.Sort(values)
	pos := min(len(values)*95/100, len(values)-1)
	return float64(values[pos].Microseconds()) / 1000
}

func show(tables []*table) {
	fmt.Print("| p95 in ms, wall (CPU) |")
	for _, t := range tables {
		fmt.Printf(" %s |", t.name)
	}
	fmt.Print("\n|---|", strings.Repeat("---|", len(tables)), "\n")
	for _, name := range tables[0].names {
		fmt.Printf("| %s |", name)
		for _, t := range tables {
			list := t.samples[name]
			fmt.Printf(" %.1f (%.1f) |", high(list, func(s sample) time.Duration { return s.wall }),
				high(list, func(s sample) time.Duration { return s.cpu }))
		}
		fmt.Println()
	}
	for _, when := range []string{openMemory, askedMemory, laterMemory} {
		fmt.Printf("| %s, MiB |", when)
		for _, t := range tables {
			fmt.Printf(" %d |", t.memory[when]>>20)
		}
		fmt.Println()
	}
}

const (
	openMemory  = "memory, a program open"
	askedMemory = "memory, after the requests above"
	laterMemory = "memory, after the edits that follow"
)

// measure opens a program and measures typical requests and edits.
func measure(dir string, j job) (*table, error) {
	project := filepath.Join(dir, strings.ReplaceAll(j.name, " ", "-"))
	if err := os.MkdirAll(project, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(project, "Pulumi.yaml")
	if err := os.WriteFile(path, j.text, 0o644); err != nil {
		return nil, err
	}
	t := &table{job: j, samples: map[string][]sample{}, memory: map[string]int64{}}
	opened := func(alias string) (*document, error) {
		begun := time.Now()
		s, err := start(*binary, project, j.plugins)
		if err != nil {
			return nil, err
		}
		t.add("start", sample{time.Since(begun), s.cpu()})
		d := &document{server: s, uri: "file://" + path, lines: strings.Split(string(j.text), "\n")}
		t.add(alias, s.timed(func() { d.open(string(j.text)) }))
		return d, s.err
	}
	first, err := opened("open, with schemas that nobody has read before")
	if err != nil {
		return nil, err
	}
	first.server.kill()
	d, err := opened("open, to the first findings")
	if err != nil {
		return nil, err
	}
	s := d.server
	defer s.kill()
	time.Sleep(rest)
	t.memory[openMemory] = s.memory()

	thing := slices.Index(d.lines, fmt.Sprintf("  thing%d:", j.resources/2))
	find := func(prefix string) int {
		return thing + slices.IndexFunc(d.lines[thing:], func(l string) bool { return strings.HasPrefix(l, prefix) })
	}
	kind, size, key, upstream := find("    type: "), find(j.number), find(j.key), find(j.reference)
	region := slices.IndexFunc(d.lines, func(l string) bool { return strings.HasPrefix(l, "  region:") })
	value := len(j.number)
	reference := strings.Index(d.lines[upstream], "${") + 2
	dot := strings.Index(d.lines[upstream], j.step)
	previous := ""
	for i := range *samples {
		change := func(name string, line, from, to int, replacement string) func() {
			var undo func()
			t.add(name, s.timed(func() { undo = d.change(line, from, to, replacement) }))
			return func() { t.add("taken back", s.timed(undo)) }
		}
		change("change of a digit, to the findings", size, value, len(d.lines[size]), strconv.Itoa(100+i))
		change("a wrong key", key, 9, 10, "x")()
		change("a wrong reference", upstream, reference, dot, "nope")()
		change("a wrong indentation", key, 0, 1, "")()
		position := map[string]any{"line": kind, "character": 14}
		t.add("hover", s.timed(func() { d.ask("hover", map[string]any{"position": position}) }))
		half := func(name string, line, from, to int, replacement string) {
			undo := d.change(line, from, to, replacement)
			t.add(name, s.timed(func() {
				d.ask("completion", map[string]any{"position": map[string]any{"line": line, "character": from + len(replacement)}})
			}))
			undo()
		}
		half("completion of a type", kind, 10, len(d.lines[kind]), j.pkg+":")
		half("completion of a key", key, 6, len(d.lines[key]), "s")
		half("completion of a reference", upstream, reference, dot, "thing")
		if previous == "" || i%10 == 0 {
			t.add("semantic tokens", s.timed(func() {
				previous = d.ask("semanticTokens/full", nil).ResultID
			}))
		}
		d.change(size, value, len(d.lines[size]), strconv.Itoa(300+i))
		t.add("semantic tokens after an edit", s.timed(func() {
			previous = d.ask("semanticTokens/full/delta", map[string]any{"previousResultId": previous}).ResultID
		}))
		if i%5 == 0 {
			t.add("rename of what every resource uses", s.timed(func() {
				d.ask("rename", map[string]any{"position": map[string]any{"line": region, "character": 4}, "newName": "place"})
			}))
		}
	}
	time.Sleep(rest)
	t.memory[askedMemory] = s.memory()
	for i := range *edits {
		d.change(size, value, len(d.lines[size]), strconv.Itoa(i))
	}
	time.Sleep(rest)
	t.memory[laterMemory] = s.memory()
	return t, s.err
}

// rest is the time without requests after which the server returns memory.
const rest = 6 * time.Second
