package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/tools/bench/noop"
	"github.com/yamlhost/yamlhost/tools/bench/program"
)

// tool is a program to measure.
type tool struct {
	name      string
	binary    string // with the provider as a plugin
	inProcess string // with the provider in the process; empty if there is no such thing
	path      string // folders of PATH before the system's own
}

// built holds the programs of a run.
type built struct {
	plugin, floor string
	ours          []tool // the present revision is the last
	beside        []tool
}

// The names of the tools in the file of figures.
const (
	floorTool, beforeTool, afterTool = "floor", "before", "after"
	pulumiTool, terraformTool        = "Pulumi CLI", "terraform"
)

func goBuild(out, pkg string) error { return build(".", map[string]string{out: pkg}, released(".")...) }

// released returns the build flags of releases of a revision, whose list of packages without inlining is in its folder.
func released(module string) []string {
	flags := []string{"-trimpath", "-tags", "grpcnotrace", "-ldflags", "-s -w -funcalign=16"}
	list, _ := os.ReadFile(filepath.Join(module, "tools", "release", "compact.txt")) // old revisions have none
	for pattern := range strings.Lines(string(list)) {
		if pattern = strings.TrimSpace(pattern); pattern != "" && pattern[0] != '#' {
			flags = append(flags, "-gcflags="+pattern+"=-l")
		}
	}
	return flags
}

// build builds packages of the module in a folder.
func build(module string, packages map[string]string, flags ...string) error {
	for out, pkg := range packages {
		cmd := exec.Command("go", slices.Concat([]string{"build", "-buildvcs=false"}, flags, []string{"-o", out, pkg})...)
		cmd.Dir = module
		if len(flags) > 0 { // released programs only; others use the ordinary flags, and the build cache may have them
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
		}
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", pkg, err, text)
		}
	}
	return nil
}

func buildAll(dir, before string, beside bool) (*built, error) {
	b := &built{plugin: filepath.Join(dir, "plugins", "pulumi-resource-noop"), floor: filepath.Join(dir, "floor")}
	if err := build(".", map[string]string{b.floor: "./tools/bench/floor", b.plugin: "./tools/bench/pulumi-resource-noop"},
		released(".")...); err != nil {
		return nil, err
	}
	revision := func(name, module string) error {
		t := tool{name: name, binary: filepath.Join(dir, name, "yamlhost"),
			inProcess: filepath.Join(dir, name, "yamlhost-noop"), path: filepath.Join(dir, "no-plugins")}
		noop := "./tools/bench/yamlhost-noop"
		if _, err := os.Stat(filepath.Join(module, noop)); err != nil {
			noop = "./cmd/yamlhost-noop" // where it was once
		}
		b.ours = append(b.ours, t)
		return build(module, map[string]string{t.binary: "./cmd/yamlhost", t.inProcess: noop}, released(module)...)
	}
	if before != "" {
		source := filepath.Join(dir, "before-source")
		if err := unpackRevision(before, source); err != nil {
			return nil, err
		}
		if err := revision(beforeTool, source); err != nil {
			return nil, err
		}
	}
	if err := revision(afterTool, "."); err != nil {
		return nil, err
	}
	if beside {
		b.addBeside(dir)
	}
	return b, nil
}

// unpackRevision writes the files of a revision into a folder.
func unpackRevision(revision, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	archive, err := exec.Command("git", "archive", revision).Output()
	if err != nil {
		return fmt.Errorf("-before: git archive %s: %w", revision, err)
	}
	unpack := exec.Command("tar", "-x", "-C", dir)
	unpack.Stdin = bytes.NewReader(archive)
	if text, err := unpack.CombinedOutput(); err != nil {
		return fmt.Errorf("-before: %w\n%s", err, text)
	}
	return nil
}

// addBeside adds the Pulumi CLI with its own language host for YAML, built from the modules that test/plugins names,
// and terraform where it is on PATH.
func (b *built) addBeside(dir string) {
	bin := filepath.Join(dir, "beside")
	err := build(filepath.Join("test", "plugins"), map[string]string{
		filepath.Join(bin, "pulumi"):               "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
		filepath.Join(bin, "pulumi-language-yaml"): "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
	})
	if err == nil {
		b.beside = append(b.beside, tool{name: pulumiTool, binary: filepath.Join(bin, "pulumi"), path: bin})
	} else {
		fmt.Println("the Pulumi CLI is not measured:", err)
	}
	if binary, err := exec.LookPath("terraform"); err == nil {
		b.beside = append(b.beside, tool{name: terraformTool, binary: binary})
	} else {
		fmt.Println("terraform is not measured: it is not on PATH")
	}
}

// stack is the working place of one tool: a program, a backend and a home folder.
type stack struct {
	tool
	dir, source string
	env         []string
	inProcess   bool
}

// state returns the file of the stack's state.
func (s *stack) state() string {
	return filepath.Join(s.dir, "backend", ".pulumi", "stacks", "generated", "dev.json")
}

// newStack creates a stack. Plugins are installed in the home folder, as usual.
func newStack(t tool, dir, plugin string, inProcess bool, env []string) (*stack, error) {
	dir, err := os.MkdirTemp(dir, "stack-")
	if err != nil {
		return nil, err
	}
	home := filepath.Join(dir, ".pulumi")
	s := &stack{tool: t, dir: dir, source: filepath.Join(dir, "Pulumi.yaml"), inProcess: inProcess}
	s.env = append([]string{"HOME=" + dir, "PULUMI_HOME=" + home, "PATH=" + t.path + ":/usr/bin:/bin",
		"PULUMI_BACKEND_URL=file://" + dir + "/backend", "PULUMI_CONFIG_PASSPHRASE=figures", "NO_COLOR=1",
		"PULUMI_SKIP_UPDATE_CHECK=true", "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true"}, env...)
	if t.name == terraformTool {
		s.source = filepath.Join(dir, "main.tf")
	}
	err = os.MkdirAll(filepath.Dir(s.state()), 0o755)
	if !inProcess {
		folder := filepath.Join(home, "plugins", "resource-noop-v"+noop.Version)
		err = errors.Join(err, os.MkdirAll(folder, 0o755),
			os.Link(plugin, filepath.Join(folder, filepath.Base(plugin))))
	}
	return s, err
}

// write writes the stack's program.
func (s *stack) write(p *part, edit int) error {
	text := p.program(p.size, edit)
	if s.name == terraformTool {
		text = program.Terraform(p.size, edit)
	}
	return os.WriteFile(s.source, text, 0o644)
}

// command returns the command for an operation; nil if the tool has none.
func (s *stack) command(o operation, plugin, floor string) *exec.Cmd {
	switch {
	case s.name == floorTool && o.floor == "":
		return nil
	case s.name == floorTool && s.inProcess:
		return exec.Command(floor, o.floor, s.source, s.state())
	case s.name == floorTool:
		return exec.Command(floor, "-plugin", plugin, o.floor, s.source, s.state())
	case s.name == terraformTool && o.terraform == nil, s.name == pulumiTool && o.floor == "check":
		return nil
	case s.name == terraformTool:
		return exec.Command(s.binary, o.terraform...)
	case s.inProcess:
		return exec.Command(s.tool.inProcess, o.args...)
	}
	return exec.Command(s.binary, o.args...)
}
