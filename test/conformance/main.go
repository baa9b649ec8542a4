package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"time"

	"github.com/pulumi/pulumi/pkg/v3/testing/pulumi-test-language/runner"
	"github.com/pulumi/pulumi/pkg/v3/testing/pulumi-test-language/tests"
)

// engineArgument makes this program the suite's engine.
const engineArgument = "serve-engine"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if len(os.Args) > 1 && os.Args[1] == engineArgument {
		err = serveEngine(ctx)
	} else {
		err = run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

// serveEngine runs the suite's engine, as the suite's own command does.
func serveEngine(ctx context.Context) error {
	server, err := runner.Start(ctx, tests.LanguageTestdata, tests.LanguageTests)
	if err != nil {
		return err
	}
	fmt.Print(server.Address())
	if err := os.Stdout.Close(); err != nil {
		return err
	}
	return server.Done()
}

func run(ctx context.Context) error {
	o := &options{}
	flags := flag.NewFlagSet("conformance", flag.ExitOnError) // the engine has put flags of its own into the common one
	pattern := flags.String("run", "", "only tests whose name matches this regular expression")
	flags.StringVar(&o.host, "host", "bin/pulumi-language-yaml", "the language host")
	flags.StringVar(&o.programs, "programs", "",
		"folder of ready-made programs (projects/TEST), which are run instead of generated ones; tests without one are "+
			"skipped")
	flags.StringVar(&o.providers, "providers", "", "folder of the component providers that the provider tests need")
	flags.StringVar(&o.policies, "policies", "", "folder of the policy packs that the policy tests need")
	flags.BoolVar(&o.roundTrip, "round-trip", false, "convert what was generated back to PCL and repeat the test")
	flags.IntVar(&o.workers, "workers", runtime.NumCPU(), "tests at the same time")
	flags.BoolVar(&o.verbose, "verbose", false, "show what failing tests wrote")
	flags.StringVar(&o.keep, "keep", "", "folder to leave projects and snapshots in")
	table := flags.String("table", "", "file to write the table of results to")
	passing := flags.String("passing", "",
		"file that lists the tests that must pass; a test of it that does not is an error")
	accept := flags.Bool("accept", false, "write the list of tests that must pass anew")
	if err := flags.Parse(os.Args[1:]); err != nil {
		return err
	}

	names, err := chosen(*pattern)
	if err != nil {
		return err
	}
	if o.host, err = filepath.Abs(o.host); err != nil {
		return err
	}
	started := time.Now()
	results, err := o.runAll(ctx, names)
	if err != nil {
		return err
	}
	report := &report{Results: results, Took: time.Since(started), Mode: o.mode()}
	report.print(os.Stdout)
	if *table != "" {
		if err := report.writeTable(*table); err != nil {
			return err
		}
	}
	switch {
	case *passing == "":
		return nil
	case *accept:
		return report.writePassing(*passing)
	}
	return report.compare(*passing, names)
}

// chosen returns the names of the tests that match a pattern, in order, without tests of the suite itself.
func chosen(pattern string) ([]string, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range tests.LanguageTests {
		if re.MatchString(name) && levelOf(name) != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}
