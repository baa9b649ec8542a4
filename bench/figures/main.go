// Command figures measures whole processes: generated programs of several sizes through check, preview, up, a change of
// one resource in a hundred, refresh and destroy, with a provider that does nothing, once inside the process and once
// as a plugin. Beside them, on the same machine in the same run, it measures the floor, which is what no host can do
// without (see bench/floor), the Pulumi CLI with the same plugin and the same program, and terraform with its built-in
// resource, where it is on PATH. It prints tables, CPU as multiples of the floor, and the exponents with which CPU
// grows.
//
//	go run ./bench/figures                     everything, as `make figures` does
//	go run ./bench/figures -sizes 1,1000       other sizes
//	go run ./bench/figures -beside ""          without others
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
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/yamlhost/yamlhost/bench/noop"
	"github.com/yamlhost/yamlhost/bench/program"
)

// operation is one measured command. All run over one stack, in their order.
type operation struct {
	name string
	args []string
	edit int // the program changes first: the title of every edit-th resource
}

const changed = "1% changed up"

// operations are those of yamlhost and of the Pulumi CLI, whose flags are the same.
var operations = []operation{
	{name: "check", args: []string{"check"}},
	{name: "first preview", args: []string{"preview", "--stack", "dev"}},
	{name: "up", args: []string{"up", "--yes", "--skip-preview", "--stack", "dev"}},
	{name: "no-op preview", args: []string{"preview", "--stack", "dev"}},
	{name: "no-op up", args: []string{"up", "--yes", "--skip-preview", "--stack", "dev"}},
	{name: changed, args: []string{"up", "--yes", "--skip-preview", "--stack", "dev"}, edit: 100},
	{name: "refresh", args: []string{"refresh", "--yes", "--skip-preview", "--stack", "dev"}},
	{name: "destroy", args: []string{"destroy", "--yes", "--skip-preview", "--stack", "dev"}},
}

// tool is something that is measured.
type tool struct {
	name       string
	path       string   // folders of PATH before the system's own
	plugin     string   // the plugin to install in the home folder of each stack, as people have theirs; empty for none
	setup      []string // arguments of what makes a stack, not measured
	binary     string
	operations []operation
	file       string // of the program
	write      func(n, edit int) []byte
	floor      []string // command that does the least over a stack, given PROGRAM and STATE; nil for none
	floors     map[int]figure
}

