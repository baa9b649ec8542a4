// Command workspaces measures commands over many projects: 100 projects of 50 resources each, which read each other's
// stacks, with an in-process provider that does nothing. It compares `run --all` with a shell loop that starts one
// process for each project in the same order, and with a single job, in wall-clock time, CPU time and memory.
//
//	go run ./tools/bench/workspaces                           100 projects of 50 resources
//	go run ./tools/bench/workspaces -projects 20 -jobs 4
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/yamlhost/yamlhost/tools/bench/program"
)

func main() {
	n := flag.Int("projects", 100, "number of projects")
	resources := flag.Int("resources", 50, "resources of each")
	jobs := flag.String("jobs", "8", "for --jobs")
	flag.Parse()
	if err := run(*n, *resources, *jobs); err != nil {
		fmt.Fprintln(os.Stderr, "workspaces:", err)
		os.Exit(1)
	}
}

// figure is the cost of several processes together.
type figure struct {
	wall, cpu time.Duration
	memory    int64 // bytes, of the largest process
}

func run(n, resources int, jobs string) (err error) {
	dir, err := os.MkdirTemp("", "yamlhost-workspaces-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	binary := filepath.Join(dir, "yamlhost")
	build := exec.Command("go", "build", "-o", binary, "./tools/bench/yamlhost-noop")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	for i := range n {
		if err := write(dir, i, resources, ""); err != nil {
			return err
		}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%d projects of %d resources\twall\tCPU\tmemory\twall / loop\tCPU / loop\t\n", n, resources)
	for _, step := range []struct {
		name, title string
		args        []string
		fresh       bool
		edit        bool
	}{
		{"first preview", "", []string{"preview"}, true, false},
		{"first run", "", []string{"run"}, true, false},
		{"run without changes", "", []string{"run"}, false, false},
		{"one change at the root", "changed", []string{"run"}, false, true},
		{"destroy", "", []string{"destroy", "--yes", "--skip-preview"}, false, false},
	} {
		if step.edit {
			if err := write(dir, 0, resources, step.title); err != nil {
				return err
			}
		}
		base := figure{}
		for _, mode := range []string{"loop", "1", jobs} {
			state := filepath.Join(dir, "state-"+mode)
			if err := os.MkdirAll(state, 0o755); err != nil {
				return err
			}
			var f figure
			if mode == "loop" {
				if step.name == "first preview" {
					fmt.Fprintf(w, "%s, loop\t—\t—\t—\t\t\t\n", step.name) // a stack that is not there cannot be read
					continue
				}
				f, err = loop(binary, dir, state, n, step.args)
				base = f
			} else {
				f, err = measure(binary, dir, state, append(append([]string{}, step.args...), "--all", "projects",
					"--jobs", mode, "--stack", "dev"))
			}
			if err != nil {
				return fmt.Errorf("%s, %s: %w", step.name, mode, err)
			}
			label := "--jobs " + mode
			if mode == "loop" {
				label = mode
			}
			wall, cpu := "", ""
			if base.wall > 0 {
				wall = fmt.Sprintf("%.2f", float64(f.wall)/float64(base.wall))
				cpu = fmt.Sprintf("%.2f", float64(f.cpu)/float64(base.cpu))
			}
			fmt.Fprintf(w, "%s, %s\t%.2f s\t%.2f s\t%d MiB\t%s\t%s\t\n", step.name, label, f.wall.Seconds(), f.cpu.Seconds(),
				f.memory>>20, wall, cpu)
		}
	}
	return w.Flush()
}

// write writes a project. Every project except the first reads two earlier ones, so that the graph is about as deep as
// a tree.
func write(dir string, i, resources int, title string) error {
	text := program.YAML(resources, 0)
	text = bytes.Replace(text, []byte("name: generated"), fmt.Appendf(nil, "name: p%03d", i), 1)
	if title != "" {
		text = bytes.Replace(text, []byte("thing number 0"), []byte(title), 1)
	}
	if i > 0 {
		var refs bytes.Buffer
		for k, other := range []int{i / 2, i / 3} {
			if other == i || k == 1 && other == i/2 {
				continue
			}
			fmt.Fprintf(&refs, "  ref%d:\n    type: pulumi:pulumi:StackReference\n"+
				"    get: {id: \"organization/p%03d/${pulumi.stack}\"}\n", k, other)
		}
		text = bytes.Replace(text, []byte("resources:\n"), append([]byte("resources:\n"), refs.Bytes()...), 1)
		text = bytes.Replace(text, []byte("outputs:\n"), []byte("outputs:\n  above: ${ref0.outputs[\"last\"]}\n"), 1)
	}
	path := filepath.Join(dir, "projects", fmt.Sprintf("p%03d", i))
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(path, "Pulumi.yaml"), text, 0o644)
}

// loop starts a process for each project: projects that others read come first, or last when stacks are destroyed.
func loop(binary, dir, state string, n int, args []string) (sum figure, err error) {
	for k := range n {
		i := k
		if args[0] == "destroy" {
			i = n - 1 - k
		}
		f, err := measure(binary, dir, state, append([]string{"-C", filepath.Join("projects", fmt.Sprintf("p%03d", i))},
			append(append([]string{}, args...), "--stack", "dev")...))
		if err != nil {
			return sum, err
		}
		sum.wall, sum.cpu, sum.memory = sum.wall+f.wall, sum.cpu+f.cpu, max(sum.memory, f.memory)
	}
	return sum, nil
}

// measure runs a process and returns its time and memory.
func measure(binary, dir, state string, args []string) (figure, error) {
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "PULUMI_HOME="+filepath.Join(dir, "home"),
		"PULUMI_BACKEND_URL=file://"+state, "CI=", "GITHUB_ACTIONS=", "GITLAB_CI=")
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	began := time.Now()
	err := cmd.Run()
	if err != nil {
		return figure{}, fmt.Errorf("%v: %w\n%s", args, err, output.String())
	}
	return figure{wall: time.Since(began), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
		memory: memoryOf(cmd.ProcessState)}, nil
}
