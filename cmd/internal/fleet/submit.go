package fleet

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/git"
	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/runtime/queue"
	"github.com/yamlhost/yamlhost/workspace/projects"
)

// Submission holds the flags of a command that is submitted to a queue.
type Submission struct {
	URL      string
	Priority int
	Slots    string
	Source   string
	Every    time.Duration
	Detach   bool
}

// Register adds the flags to a command. scheduled adds --every.
func (s *Submission) Register(cmd *cobra.Command, scheduled bool) {
	f := cmd.Flags()
	f.StringVar(&s.URL, "queue", "", "submit the runs to workers through this queue: postgres://…")
	f.IntVar(&s.Priority, "priority", 2, "with --queue: the priority, from 1 (first) to 4")
	console.Range(f, "priority", 1, 4)
	f.StringVar(&s.Slots, "slots", "", "with --queue: how many jobs of a stack's name may run at the same time, such "+
		"as prod=2")
	f.StringVar(&s.Source, "source", "archive",
		"with --queue: where workers get the files from: archive (as they are now, without what git ignores), or git (HEAD)")
	f.BoolVar(&s.Detach, "detach", false, "with --queue: do not wait for the jobs")
	if scheduled {
		f.DurationVar(&s.Every, "every", 0, "with --queue: repeat at this interval, such as 6h")
		console.AtLeast(f, "every", int64(time.Second))
	}
}

// Check returns an error for values that the flags do not take.
func (s *Submission) Check() error {
	if s.Source != "archive" && s.Source != "git" {
		return console.WithCode(console.CodeBadUsage, "--source takes archive or git, not %q", s.Source)
	}
	_, err := parseSlots(s.Slots)
	return err
}

// Submit submits a command to the queue. Unless it is detached or scheduled, Submit follows the jobs until they end.
func (s *Submission) Submit(ctx context.Context, a *console.Console, sel *Selection, g *projects.Graph, command string,
	flags []string) error {
	slots, err := parseSlots(s.Slots)
	if err != nil {
		return err
	}
	q, err := queue.Open(ctx, s.URL)
	if err != nil {
		return err
	}
	defer q.Close()
	source, prefix, files, err := s.source(ctx, a, sel)
	if err != nil {
		return err
	}
	if files != nil {
		defer files.remove()
	}
	run := command + "-" + a.Now().UTC().Format("20060102T150405") + "-" + strings.ToLower(rand.Text()[:4])
	jobs := queue.Submission{Priority: s.Priority}
	index := map[int]int{}
	for _, i := range g.Order() {
		m := g.Members[i]
		index[i] = len(jobs.Jobs)
		var needs []int
		for _, need := range g.Needs(i) {
			needs = append(needs, index[need])
		}
		jobs.Needs = append(jobs.Needs, needs)
		jobs.Jobs = append(jobs.Jobs, queue.Job{Run: run, Command: command, Project: m.Project.Name.Text,
			Stack: m.Stack, Path: path.Join(prefix, m.Path), Source: source, Flags: flags, Environment: m.Stack,
			Slots: slots[m.Stack]})
	}
	if s.Every > 0 {
		name := command + "-" + filepath.Base(sel.Root(a))
		if err := q.Schedule(ctx, name, s.Every, jobs, files.brought()); err != nil {
			return err
		}
		fmt.Fprintf(a.Streams.Err, "%s in the queue every %s, under the name %s\n",
			diag.Count(len(jobs.Jobs), "job"), s.Every, name)
		return nil
	}
	if _, err := q.Submit(ctx, jobs, files.brought()); err != nil {
		return err
	}
	fmt.Fprintf(a.Streams.Err, "%s in the queue as the run %s\n", diag.Count(len(jobs.Jobs), "job"), run)
	if s.Detach {
		return nil
	}
	return follow(ctx, a, q, run, len(jobs.Jobs))
}

// follow reports the jobs of a run as they end, and what failed and is tried again. An interrupt stops following
// but not the jobs.
func follow(ctx context.Context, a *console.Console, q *queue.Queue, run string, n int) error {
	ended := 0
	codes := map[int]int{}
	err := q.Follow(ctx, run, func(e *queue.Entry) {
		if !e.Over() {
			fmt.Fprintf(a.Streams.Err, "%s: %s; %s (job %d)\n", e.Job.Key(), e.Errors[len(e.Errors)-1], e.Again(), e.ID)
			return
		}
		ended++
		line := ""
		if e.Result != nil {
			line = e.Result.Name
			if !queue.Well(e.Result.Code) {
				a.Block(fmt.Sprintf("yamlhost_job_%d", e.ID), fmt.Sprintf("%s: %s", e.Job.Key(), line), []byte(e.Result.Log+"\n"))
			}
			if e.Result.Code != console.CodeOK {
				codes[e.Result.Code]++
			}
		} else if len(e.Errors) > 0 {
			line = e.Errors[len(e.Errors)-1]
		}
		if e.State == queue.Failed && e.Result == nil {
			codes[console.CodeError]++
		}
		fmt.Fprintf(a.Streams.Out, "[%d/%d] %-9s %s: %s (job %d)\n", ended, n, e.State, e.Job.Key(), line, e.ID)
		if e.State == queue.Cancelled {
			codes[console.CodeCancelled]++
		}
	})
	if err != nil && ctx.Err() != nil {
		fmt.Fprintf(a.Streams.Err, "The jobs go on: see `yamlhost queue ls %s`, or cancel them\n", run)
		return a.Signals.Ended()
	}
	if err != nil {
		return err
	}
	list := slices.Sorted(maps.Keys(codes))
	switch {
	case len(list) == 0:
		return nil
	case len(list) == 1:
		return console.WithCode(list[0], "%d of %s did not succeed", codes[list[0]], diag.Count(n, "job"))
	}
	return console.WithCode(console.CodeFailed, "some of %s did not succeed", diag.Count(n, "job"))
}

