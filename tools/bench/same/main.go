package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/runtime/plugin"
)

const zooPlugin = "pulumi-resource-zoo"

func main() {
	if filepath.Base(os.Args[0]) == zooPlugin {
		schema, err := os.ReadFile(filepath.Join(filepath.Dir(os.Args[0]), "zoo.json"))
		if err == nil {
			err = plugin.ServeMain(context.Background(), newZoo(schema), os.Stdout, os.Args[len(os.Args)-1])
		}
		exit(err)
		return
	}
	var c comparison
	flag.StringVar(&c.old, "old", "", "the binary to compare with")
	flag.StringVar(&c.new, "new", "", "the binary to compare")
	flag.StringVar(&c.tree, "tree", ".", "the tree with examples and archives")
	flag.StringVar(&c.only, "only", "", "programs whose name contains this")
	flag.BoolVar(&c.verbose, "v", false, "show what differs although it is named")
	unpack := flag.String("unpack", "", "only write the programs into this folder, each into one of its own, and name them")
	named := flag.String("named", "tools/bench/same/named.txt", "differences that are known, with their reasons")
	flag.Parse()
	if *unpack != "" {
		exit(unpackAll(c.tree, *unpack))
		return
	}
	exit(c.run(*named))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// internal is the exit code of a fault of the binary itself.
const internal = 255

// comparison is one run of this command.
type comparison struct {
	old, new, tree, only string
	verbose              bool
	bin                  string // the folder with the provider
	named                []*reason
}

// reason explains a difference.
type reason struct {
	match *regexp.Regexp // of "program path: old | new"
	text  string
	count int
	in    map[string]bool // programs
}

func (c *comparison) run(named string) (err error) {
	if c.named, err = readReasons(named); err != nil {
		return err
	}
	for _, path := range []*string{&c.old, &c.new} {
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	if c.bin, err = os.MkdirTemp("", "same-bin-"); err != nil {
		return err
	}
	defer os.RemoveAll(c.bin)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	schema, err := os.ReadFile(filepath.Join(c.tree, "eval/testdata/zoo.json"))
	if err == nil {
		err = os.WriteFile(filepath.Join(c.bin, "zoo.json"), schema, 0o600)
	}
	if err = errors.Join(err, os.Symlink(self, filepath.Join(c.bin, zooPlugin))); err != nil {
		return err
	}
	all, err := programs(c.tree)
	if err != nil {
		return err
	}
	t := tally{codes: map[int]int{}}
	var working sync.WaitGroup
	queue := make(chan program)
	for range runtime.NumCPU() {
		working.Go(func() {
			for p := range queue {
				c.compare(p, &t)
			}
		})
	}
	for _, p := range all {
		if strings.Contains(p.name, c.only) {
			queue <- p
		}
	}
	close(queue)
	working.Wait()
	return c.tell(&t)
}

// tally counts the comparisons. It is safe for concurrent use.
type tally struct {
	mu                                sync.Mutex // guards the fields below
	programs, equal, leaves, journals int
	missed                            int // commands whose journal was not seen each time
	events, states, unstable, unnamed int
	codes                             map[int]int // first runs of the new binary, by exit code
}

// compare runs a program with both binaries, twice each.
func (c *comparison) compare(p program, t *tally) {
	var runs [4]outcome
	for i, binary := range []string{c.old, c.old, c.new, c.new} {
		var err error
		if runs[i], err = c.life(binary, p); err != nil {
			runs[i] = outcome{"error": err.Error()}
		}
	}
	missed := unseen(runs[:])
	old, unstable := stable(runs[0], runs[1])
	now, more := stable(runs[2], runs[3])
	maps.Copy(unstable, more)
	var lines []string
	leaves := 0
	for key := range unstable { // text that only one of the binaries writes is a difference too
		a, b := runs[0].has(key) && runs[1].has(key), runs[2].has(key) && runs[3].has(key)
		switch {
		case a && !runs[2].has(key) && !runs[3].has(key):
			lines = append(lines, key+": (changing) | (nothing)")
		case b && !runs[0].has(key) && !runs[1].has(key):
			lines = append(lines, key+": (nothing) | (changing)")
		}
		delete(old, key)
		delete(now, key)
	}
	for _, key := range slices.Sorted(maps.Keys(joined(old, now))) {
		leaves++
		if a, b := shown(old, key), shown(now, key); a != b {
			lines = append(lines, fmt.Sprintf("%s: %s | %s", key, a, b))
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.programs++
	t.leaves += leaves
	t.missed += missed
	t.unstable += len(unstable)
	kinds := map[string]bool{}
	for key := range now {
		kind, _, _ := strings.Cut(key, " ")
		run, what, _ := strings.Cut(kind, "/")
		kinds[run+"/"+strings.TrimRight(what, "0123456789")] = true
	}
	for kind := range kinds {
		switch {
		case strings.HasSuffix(kind, "/journal"):
			t.journals++
		case strings.HasSuffix(kind, "/state"):
			t.states++
		case strings.HasSuffix(kind, "/events"):
			t.events++
		}
	}
	var code int
	_, _ = fmt.Sscan(now["run/exit"], &code)
	t.codes[code]++
	if code == internal {
		fmt.Printf("%s run: an internal error\n", p.name)
	}
	if len(lines) == 0 {
		t.equal++
	}
	for _, line := range lines {
		if r := c.reasonOf(p.name + " " + line); r != nil {
			r.count++
			r.in[p.name] = true
			if !c.verbose {
				continue
			}
		} else {
			t.unnamed++
		}
		fmt.Printf("%s %s\n", p.name, short(line))
	}
}

func (c *comparison) reasonOf(line string) *reason {
	for _, r := range c.named {
		if r.match.MatchString(line) {
			return r
		}
	}
	return nil
}

func (c *comparison) tell(t *tally) error {
	fmt.Printf("\n%d programs, %d of them without any difference; with two runs and a destruction each, these compared: %d "+
		"lists of events, %d states, %d journals; %d values in all, besides %d that no two runs have in common\n",
		t.programs, t.equal, t.events, t.states, t.journals, t.leaves, t.unstable)
	if t.missed > 0 {
		fmt.Printf("the journals of %d commands were there too shortly to be seen each time, and were not compared\n", t.missed)
	}
	fmt.Printf("exit codes of the first run: %v\n", t.codes)
	for _, r := range c.named {
		if r.count > 0 {
			fmt.Printf("%6d in %3d programs: %s\n", r.count, len(r.in), r.text)
		}
	}
	if t.unnamed > 0 {
		return fmt.Errorf("%d differences have no reason", t.unnamed)
	}
	return nil
}

// readReasons reads lines of a regular expression, a tab and a sentence.
func readReasons(path string) ([]*reason, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []*reason
	for lines := bufio.NewScanner(f); lines.Scan(); {
		pattern, text, found := strings.Cut(lines.Text(), "\t")
		if !found || strings.HasPrefix(pattern, "#") {
			continue
		}
		match, err := regexp.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		list = append(list, &reason{match: match, text: strings.TrimSpace(text), in: map[string]bool{}})
	}
	return list, nil
}

func short(text string) string {
	if len(text) > 400 {
		return text[:400] + "…"
	}
	return text
}
