// Command figures measures whole processes: generated programs of several sizes through check, preview, up, preview again
// and destroy, with a provider that does nothing, once inside the process and once as a plugin. It prints a table and
// the exponent with which each figure grows.
//
//	go run ./bench/figures                     everything, as `make figures` does
//	go run ./bench/figures -sizes 1,1000       other sizes
//	go run ./bench/figures -schemas dir        checks against real schemas, cold and warm, instead
package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/yamlhost/yamlhost/bench/program"
)

// operation is one measured command, in the order in which they run over one stack.
type operation struct {
	name string
	args []string
}

var operations = []operation{
	{"check", []string{"check"}},
	{"first preview", []string{"preview", "--stack", "dev"}},
	{"up", []string{"up", "--yes", "--skip-preview", "--stack", "dev"}},
	{"no-op preview", []string{"preview", "--stack", "dev"}},
	{"no-op up", []string{"up", "--yes", "--skip-preview", "--stack", "dev"}},
	{"destroy", []string{"destroy", "--yes", "--skip-preview", "--stack", "dev"}},
}

// mode is a way of running the provider.
type mode struct {
	name   string
	binary string // yamlhost
	path   string // folders of plugins, before the system's
}

func main() {
	sizesText := flag.String("sizes", "1,10,100,1000,10000", "numbers of resources, with commas")
	modesText := flag.String("modes", "in process,plugin", "ways of running the provider, with commas")
	schemas := flag.String("schemas", "", "measure checks against the gzipped schemas of this folder instead")
	scanned := flag.String("scan", "", "only look at this JSON text; for -schemas")
	listed := flag.String("five", "", "only list five resources of this schema; for -schemas")
	flag.Parse()
	var err error
	switch {
	case *scanned != "":
		err = scan(*scanned)
	case *listed != "":
		err = five(*listed)
	case *schemas != "":
		err = inFolder(func(dir string) error { return measureSchemas(dir, *schemas) })
	default:
		err = run(*sizesText, *modesText)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

func run(sizesText, modesText string) error {
	var sizes []int
	for _, text := range strings.Split(sizesText, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 {
			return fmt.Errorf("-sizes: %q is no size", text)
		}
		sizes = append(sizes, n)
	}
	return inFolder(func(dir string) error {
		modes, err := build(dir)
		if err != nil {
			return err
		}
		for _, m := range modes {
			if !strings.Contains(","+modesText+",", ","+m.name+",") {
				continue
			}
			if err := measureMode(dir, m, sizes); err != nil {
				return err
			}
		}
		return nil
	})
}

// inFolder does something in a folder that goes away.
func inFolder(do func(dir string) error) error {
	dir, err := os.MkdirTemp("", "yamlhost-figures-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return do(dir)
}

func build(dir string) ([]mode, error) {
	plugins := filepath.Join(dir, "plugins")
	for out, pkg := range map[string]string{
		filepath.Join(dir, "yamlhost"):                 "./cmd/yamlhost",
		filepath.Join(dir, "yamlhost-noop"):            "./cmd/yamlhost-noop",
		filepath.Join(plugins, "pulumi-resource-noop"): "./bench/pulumi-resource-noop",
	} {
		if err := goBuild(out, pkg); err != nil {
			return nil, err
		}
	}
	return []mode{
		{"in process", filepath.Join(dir, "yamlhost-noop"), filepath.Join(dir, "no-plugins")},
		{"plugin", filepath.Join(dir, "yamlhost"), plugins},
	}, nil
}

func goBuild(out, pkg string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, text)
	}
	return nil
}

// figure is what one command cost. CPU, memory and bytes are those of the process and of what it started.
type figure struct {
	wall, cpu time.Duration
	peak      int64 // bytes, of the largest process
	written   int64 // bytes handed to the system
}

func measureMode(dir string, m mode, sizes []int) error {
	fmt.Printf("provider %s\n", m.name)
	table := tabwriter.NewWriter(os.Stdout, 2, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "resources\toperation\twall s\tcpu s\tpeak MB\twritten MB\t")
	all := map[string][]figure{}
	for _, n := range sizes {
		stack, err := os.MkdirTemp(dir, "stack-")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(stack, "Pulumi.yaml"), program.YAML(n, 0), 0o644); err != nil {
			return err
		}
		if err := os.Mkdir(filepath.Join(stack, "backend"), 0o755); err != nil {
			return err
		}
		env := []string{"HOME=" + stack, "PATH=" + m.path + ":/usr/bin:/bin", "PULUMI_BACKEND_URL=file://" + stack + "/backend", "NO_COLOR=1"}
		if _, err := measure(exec.Command(m.binary, "stack", "init", "dev"), stack, env); err != nil {
			return err
		}
		for _, op := range operations {
			f, err := measure(exec.Command(m.binary, op.args...), stack, env)
			if err != nil {
				return fmt.Errorf("%s of %d resources: %w", op.name, n, err)
			}
			all[op.name] = append(all[op.name], f)
			fmt.Fprintf(table, "%d\t%s\t%.3f\t%.3f\t%.0f\t%.2f\t\n", n, op.name, f.wall.Seconds(), f.cpu.Seconds(), float64(f.peak)/1e6, float64(f.written)/1e6)
		}
		if err := os.RemoveAll(stack); err != nil {
			return err
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(sizes) > 1 {
		from, to := sizes[len(sizes)-2], sizes[len(sizes)-1]
		fmt.Printf("growth of CPU from %d to %d resources, as an exponent:", from, to)
		for _, op := range operations {
			f := all[op.name]
			exponent := math.Log(f[len(f)-1].cpu.Seconds()/f[len(f)-2].cpu.Seconds()) / math.Log(float64(to)/float64(from))
			fmt.Printf(" %s %.2f;", op.name, exponent)
		}
		fmt.Println()
	}
	fmt.Println()
	return nil
}

func measure(cmd *exec.Cmd, dir string, env []string) (figure, error) {
	cmd.Dir, cmd.Env = dir, env
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return figure{}, err
	}
	written := bytesWritten(cmd.Process.Pid)
	err := cmd.Wait()
	f := figure{wall: time.Since(start), written: written}
	f.cpu, f.peak = usage(cmd.ProcessState)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		text := output.String()
		return f, fmt.Errorf("%w\n%s", err, text[max(0, len(text)-2000):])
	}
	return f, err
}