func main() {
	sizes := flag.String("sizes", "10,100,1000,10000", "numbers of resources, with commas")
	modes := flag.String("modes", "in process,plugin", "ways of running the provider, with commas")
	beside := flag.String("beside", "pulumi,terraform", "what to measure beside, with commas")
	besideSizes := flag.String("beside-sizes", "10,100,1000", "numbers of resources for those; they can take very long")
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
		err = inFolder(func(dir string) error { return run(dir, *sizes, *modes, *beside, *besideSizes) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

func numbers(text string) (sizes []int, err error) {
	for _, part := range strings.Split(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is no size", part)
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

func run(dir, sizesText, modes, beside, besideText string) error {
	sizes, err := numbers(sizesText)
	if err != nil {
		return fmt.Errorf("-sizes: %w", err)
	}
	besideSizes, err := numbers(besideText)
	if err != nil {
		return fmt.Errorf("-beside-sizes: %w", err)
	}
	adoptOrphans()
	tools, err := ours(dir)
	if err != nil {
		return err
	}
	named := func(list, name string) bool { return slices.Contains(strings.Split(list, ","), name) }
	fmt.Printf("load before: %s\n\n", load())
	floors := map[int]figure{}
	for _, t := range tools {
		if !named(modes, strings.TrimPrefix(t.name, "yamlhost, provider ")) {
			continue
		}
		t.floors = floors
		if err := t.measure(dir, sizes); err != nil {
			return err
		}
	}
	for _, other := range []struct {
		name string
		find func(dir string) (*tool, error)
	}{{"pulumi", pulumi}, {"terraform", terraform}} {
		if !named(beside, other.name) {
			continue
		}
		t, err := other.find(dir)
		if err != nil {
			fmt.Printf("%s is not measured: %s\n\n", other.name, err)
			continue
		}
		t.floors = floors
		if err := t.measure(dir, besideSizes); err != nil {
			return err
		}
	}
	fmt.Printf("load after: %s\n", load())
	return nil
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

func goBuild(out, pkg string) error { return build(".", map[string]string{out: pkg}, released...) }

// released are the flags with which yamlhost is built for people.
var released = []string{"-trimpath", "-ldflags", "-s -w"}

// build builds packages of the module in a folder.
func build(module string, packages map[string]string, flags ...string) error {
	for out, pkg := range packages {
		cmd := exec.Command("go", slices.Concat([]string{"build"}, flags, []string{"-o", out, pkg})...)
		cmd.Dir = module
		if len(flags) > 0 { // as it is released; others as they are built elsewhere, which they may have been already
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		}
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", pkg, err, text)
		}
	}
	return nil
}

func noopPlugin(dir string) string { return filepath.Join(dir, "plugins", "pulumi-resource-noop") }

// install puts a plugin where both tools look for those that they have downloaded.
func install(plugin, home string) error {
	folder := filepath.Join(home, "plugins", "resource-noop-v"+noop.Version)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.Link(plugin, filepath.Join(folder, filepath.Base(plugin)))
}

const initFlags = "stack init dev"

func ours(dir string) ([]*tool, error) {
	plugin := noopPlugin(dir)
	if err := build(".", map[string]string{
		filepath.Join(dir, "yamlhost"):      "./cmd/yamlhost",
		filepath.Join(dir, "yamlhost-noop"): "./bench/yamlhost-noop",
		filepath.Join(dir, "floor"):         "./bench/floor",
		plugin:                              "./bench/pulumi-resource-noop",
	}, released...); err != nil {
		return nil, err
	}
	base := tool{setup: strings.Fields(initFlags), operations: operations, file: "Pulumi.yaml", write: program.YAML}
	process, remote := base, base
	process.name, process.binary, process.path = "yamlhost, provider in process", filepath.Join(dir, "yamlhost-noop"),
		filepath.Join(dir, "no-plugins")
	remote.name, remote.binary, remote.path = "yamlhost, provider plugin", filepath.Join(dir, "yamlhost"),
		filepath.Join(dir, "no-plugins")
	remote.plugin = plugin
	process.floor = []string{filepath.Join(dir, "floor"), plugin}
	remote.floor = process.floor
	return []*tool{&process, &remote}, nil
}

// pulumi is the Pulumi CLI with its own language host for YAML, built from the modules that test/plugins names.
func pulumi(dir string) (*tool, error) {
	bin := filepath.Join(dir, "beside")
	if err := build(filepath.Join("test", "plugins"), map[string]string{
		filepath.Join(bin, "pulumi"):               "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
		filepath.Join(bin, "pulumi-language-yaml"): "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
	}); err != nil {
		return nil, err
	}
	return &tool{name: "Pulumi CLI, provider plugin", binary: filepath.Join(bin, "pulumi"), path: bin,
		plugin: noopPlugin(dir), setup: strings.Fields(initFlags), file: "Pulumi.yaml", write: program.YAML,
		operations: slices.DeleteFunc(slices.Clone(operations), func(o operation) bool { return o.name == "check" })}, nil
}

// terraform is terraform with its built-in resource terraform_data.
func terraform(string) (*tool, error) {
	binary, err := exec.LookPath("terraform")
	if err != nil {
		return nil, errors.New("it is not on PATH")
	}
	apply := []string{"apply", "-auto-approve", "-refresh=false", "-no-color"}
	return &tool{name: "terraform, terraform_data", binary: binary, setup: []string{"init", "-no-color"}, file: "main.tf",
		write: program.Terraform,
		operations: []operation{
			{name: "first preview", args: []string{"plan", "-no-color"}},
			{name: "up", args: apply},
			{name: "no-op preview", args: []string{"plan", "-no-color"}},
			{name: "no-op up", args: apply},
			{name: changed, args: apply, edit: 100},
			{name: "refresh", args: []string{"apply", "-refresh-only", "-auto-approve", "-no-color"}},
			{name: "destroy", args: []string{"destroy", "-auto-approve", "-refresh=false", "-no-color"}},
		}}, nil
}

// figure is what one command cost, with what it started.
type figure struct {
	wall, cpu time.Duration
	peak      int64 // bytes, of the largest process
	written   int64 // bytes that the process itself handed to the system
}

func (t *tool) measure(dir string, sizes []int) error {
	fmt.Println(t.name)
	table := tabwriter.NewWriter(os.Stdout, 2, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "resources\toperation\twall s\tcpu s\t× floor\tpeak MB\twritten MB\t")
	all := map[string][]figure{}
	for _, n := range sizes {
		stack, err := os.MkdirTemp(dir, "stack-")
		if err != nil {
			return err
		}
		source := filepath.Join(stack, t.file)
		if err := os.WriteFile(source, t.write(n, 0), 0o644); err != nil {
			return err
		}
		if err := os.Mkdir(filepath.Join(stack, "backend"), 0o755); err != nil {
			return err
		}
		if t.plugin != "" {
			if err := install(t.plugin, filepath.Join(stack, ".pulumi")); err != nil {
				return err
			}
		}
		env := []string{"HOME=" + stack, "PULUMI_HOME=" + filepath.Join(stack, ".pulumi"), "PATH=" + t.path +
			":/usr/bin:/bin",
			"PULUMI_BACKEND_URL=file://" + stack + "/backend", "PULUMI_CONFIG_PASSPHRASE=figures", "NO_COLOR=1",
			"PULUMI_SKIP_UPDATE_CHECK=true", "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true"}
		if _, err := measure(exec.Command(t.binary, t.setup...), stack, env); err != nil {
			return err
		}
		type row struct {
			name string
			figure
		}
		var rows []row
		for _, op := range t.operations {
			if op.edit > 0 {
				if err := os.WriteFile(source, t.write(n, op.edit), 0o644); err != nil {
					return err
				}
			}
			f, err := measure(exec.Command(t.binary, op.args...), stack, env)
			if err != nil {
				return fmt.Errorf("%s of %d resources: %w", op.name, n, err)
			}
			rows = append(rows, row{op.name, f})
			all[op.name] = append(all[op.name], f)
			if op.name == "up" && t.floor != nil {
				state := filepath.Join(stack, "backend", ".pulumi", "stacks", "generated", "dev.json")
				f, err := measure(exec.Command(t.floor[0], t.floor[1], source, state), stack, env)
				if err != nil {
					return fmt.Errorf("the floor of %d resources: %w", n, err)
				}
				if known, ok := t.floors[n]; !ok || f.cpu < known.cpu {
					t.floors[n] = f
				}
			}
		}
		if t.floor != nil {
			rows = append(rows, row{"the floor", t.floors[n]})
		}
		for _, r := range rows {
			times := "-"
			if f, ok := t.floors[n]; ok {
				times = fmt.Sprintf("%.1f", r.cpu.Seconds()/f.cpu.Seconds())
			}
			fmt.Fprintf(table, "%d\t%s\t%.3f\t%.3f\t%s\t%.0f\t%.2f\t\n", n, r.name, r.wall.Seconds(), r.cpu.Seconds(), times,
				float64(r.peak)/1e6, float64(r.written)/1e6)
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
		for _, op := range t.operations {
			f := all[op.name]
			fmt.Printf(" %s %.2f;", op.name, exponent(f[len(f)-2], f[len(f)-1], from, to))
		}
		fmt.Println()
	}
	fmt.Println()
	return nil
}

// exponent is that of the power of the size with which CPU grows.
func exponent(before, after figure, from, to int) float64 {
	return math.Log(after.cpu.Seconds()/before.cpu.Seconds()) / math.Log(float64(to)/float64(from))
}

func measure(cmd *exec.Cmd, dir string, env []string) (figure, error) {
	cmd.Dir, cmd.Env = dir, env
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	before := cpuOfChildren()
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return figure{}, err
	}
	written := bytesWritten(cmd.Process.Pid)
	err := cmd.Wait()
	f := figure{wall: time.Since(start), written: written}
	f.cpu, f.peak = usage(cmd.ProcessState)
	reapOrphans()
	if all := cpuOfChildren() - before; all > 0 {
		f.cpu = all
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		text := output.String()
		return f, fmt.Errorf("%w\n%s", err, text[max(0, len(text)-2000):])
	}
	return f, err
}
