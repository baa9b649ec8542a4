// Command release builds all parts of a release into one folder: archives and packages for each system, an image,
// manifests of package managers, a list of components (SBOM), a provenance statement, checksums and their signature.
// It uploads nothing. The same commit, version and Go give the same bits in any folder; docs/releases.md says what
// users may rely on.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// Plan describes the release to build, and its sources.
type Plan struct {
	Version string    // without a leading v
	Commit  string    // of the source
	Time    time.Time // of the commit; every file of the release has it
	Source  string    // folder of the repository
	Out     string    // folder of the release; it is made
	Targets []Target
	Key     string // file with the secret key of minisign; empty for none, and then nothing is signed
	Secret  string // that opens the key file
}

// Target is the system and edition of one build.
type Target struct {
	OS, Arch string
	Edition  string // "default" or "lean"
}

// every returns all targets of a release.
func every() (all []Target) {
	for _, edition := range []string{"default", "lean"} {
		for _, system := range []string{"linux", "darwin", "windows"} {
			for _, arch := range []string{"amd64", "arm64"} {
				all = append(all, Target{system, arch, edition})
			}
		}
	}
	return all
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	version := flags.String("version", "", "the version, as 1.2.3")
	source := flags.String("source", "../..", "the folder of the repository")
	out := flags.String("out", "../../dist", "the folder for the release; it must not exist")
	key := flags.String("key", "", "file with minisign's secret key; YAMLHOST_RELEASE_PASSWORD opens it")
	only := flags.String("only", "", "build only these targets, as linux/amd64/default,linux/arm64/lean")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if !semver.IsValid("v" + *version) {
		return fmt.Errorf("-version %q is not a version as 1.2.3", *version)
	}
	p := Plan{Version: *version, Targets: every(), Key: *key, Secret: os.Getenv("YAMLHOST_RELEASE_PASSWORD")}
	var err error
	if p.Source, err = filepath.Abs(*source); err != nil {
		return err
	}
	if p.Out, err = filepath.Abs(*out); err != nil {
		return err
	}
	if *only != "" {
		if p.Targets, err = targets(*only); err != nil {
			return err
		}
	}
	if p.Commit, p.Time, err = commit(ctx, p.Source); err != nil {
		return err
	}
	return p.Make(ctx)
}

// targets reads a list of targets.
func targets(text string) (all []Target, err error) {
	for part := range strings.SplitSeq(text, ",") {
		t := strings.Split(part, "/")
		if len(t) != 3 || t[2] != "default" && t[2] != "lean" {
			return nil, fmt.Errorf("-only: %q is not of the form linux/amd64/default", part)
		}
		all = append(all, Target{t[0], t[1], t[2]})
	}
	return all, nil
}

// commit returns the commit that is checked out, and its time.
func commit(ctx context.Context, source string) (id string, date time.Time, err error) {
	cmd := exec.CommandContext(ctx, "git", "log", "-1", "--format=%H %ct")
	cmd.Dir = source
	out, err := cmd.Output()
	if err != nil {
		return "", date, fmt.Errorf("git log: %w", err)
	}
	id, seconds, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	return id, time.Unix(unix, 0).UTC(), err
}

// Make builds the release. A folder that exists already is left alone, since what is in it may be of another release.
func (p Plan) Make(ctx context.Context) error {
	if _, err := os.Stat(p.Out); err == nil {
		return fmt.Errorf("%s exists already; remove it, or name another folder with -out", p.Out)
	}
	if err := os.MkdirAll(p.Out, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	extras, err := p.extras(ctx, work)
	if err != nil {
		return err
	}
	var builds []build
	for _, t := range p.Targets {
		fmt.Printf("%s/%s, %s edition\n", t.OS, t.Arch, t.Edition)
		b, err := p.build(ctx, t, work, extras)
		if err != nil {
			return fmt.Errorf("%s/%s, %s edition: %w", t.OS, t.Arch, t.Edition, err)
		}
		builds = append(builds, b)
	}
	return errors.Join(p.describe(builds), p.image(builds), p.manifests(), p.provenance(), p.sign())
}