// parseSlots parses a list STACK=N,….
func parseSlots(text string) (map[string]int, error) {
	slots := map[string]int{}
	for part := range strings.SplitSeq(text, ",") {
		if part == "" {
			continue
		}
		name, number, _ := strings.Cut(part, "=")
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || name == "" {
			return nil, console.WithCode(console.CodeBadUsage, "--slots takes the name of a stack and a number, such as "+
				"prod=2, not %q", text)
		}
		slots[name] = n
	}
	return slots, nil
}

// source returns the place that workers get the files from. prefix is the path of the root folder in it. files is an
// archive that the caller must remove, or nil if workers get the files elsewhere.
func (s *Submission) source(ctx context.Context, a *console.Console, sel *Selection) (source queue.Source,
	prefix string, files *packed, err error) {
	root := sel.Root(a)
	if s.Source == "git" {
		source, prefix, err = gitSource(ctx, a, root)
		return source, prefix, nil, err
	}
	names, err := notIgnored(ctx, a, root)
	if err != nil {
		return source, "", nil, err
	}
	b, err := a.Backends().Open(nil)
	if err != nil {
		return source, "", nil, err
	}
	if files, err = pack(root, names, b.Archives()); err != nil {
		return source, "", nil, err
	}
	source.Archive = files.Digest
	return source, "", files, nil
}

// packed is an archive in a temporary file.
type packed struct {
	queue.Files
	file *os.File
}

// pack packs files of a folder into an archive, to be stored in a backend.
func pack(root string, names []string, archives queue.Archives) (p *packed, err error) {
	file, err := os.CreateTemp("", "yamlhost-archive-")
	if err != nil {
		return nil, err
	}
	p = &packed{file: file}
	defer func() {
		if err != nil {
			p.remove()
		}
	}()
	sum := sha256.New()
	if err := queue.Pack(io.MultiWriter(file, sum), root, names); err != nil {
		return nil, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	p.Files = queue.Files{Digest: hex.EncodeToString(sum.Sum(nil)), Content: file, In: archives}
	return p, nil
}

// brought returns the archive that is submitted with the jobs, or nil.
func (p *packed) brought() *queue.Files {
	if p == nil {
		return nil
	}
	return &p.Files
}

func (p *packed) remove() {
	_ = p.file.Close()
	_ = osfile.Remove(p.file.Name()) // left over in the temporary folder at worst
}

// gitSource returns the commit that is checked out in a clean working tree.
func gitSource(ctx context.Context, a *console.Console, root string) (source queue.Source, prefix string, err error) {
	ask := func(args ...string) string {
		if err != nil {
			return ""
		}
		var out string
		out, err = git.Run(ctx, root, a.ChildEnv(), args...)
		return strings.TrimSpace(out)
	}
	prefix = ask("rev-parse", "--show-prefix")
	changed := ask("status", "--porcelain")
	source.Commit = ask("rev-parse", "--verify", "HEAD")
	remotes := ask("remote")
	if err == nil && !slices.Contains(strings.Fields(remotes), "origin") {
		err = errors.New("the repository has no remote called origin, which workers could fetch from")
	}
	source.Git = ask("remote", "get-url", "origin")
	known := ask("for-each-ref", "--count=1", "refs/remotes/origin")
	pushed := ask("for-each-ref", "--count=1", "--contains", "HEAD", "refs/remotes/origin")
	switch {
	case err != nil:
	case changed != "":
		err = errors.New("--source git runs what is committed, and the working tree has changes: commit and push them")
	case pushed == "" && known != "": // a checkout by a CI system may lack remote branches
		err = fmt.Errorf("the commit %s is on no branch of origin: push it first", source.Commit[:10])
	}
	return source, prefix, err
}

// notIgnored returns the regular files of a folder that git does not ignore, as sorted relative paths with slashes. The
// folder need not be in a repository.
func notIgnored(ctx context.Context, a *console.Console, root string) ([]string, error) {
	list := []string{"ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", "."}
	text, err := git.Run(ctx, root, a.ChildEnv(), list...)
	if err != nil {
		empty, fault := os.MkdirTemp("", "yamlhost-git-")
		if fault != nil {
			return nil, fault
		}
		defer osfile.RemoveAll(empty)
		if _, err := git.Run(ctx, empty, a.ChildEnv(), "init", "--quiet", "--bare", "."); err != nil {
			return nil, err
		}
		text, err = git.Run(ctx, root, a.ChildEnv(), append([]string{"--git-dir=" + empty, "--work-tree=" + root}, list...)...)
		if err != nil {
			return nil, err
		}
	}
	var names []string
	for name := range strings.SplitSeq(strings.TrimRight(text, "\x00"), "\x00") {
		info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name)))
		if err == nil && info.Mode().IsRegular() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
