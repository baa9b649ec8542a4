// Command figures measures whole processes: generated programs of several sizes and shapes through check, preview,
// up, a change of one resource in a hundred, refresh and destroy, with a provider that does nothing, once in the
// process and once as a plugin. In the same run it measures the floor, the work that every host must do (see
// tools/bench/floor), an earlier revision if one is named, and, where they can be had, the Pulumi CLI and terraform.
//
// Everything is measured in parts. A part that is done replaces the part of that name in a file, and the page of the
// documentation is written from that file, so that figures can be taken one part at a time.
//
//	go run ./tools/bench/figures                                  all parts, as `make figures` does
//	go run ./tools/bench/figures -parts plugin/1000,shape/chain   some of them; a prefix will do
//	go run ./tools/bench/figures -before v1.2                     an earlier revision in the same run
//	go run ./tools/bench/figures -page                            only the page, from the file
//	go run ./tools/bench/figures -list                            only the names of all parts, and how long each takes
//	go run ./tools/bench/figures -schemas dir                     checks against real schemas, cold and warm, instead
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

func main() {
	o := options{}
	flag.StringVar(&o.parts, "parts", "", "what to measure: prefixes of names of parts, with commas; empty for everything")
	flag.IntVar(&o.runs, "runs", 5, "how often")
	flag.StringVar(&o.before, "before", "", "a revision to measure, too")
	flag.DurationVar(&o.limit, "limit", 2*time.Hour, "begin no other part after this long")
	flag.StringVar(&o.file, "file", "docs/figures.json", "where figures are kept; empty to print them only")
	flag.StringVar(&o.page, "to", "docs/figures.md", "the page that is written from them")
	onlyPage := flag.Bool("page", false, "only write the page")
	list := flag.Bool("list", false, "only list the parts, and how long they take with -runs on a quiet machine of two cores")
	schemas := flag.String("schemas", "", "measure checks against the gzipped schemas of this folder instead")
	scanned := flag.String("scan", "", "only look at this JSON text; for -schemas")
	listed := flag.String("five", "", "only list five resources of this schema; for -schemas")
	here := flag.Bool("measure", false, "only measure the command on standard input; for all others")
	flag.Parse()
	var err error
	switch {
	case *here:
		err = measureHere()
	case *scanned != "":
		err = scan(*scanned)
	case *listed != "":
		err = five(*listed)
	case *schemas != "":
		err = inFolder(func(dir string) error { return measureSchemas(dir, *schemas) })
	case *list:
		o.list()
	case *onlyPage:
		err = writePage(o.file, o.page)
	default:
		err = inFolder(func(dir string) error { return o.run(dir) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

type options struct {
	parts, before, file, page string
	runs                      int
	limit                     time.Duration
}

// chosen reports whether the options ask for a part.
func (o *options) chosen(name string) bool {
	return o.parts == "" || slices.ContainsFunc(strings.Split(o.parts, ","), func(prefix string) bool {
		prefix = strings.TrimSpace(prefix)
		return name == prefix || strings.HasPrefix(name, prefix+"/")
	})
}

// list writes the chosen parts, each with its expected duration.
func (o *options) list() {
	var total time.Duration
	for _, p := range parts() {
		if o.chosen(p.name) {
			total += p.cost(o.runs)
			fmt.Printf("%-20s %2d × %s\n", p.name, p.runs(o.runs), p.once.Round(time.Second/2))
		}
	}
	fmt.Printf("%-20s %s\n", "together", total.Round(time.Minute))
}

func (o *options) run(dir string) error {
	var chosen []*part
	for _, p := range parts() {
		if o.chosen(p.name) {
			chosen = append(chosen, p)
		}
	}
	if len(chosen) == 0 {
		return fmt.Errorf("-parts: there is no part %q; -list names them", o.parts)
	}
	all, err := readResults(o.file)
	if err != nil {
		return err
	}
	built, err := buildAll(dir, o.before, slices.ContainsFunc(chosen, func(p *part) bool { return p.beside }))
	if err != nil {
		return err
	}
	deadline := time.Now().Add(o.limit)
	var late []string
	for _, p := range chosen {
		if time.Now().After(deadline) {
			late = append(late, p.name)
			continue
		}
		before, start := load(), time.Now()
		rows, err := p.measure(dir, built, o.runs)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Printf("%s: %s, load %s before and %s after\n", p.name, time.Since(start).Round(time.Second), before, load())
		printRows(rows)
		all.replace(p.name, rows)
		if o.file == "" {
			continue
		}
		if err := cmp.Or(all.write(o.file), writePage(o.file, o.page)); err != nil {
			return err
		}
	}
	if len(late) > 0 {
		return fmt.Errorf("there was no time left for %s; -parts measures them", strings.Join(late, ", "))
	}
	return nil
}

// inFolder calls do with a temporary folder.
func inFolder(do func(dir string) error) error {
	dir, err := os.MkdirTemp("", "yamlhost-figures-")
	if err != nil {
		return err
	}
	return errors.Join(do(dir), os.RemoveAll(dir))
}
