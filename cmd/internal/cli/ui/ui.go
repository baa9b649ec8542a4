package ui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/runlog"
	"github.com/yamlhost/yamlhost/cmd/internal/ui"
	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// options are the arguments and flags of ui.
type options struct {
	dir       string
	listen    string
	noBrowser bool
	readyFile string
}

// NewUI returns the command ui.
func NewUI(a *console.Console) *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:   "ui [DIR]",
		Short: "Show stacks, resources, history and runs in a browser",
		Long: "ui opens a page in the browser with the stacks of the backend: their resources, the graph, the history " +
			"with differences between any two states, and the runs of this machine while they go on. It listens on " +
			"this machine only, and needs no account. Nothing on the page changes a resource. Secrets are hidden; one " +
			"is shown after a click and with the stack's passphrase. While it is there, runs of this machine keep short " +
			"records in ~/.pulumi/yamlhost/runs, which the page shows.",
		Args: console.AtMostOne("a directory"),
		RunE: console.RunWith(a, serve, o, &o.dir),
	}
	cmd.Flags().StringVar(&o.listen, "listen", "127.0.0.1:0", "the address to listen on, of this machine; port 0 is a free one")
	cmd.Flags().BoolVar(&o.noBrowser, "no-browser", false, "print the link, and open no browser")
	cmd.Flags().StringVar(&o.readyFile, "ready-file", "",
		`write {"url": …}, the link with its token, to this file once the page can be opened`)
	return cmd
}

// serve serves the page until it is interrupted.
func serve(ctx context.Context, a *console.Console, o *options) error {
	dir := a.World.Dir
	if o.dir != "" {
		dir = a.Path(o.dir)
		if err := console.MustBeDir(a, dir); err != nil {
			return err
		}
	}
	p, err := a.ProjectIfAny(dir)
	if err != nil {
		return err
	}
	// The page listens before its link is printed, so that the link works at once.
	page, err := open(ctx, a, p, o.listen, console.NewInside(a))
	if err != nil {
		return err
	}
	if o.readyFile != "" {
		if err := writeReady(a.Path(o.readyFile), page.server.URL()); err != nil {
			return errors.Join(err, page.listener.Close())
		}
	}
	fmt.Fprintf(a.Streams.Err, "The page shows %s. Press Ctrl-C to end it.\n", page.backend)
	fmt.Fprintln(a.Streams.Out, page.server.URL())
	if !o.noBrowser {
		// The link of the browser works once, as other users of the machine may see the command line of a browser.
		if err := browse(page.server.OnceURL()); err != nil {
			fmt.Fprintf(a.Streams.Err, "No browser could be opened (%s): open the link above.\n", console.PlainError(err))
		}
	}
	return page.server.Serve(ctx, page.listener)
}

// A page is a server with its listener.
type page struct {
	server   *ui.Server
	listener net.Listener
	backend  string
}

// open starts to listen and returns the server for the backend of a project. p is nil outside of projects. If inside is
// nil, the page offers no preview.
func open(ctx context.Context, a *console.Console, p *project.Project, address string, inside console.Inside) (*page,
	error) {
	b, err := a.Backends().Open(p)
	if err != nil {
		return nil, err
	}
	if b.Service() != nil {
		return nil, fmt.Errorf("%s is a service, which has a console of its own; ui shows the stacks of a folder, a bucket "+
			"or a database: choose one with yamlhost login or PULUMI_BACKEND_URL", b.PublicURL())
	}
	// Given takes the passphrase that a person has typed on the page, and none of the environment.
	o := ui.Options{Backend: b, Version: a.Version(), Manager: a.Secrets().Given}
	if a.World.Process != nil {
		// By it the page tells runs that go on from those that were killed.
		o.Process = a.World.Process()
	}
	// Runs of this machine leave records there for the page.
	if home := a.World.PulumiHome(); home != "" {
		o.Runs = runlog.Folder(home)
	}
	if p != nil {
		o.Project, o.Dir = p.Name.Text, p.Dir
	}
	if p != nil && inside != nil {
		o.Preview = func(stack string) (string, error) { return inside(ctx, p.Dir, "preview", "--stack", stack) }
	}
	// From here on, an error has to close the listener.
	listener, err := ui.Listen(address)
	if err != nil {
		return nil, console.WithCode(console.CodeBadUsage, "%w", err)
	}
	if o.Runs != "" {
		if err := os.MkdirAll(o.Runs, 0o700); err != nil {
			return nil, errors.Join(fmt.Errorf("make the folder of records: %w", err), listener.Close())
		}
	}
	return &page{ui.New(o, listener.Addr().String()), listener, runlog.Where(b)}, nil
}

// writeReady writes the link to a file for other programs. The file appears complete, and only its owner can read it.
func writeReady(path, url string) error {
	text, err := json.Marshal(map[string]string{"url": url})
	if err != nil {
		return err
	}
	// A reader waits for the file, and must not see a half of it.
	next := path + ".new"
	if err := os.WriteFile(next, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the link: %w", err)
	}
	if err := osfile.Rename(next, path); err != nil {
		return fmt.Errorf("write the link: %w", err)
	}
	return nil
}

// browse opens a link in the user's browser.
func browse(url string) error {
	name, args := "xdg-open", []string{url}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		// Not `start`, which is a command of the shell and would read characters such as & in the link.
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", url}
	}
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // the command passes the link on and ends
	return nil
}

const (
	// patience is how long a command that has finished waits for its page to be opened.
	patience = 20 * time.Second
	// silence is how long a page may send no request before it counts as closed. Open pages send one every few seconds.
	silence = 8 * time.Second
)

// Beside serves and opens the page while a command on the project in dir runs. An empty dir means the working
// directory. end blocks until the page is closed, or ctx ends.
func Beside(ctx context.Context, a *console.Console, dir string) (end func(), err error) {
	p, _, err := a.OpenProject(a.Path(dir))
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	// No previews: the command that goes on holds the lock.
	page, err := open(ctx, a, p, "127.0.0.1:0", nil)
	if err != nil {
		stop()
		return nil, err
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = page.server.Serve(ctx, page.listener) // an error of the page must not fail the command
	}()
	fmt.Fprintf(a.Streams.Err, "Follow it at %s\n", page.server.URL())
	if a.Interactive() {
		_ = browse(page.server.OnceURL()) // the link is printed as well
	}
	// end waits only for a person, who may not have seen the end yet.
	return func() {
		defer func() { stop(); <-served }()
		if !a.Interactive() {
			return
		}
		fmt.Fprintln(a.Streams.Err, "The page stays until you close it or press Ctrl-C.")
		for ended := time.Now(); ctx.Err() == nil; {
			if page.server.Idle() > silence && time.Since(ended) > patience {
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}, nil
}
