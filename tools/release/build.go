package main

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// programs are the programs to build. Everything else has the name of the first.
var programs = []string{"yamlhost", "pulumi-language-yaml", "pulumi-converter-yaml"}

// file is one that goes into archives and packages.
type file struct {
	path string // where it is
	name string // below the archive's folder, with slashes
	mode fs.FileMode
}

// build holds the files built for a target.
type build struct {
	Target
	binaries []file // as programs
	extras   []file
}

// build compiles the programs for a target, and writes its archive and its packages.
func (p Plan) build(ctx context.Context, t Target, work string, extras []file) (b build, err error) {
	b = build{Target: t, extras: extras}
	for _, program := range programs {
		name := program
		if t.OS == "windows" {
			name += ".exe"
		}
		path := filepath.Join(work, t.OS, t.Arch, t.Edition, name)
		if err := p.compile(ctx, t, program, path); err != nil {
			return b, err
		}
		b.binaries = append(b.binaries, file{path, name, 0o755})
	}
	if err := p.archive(b); err != nil {
		return b, err
	}
	if t.OS == "linux" {
		return b, p.packages(b)
	}
	return b, nil
}

// compact lists the packages that are compiled without inlining, so that programs are smaller.
//
//go:embed compact.txt
var compact string

// withoutInlining returns the flags for the packages of a list.
func withoutInlining(list string) []string {
	var flags []string
	for line := range strings.Lines(list) {
		if pattern := strings.TrimSpace(line); pattern != "" && !strings.HasPrefix(pattern, "#") {
			flags = append(flags, "-gcflags="+pattern+"=-l")
		}
	}
	return flags
}

// compile builds one program without anything of the machine in it: no paths, no time, no identity of the build.
func (p Plan) compile(ctx context.Context, t Target, program, path string) error {
	tags := "grpcnotrace" // docs/design/size.md
	if t.Edition == "lean" {
		tags += ",lean,nethttpomithttp2"
	}
	args := []string{"build", "-trimpath", "-buildvcs=false", "-tags", tags,
		"-ldflags", "-s -w -buildid= -funcalign=16 -X main.version=" + p.Version}
	args = append(args, withoutInlining(compact)...)
	cmd := exec.CommandContext(ctx, "go", append(args, "-o", path, "./cmd/"+program)...)
	cmd.Dir = p.Source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+t.OS, "GOARCH="+t.Arch, "GOAMD64=v1",
		"GOARM64=v8.0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", program, err, out)
	}
	return nil
}

// extras returns the files that every archive has beside the programs: licence, notices, first steps, man pages, and
// completions for shells, which a program for this machine writes.
func (p Plan) extras(ctx context.Context, work string) ([]file, error) {
	var all []file
	for _, name := range []string{"LICENSE", "THIRD_PARTY_NOTICES.txt", "README.md", "CHANGELOG.md"} {
		all = append(all, file{filepath.Join(p.Source, name), name, 0o644})
	}
	own := filepath.Join(work, "yamlhost")
	if err := p.compile(ctx, Target{runtime.GOOS, runtime.GOARCH, "lean"}, "yamlhost", own); err != nil {
		return nil, err
	}
	for shell, name := range map[string]string{
		"bash": "completions/yamlhost.bash", "zsh": "completions/_yamlhost", "fish": "completions/yamlhost.fish",
		"powershell": "completions/yamlhost.ps1",
	} {
		cmd := exec.CommandContext(ctx, own, "completion", shell)
		cmd.Env = []string{"HOME=" + work, "PULUMI_HOME=" + work}
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("completions for %s: %w", shell, err)
		}
		path := filepath.Join(work, filepath.Base(name))
		if err := os.WriteFile(path, out, 0o644); err != nil {
			return nil, err
		}
		all = append(all, file{path, name, 0o644})
	}
	pages, err := p.manual(ctx, filepath.Join(work, "man"))
	if err != nil {
		return nil, err
	}
	all = append(all, pages...)
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// manual writes the man pages of all commands into a folder.
func (p Plan) manual(ctx context.Context, dir string) ([]file, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", "run", "-trimpath", "-buildvcs=false", "-tags", "lean", "./cmd/internal/manual",
		"-version", p.Version, "-time", strconv.FormatInt(p.Time.Unix(), 10), "-man", dir)
	cmd.Dir = p.Source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("man pages: %w\n%s", err, out)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	pages := make([]file, 0, len(entries))
	for _, e := range entries {
		pages = append(pages, file{filepath.Join(dir, e.Name()), "man/" + e.Name(), 0o644})
	}
	return pages, nil
}

// named returns the name of the build for a target, such as yamlhost_1.2.3_linux_amd64, or yamlhost-lean_… for the
// lean edition.
func (p Plan) named(t Target) string {
	return edition(t) + "_" + p.Version + "_" + t.OS + "_" + t.Arch
}

func edition(t Target) string {
	if t.Edition == "lean" {
		return "yamlhost-lean"
	}
	return "yamlhost"
}
