package watch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	files "github.com/yamlhost/yamlhost/internal/watch"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/workspace"
)

// options are the flags of watch.
type options struct {
	stack    string
	apply    bool
	config   []string
	paths    []string
	parallel int
	others   map[string]*string // flags passed on to the operations
}

// NewWatch returns the command watch.
func NewWatch(a *console.Console) *cobra.Command {
	o := &options{others: map[string]*string{}}
	cmd := &cobra.Command{
		Use: "watch", Short: "Plan again whenever a file of the project changes", Args: console.NoArguments,
		Long: "watch shows a plan, and a new one as soon as a file changes in the folder of the project, in one of its " +
			"packages with a path, or below a folder of --path. After a mistake the last sound plan stays on the screen, with " +
			"the findings below it. With --apply each sound plan is applied without a question, as run does. An interrupt " +
			"ends it.",
		RunE: func(cmd *cobra.Command, _ []string) error { return watch(cmd.Context(), a, o) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.stack, "stack", "s", "", "the stack; by default the selected one")
	f.BoolVar(&o.apply, "apply", a.World.AsPulumi, "apply each plan; under the name pulumi that is the default")
	f.StringArrayVar(&o.paths, "path", nil, "watch this file or folder too; may be repeated")
	f.StringArrayVarP(&o.config, "config", "c", nil, "set configuration first, as key=value; may be repeated")
	for name, text := range map[string]string{"config-file": "use this file instead of Pulumi.<stack>.yaml",
		"message": "a message for the history"} {
		o.others[name] = f.String(name, "", text)
	}
	f.IntVar(&o.parallel, "parallel", 0, "how many resource operations run at the same time")
	console.AtLeast(f, "parallel", 0)
	return cmd
}

// watch plans, waits for a change, and plans again, until it is interrupted.
func watch(ctx context.Context, a *console.Console, o *options) error {
	w := &watcher{console: a, options: o, world: a.World}
	// The commands run inside this one: signals end it through ctx, and connections and keys are kept from one plan to
	// the next.
	w.world.Signals, w.world.Stores, w.world.Keys = nil, console.NewOpenStores(), &secrets.Keyring{}
	roots, err := w.roots()
	if err != nil {
		return err
	}
	seen := files.Take(roots)
	for {
		sound := w.plan(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if sound && o.apply {
			w.run(ctx)
			// Files that the program has written are no reason to run it again, except the files that it consists of.
			now := files.Take(roots)
			// A program may write files by a command, and read them by readFile.
			for _, path := range seen.Changes(now) {
				// Other files are taken as they are now, which forgets what the program has written.
				if !program(path) {
					if v, found := now[path]; found {
						seen[path] = v
					} else {
						delete(seen, path)
					}
				}
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		// seen is from before the plan, so that a change while it was made is noticed at once.
		changed, now, err := files.Wait(ctx, roots, seen)
		if err != nil {
			return nil // an interrupt is the regular end
		}
		seen = now
		w.changed = a.Short(changed[0])
		if len(changed) > 1 {
			w.changed += fmt.Sprintf(" and %d more", len(changed)-1)
		}
		// A change may have added a package with a path. A project file that is broken just now keeps the roots.
		if next, err := w.roots(); err == nil {
			// Taken anew, since the old snapshot has nothing of the new folders: all of their files would seem changed.
			if !slices.Equal(next, roots) {
				roots, seen = next, files.Take(next)
			}
		}
	}
}

// program reports whether programs, projects or stacks may be written in a file with that name.
func program(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml", ".json":
		// An operation writes this one, when it downloads a plugin.
		return filepath.Base(path) != "yamlhost.lock.json"
	}
	return false
}

// A watcher is one run of the command.
type watcher struct {
	console *console.Console
	options *options
	world   console.World
	last    []byte // the last plan without errors
	changed string // files whose change caused the present plan; empty for the first one
}

// roots returns the files and folders to watch.
func (w *watcher) roots() ([]string, error) {
	a := w.console
	ws, err := workspace.OpenWithoutProgram(a.World.Dir, a.Looking())
	if err != nil {
		return nil, console.AdviseProject(err)
	}
	roots := []string{ws.Project.Dir}
	// Paths inside of the project are watched with it; twice would report each change twice.
	add := func(path string) {
		if rel, err := filepath.Rel(ws.Project.Dir, path); err != nil || strings.HasPrefix(rel, "..") {
			roots = append(roots, path)
		}
	}
	roots = append(roots, ws.OutsideDirs()...)
	for _, path := range w.options.paths {
		add(a.Path(path))
	}
	if file := *w.options.others["config-file"]; file != "" {
		add(a.Path(file))
	}
	return roots, nil
}

// args returns a command line with the flags that are passed on to operations.
func (w *watcher) args(command ...string) []string {
	a, o := w.console, w.options
	args := append([]string{"--non-interactive"}, command...)
	if a.Color(a.Streams.ErrTerminal) {
		args = append(args, "--color", "always")
	}
	if o.stack != "" {
		args = append(args, "--stack", o.stack)
	}
	for _, c := range o.config {
		args = append(args, "--config", c)
	}
	if o.parallel > 0 {
		args = append(args, "--parallel", strconv.Itoa(o.parallel))
	}
	for _, name := range []string{"config-file", "message"} {
		if text := *o.others[name]; text != "" {
			args = append(args, "--"+name, text)
		}
	}
	return args
}

// plan shows a plan, or the last one with the errors of the new one below it. It reports whether the new plan has no
// errors.
func (w *watcher) plan(ctx context.Context) bool {
	a := w.console
	begun := a.Now()
	var shown bytes.Buffer
	// The command runs as it would by itself, and its output is kept: it is shown only after the screen is cleared.
	code := a.Execute(ctx, w.args("preview"), console.Streams{In: strings.NewReader(""), Out: &shown, Err: &shown,
		Size: a.Streams.Size}, w.world)
	if ctx.Err() != nil {
		return false
	}
	out := a.Streams.Out
	if a.Streams.OutTerminal {
		fmt.Fprint(out, "\x1b[H\x1b[2J\x1b[3J")
	} else if w.changed != "" {
		fmt.Fprintln(out)
	}
	sound := code == console.CodeOK
	// Bytes stays valid, as shown is not written to again.
	if sound {
		w.last = shown.Bytes()
	} else if a.Streams.OutTerminal && len(w.last) > 0 {
		_, _ = out.Write(w.last)
		fmt.Fprintln(out)
	}
	_, _ = out.Write(shown.Bytes())
	line := "Planned"
	if !sound {
		line = "Not planned"
	}
	if w.changed != "" {
		line += " after a change of " + w.changed
	}
	line += " at " + a.Now().Format("15:04:05")
	if t := view.Seconds(a.Now().Sub(begun)); t != "" {
		line += ", in " + t
	}
	fmt.Fprintf(out, "\n%s. Waiting for changes; an interrupt ends it.\n", line)
	return sound
}

// run applies the program.
func (w *watcher) run(ctx context.Context) {
	a := w.console
	s := console.Streams{In: strings.NewReader(""), Out: a.Streams.Out, Err: io.Writer(a.Streams.Err), Size: a.Streams.Size}
	// The plan has just been shown, and its code is not needed: a failure is in the output.
	a.Execute(ctx, w.args("up", "--yes", "--skip-preview"), s, w.world)
}
