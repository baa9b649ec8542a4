package queue

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/runtime/queue"
)

// workerOptions are the flags of worker.
type workerOptions struct {
	url   string
	jobs  int
	allow []string
	grace time.Duration
}

// NewWorker returns the command worker.
func NewWorker(a *console.Console) *cobra.Command {
	o := &workerOptions{}
	cmd := &cobra.Command{
		Use: "worker", Short: "Take runs from a queue", Args: console.NoArguments,
		Long: "worker takes jobs from a queue in PostgreSQL until it is interrupted; any number of machines may " +
			"do so. Passphrases and credentials come from the environment of the worker; jobs contain none.",
		RunE: func(cmd *cobra.Command, _ []string) error { return work(cmd.Context(), a, o) },
	}
	f := cmd.Flags()
	urlFlag(cmd, &o.url)
	f.IntVar(&o.jobs, "jobs", max(4, runtime.NumCPU()), "how many jobs at the same time")
	f.StringArrayVar(&o.allow, "allow", nil,
		"a source that may run here: the URL of a git repository, the beginning of such URLs, or archive; may be repeated")
	f.DurationVar(&o.grace, "grace", 15*time.Second,
		"how long a job may be without its worker before another one takes it")
	console.AtLeast(f, "jobs", 1)
	console.AtLeast(f, "grace", 0)
	console.Hide(f, "grace")
	return cmd
}

// urlFlag adds the flag --queue.
func urlFlag(cmd *cobra.Command, url *string) {
	cmd.Flags().StringVar(url, "queue", "",
		"the database of the queue: postgres://…, with libpq's variables for everything else")
}

// open opens the queue that a flag names.
func open(ctx context.Context, url string) (*queue.Queue, error) {
	if url == "" {
		return nil, console.WithCode(console.CodeBadUsage, "name the queue: --queue postgres://…")
	}
	return queue.Open(ctx, url)
}

// work runs jobs until ctx is done. Jobs run in this process, each as a command with a world of its own.
func work(ctx context.Context, a *console.Console, o *workerOptions) error {
	// There is no default: the queue is a database that others can write to.
	if len(o.allow) == 0 {
		return console.WithCode(console.CodeBadUsage,
			"name the sources that may run here with --allow: without it, anybody who can write to the queue could run anything")
	}
	world := a.World
	world.Stores = console.NewOpenStores() // one pool of connections for all jobs
	a = console.In(world, a)
	var archives queue.Archives
	// The backend is opened only for archives, since jobs open their own.
	if slices.Contains(o.allow, "archive") {
		b, err := a.Backends().Open(nil)
		if err != nil {
			return fmt.Errorf("open the backend, where the archives of projects are: %w", err)
		}
		archives = b.Archives()
	}
	q, err := open(ctx, o.url)
	if err != nil {
		return err
	}
	defer q.Close()
	host, _ := os.Hostname() // only shown to people
	name := fmt.Sprintf("%s-%d", host, os.Getpid())
	var telling sync.Mutex
	// Jobs end in goroutines of their own.
	tell := func(text string) {
		telling.Lock()
		defer telling.Unlock()
		fmt.Fprintln(a.Streams.Err, text)
	}
	tell("The worker " + name + " takes jobs.")
	return q.Work(ctx, queue.WorkerOptions{Name: name, Jobs: o.jobs, Allow: o.allow, Env: a.World.Env, Grace: o.grace,
		Run: runner(a), Tell: tell, Archives: archives})
}

// logLimit limits the output of a run, in bytes, that the queue stores.
const logLimit = 64 << 10

// runner returns a function that runs jobs as commands of this program, in this process.
func runner(a *console.Console) queue.Runner {
	return func(ctx context.Context, j queue.Job, dir string, interrupt <-chan struct{}) queue.Result {
		// Whatever the environment of the worker says, a job has nobody to ask.
		args := []string{"--non-interactive", "--color", "never"}
		switch j.Command {
		case "preview":
			// Unlike preview, run does not need the stack to exist.
			args = append(args, "run", "--plan-only")
		case "destroy", "refresh":
			args = append(args, j.Command, "--yes", "--skip-preview")
		default:
			args = append(args, j.Command)
		}
		// An earlier run may have been another worker's, whose lock is released only once that worker is known to be
		// dead.
		args = append(args, "--ci", "none", "--lock-timeout", "5m", "--stack", j.Stack, "--message", "job of "+j.Run)
		// An interrupt of the job is a signal to its command, which then ends in order as after ^C.
		signals := make(chan os.Signal, 1)
		done := make(chan struct{})
		var watching sync.WaitGroup
		watching.Go(func() {
			select {
			case <-interrupt:
				signals <- os.Interrupt
			case <-done:
			}
		})
		// A copy: each job has its folder and its signals, and shares everything else.
		w := a.World
		w.Dir, w.Signals = dir, signals
		previews := &console.Previews{Before: j.Planned}
		if j.Command == "preview" {
			w.Previews = previews
		}
		log := &tail{}
		code := a.Execute(ctx, append(args, j.Flags...), console.Streams{In: strings.NewReader(""), Out: log, Err: log}, w)
		// The watcher must have ended before signals can go.
		close(done)
		watching.Wait()
		return queue.Result{Code: code, Name: console.CodeName(code), Log: log.String(), Planned: previews.Planned}
	}
}

// A tail keeps the end of the text written to it.
type tail struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
	cut  bool         // guarded by mu
}

// Write adds text. It cuts the beginning only when there is twice as much as is kept, and not for each line.
func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Write(text)
	if extra := t.text.Len() - logLimit; extra > logLimit {
		t.text.Next(extra)
		t.cut = true
	}
	return len(text), nil
}

// String returns the end of the text, starting at the beginning of a line.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := t.text.String()
	// Something was cut, so the first line may be the end of one.
	if len(text) > logLimit || t.cut {
		text = text[max(0, len(text)-logLimit):]
		if _, rest, found := strings.Cut(text, "\n"); found {
			text = "…\n" + rest
		}
	}
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD")
}
