//go:build !lean

package queue

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/backend/postgres/postgrestest"
)

// cupboard keeps archives in memory.
type cupboard struct {
	mu    sync.Mutex
	kept  map[string][]byte // guarded by mu
	reads int               // guarded by mu
}

func (c *cupboard) PutArchive(digest string, content io.Reader) error {
	text, err := io.ReadAll(content)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept[digest] = text
	return err
}

func (c *cupboard) Archive(digest string) (io.Reader, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads++
	if text, ok := c.kept[digest]; ok {
		return bytes.NewReader(text), nil
	}
	return nil, fs.ErrNotExist
}

func (c *cupboard) RemoveArchive(digest string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.kept, digest)
	return nil
}

func (c *cupboard) empty() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.kept) == 0
}

// place is a queue in its own database on a real server.
type place struct {
	*Queue
	t        *testing.T
	url      string
	archives *cupboard
}

// newPlaces starts a server. Each call of the function it returns creates a queue in a new database.
func newPlaces(t *testing.T) func(t *testing.T) *place {
	server := postgrestest.Start(t, os.Getenv("YAMLHOST_POSTGRES"))
	var mu sync.Mutex
	n := 0
	return func(t *testing.T) *place {
		mu.Lock()
		defer mu.Unlock()
		n++
		name := fmt.Sprint("queue", n)
		c, err := pgx.Connect(t.Context(), "host="+server.Dir+" user=postgres dbname=postgres")
		require.NoError(t, err)
		_, err = c.Exec(t.Context(), "CREATE DATABASE "+name)
		require.NoError(t, err)
		require.NoError(t, c.Close(t.Context()))
		p := &place{t: t, url: "host=" + server.Dir + " user=postgres dbname=" + name,
			archives: &cupboard{kept: map[string][]byte{}}}
		p.Queue, err = Open(t.Context(), p.url)
		require.NoError(t, err)
		t.Cleanup(p.Close)
		return p
	}
}

// work starts a worker that ends with the test or when end is called.
func (p *place) work(o WorkerOptions) (end func()) {
	q, err := Open(p.t.Context(), p.url)
	require.NoError(p.t, err)
	ctx, stop := context.WithCancel(context.Background())
	var working sync.WaitGroup
	if o.Archives == nil {
		o.Archives = p.archives
	}
	if o.Allow == nil {
		o.Allow = []string{"archive"}
	}
	o.Name, o.Jobs, o.Env, o.Folder = cmp.Or(o.Name, "w"), max(1, o.Jobs), os.Environ(), p.t.TempDir()
	o.Tell = func(text string) { p.t.Log(text) }
	working.Go(func() {
		if err := q.Work(ctx, o); err != nil {
			p.t.Errorf("the worker ended with %v", err)
		}
		q.Close()
	})
	end = sync.OnceFunc(func() { stop(); working.Wait() })
	p.t.Cleanup(end)
	return end
}

// files returns an archive with one file.
func (p *place) files(text string) *Files {
	dir := p.t.TempDir()
	require.NoError(p.t, os.WriteFile(filepath.Join(dir, "a"), []byte(text), 0o600))
	var b bytes.Buffer
	require.NoError(p.t, Pack(&b, dir, []string{"a"}))
	sum := sha256.Sum256(b.Bytes())
	return &Files{Digest: hex.EncodeToString(sum[:]), Content: &b, In: p.archives}
}

// submit submits a run with a job for each stack; change may be nil.
func (p *place) submit(run string, priority int, change func(i int, j *Job), stacks ...string) []int64 {
	files := p.files(run)
	s := Submission{Priority: priority, Needs: make([][]int, len(stacks))}
	for i, stack := range stacks {
		j := Job{Run: run, Command: "run", Project: "p", Stack: stack, Path: ".", Source: Source{Archive: files.Digest}}
		if change != nil {
			change(i, &j)
		}
		s.Jobs = append(s.Jobs, j)
	}
	ids, err := p.Submit(p.t.Context(), s, files)
	require.NoError(p.t, err)
	return ids
}

// follow waits for the end of a run and returns its entries by stack.
func (p *place) follow(run string) map[string]*Entry {
	entries := map[string]*Entry{}
	require.NoError(p.t, p.Follow(p.t.Context(), run, func(e *Entry) { entries[e.Job.Stack] = e }))
	return entries
}

// until waits until condition returns true, for as long as the test may take.
func (p *place) until(condition func() bool) {
	for !condition() {
		require.NoError(p.t, p.t.Context().Err())
		time.Sleep(10 * time.Millisecond)
	}
}

// exec runs an SQL statement.
func (p *place) exec(statement string, args ...any) {
	_, err := p.pool.Exec(p.t.Context(), statement, args...)
	require.NoError(p.t, err)
}

func well(context.Context, Job, string, <-chan struct{}) Result { return Result{Name: "ok"} }

func TestServer(t *testing.T) {
	t.Parallel()
	newPlace := newPlaces(t)
	t.Run("order", func(t *testing.T) { t.Parallel(); testOrder(t, newPlace(t)) })
	t.Run("planned", func(t *testing.T) { t.Parallel(); testPlanned(t, newPlace(t)) })
	t.Run("failure", func(t *testing.T) { t.Parallel(); testFailure(t, newPlace(t)) })
	t.Run("priorities", func(t *testing.T) { t.Parallel(); testPriorities(t, newPlace(t)) })
	t.Run("slots", func(t *testing.T) { t.Parallel(); testSlots(t, newPlace(t)) })
	t.Run("cancel", func(t *testing.T) { t.Parallel(); testCancel(t, newPlace(t)) })
	t.Run("retries", func(t *testing.T) { t.Parallel(); testRetried(t, newPlace(t)) })
	t.Run("once", func(t *testing.T) { t.Parallel(); testOnce(t, newPlace(t)) })
	t.Run("lost worker", func(t *testing.T) { t.Parallel(); testLostWorker(t, newPlace(t)) })
	t.Run("late worker", func(t *testing.T) { t.Parallel(); testLateWorker(t, newPlace(t)) })
	t.Run("slow worker", func(t *testing.T) { t.Parallel(); testSlowWorker(t, newPlace(t)) })
	t.Run("cancelled and lost", func(t *testing.T) { t.Parallel(); testCancelledAndLost(t, newPlace(t)) })
	t.Run("stopped worker", func(t *testing.T) { t.Parallel(); testStoppedWorker(t, newPlace(t)) })
	t.Run("files", func(t *testing.T) { t.Parallel(); testFiles(t, newPlace(t)) })
	t.Run("allow", func(t *testing.T) { t.Parallel(); testAllow(t, newPlace(t)) })
	t.Run("git", func(t *testing.T) { t.Parallel(); testGit(t, newPlace(t)) })
	t.Run("damage", func(t *testing.T) { t.Parallel(); testDamage(t, newPlace(t)) })
	t.Run("schedule", func(t *testing.T) { t.Parallel(); testSchedule(t, newPlace(t)) })
}

// A worker runs each job in a folder with its files, after the jobs it needs. It removes the archive after the last
// job.
func testOrder(t *testing.T, p *place) {
	var mu sync.Mutex
	var order []string
	files := p.files("text of a")
	s := Submission{Priority: 2, Needs: [][]int{nil, {0}, {0}, {1, 2}}}
	for _, stack := range []string{"a", "b", "c", "d"} {
		s.Jobs = append(s.Jobs, Job{Run: "r", Command: "run", Project: "p", Stack: stack, Path: ".",
			Source: Source{Archive: files.Digest}})
	}
	_, err := p.Submit(t.Context(), s, files)
	require.NoError(t, err)
	require.False(t, p.archives.empty())
	p.work(WorkerOptions{Jobs: 4, Run: func(_ context.Context, j Job, dir string, _ <-chan struct{}) Result {
		text, err := os.ReadFile(filepath.Join(dir, "a"))
		if err != nil || string(text) != "text of a" {
			return Result{Code: 1, Name: fmt.Sprint(err)}
		}
		mu.Lock()
		defer mu.Unlock()
		order = append(order, j.Stack)
		return Result{Name: "ok", Log: "log of " + j.Stack}
	}})
	entries := p.follow("r")
	require.Len(t, entries, 4)
	for stack, e := range entries {
		require.Equal(t, Done, e.State, stack)
		require.Equal(t, "log of "+stack, e.Result.Log)
		require.Equal(t, "w", e.Result.Worker)
		require.False(t, e.Ended.IsZero())
	}
	require.Equal(t, "a", order[0])
	require.Equal(t, "d", order[3])
	p.until(p.archives.empty)
}

// A preview gets the planned outputs of the jobs it needs, unchanged. No other job gets them.
func testPlanned(t *testing.T, p *place) {
	var mu sync.Mutex
	got := map[string]map[string][]byte{}
	p.work(WorkerOptions{Jobs: 2, Run: func(_ context.Context, j Job, _ string, _ <-chan struct{}) Result {
		mu.Lock()
		defer mu.Unlock()
		got[j.Command+" "+j.Stack] = j.Planned
		if j.Stack == "b" {
			return Result{Name: "ok"}
		}
		return Result{Name: "ok", Planned: []byte("\x00of " + j.Stack)}
	}})
	for _, command := range []string{"preview", "run"} {
		files := p.files(command)
		s := Submission{Priority: 2, Needs: [][]int{nil, nil, {0, 1}, {2}}}
		for _, stack := range []string{"a", "b", "c", "d"} {
			s.Jobs = append(s.Jobs, Job{Run: command, Command: command, Project: "p", Stack: stack, Path: ".",
				Source: Source{Archive: files.Digest}})
		}
		_, err := p.Submit(t.Context(), s, files)
		require.NoError(t, err)
		for _, e := range p.follow(command) {
			require.Equal(t, Done, e.State)
			require.Nil(t, e.Result.Planned)
		}
	}
	require.Empty(t, got["preview a"])
	require.Equal(t, map[string][]byte{"p/a": []byte("\x00of a")}, got["preview c"])
	require.Equal(t, map[string][]byte{"p/c": []byte("\x00of c")}, got["preview d"])
	require.Empty(t, got["run c"])
}

// A job that needs a failed one does not begin; other jobs continue.
func testFailure(t *testing.T, p *place) {
	p.work(WorkerOptions{Jobs: 2, Run: func(_ context.Context, j Job, _ string, _ <-chan struct{}) Result {
		if j.Stack == "bad" {
			return Result{Code: 10, Name: "pending"}
		}
		return Result{Name: "ok"}
	}})
	files := p.files("x")
	s := Submission{Priority: 2, Needs: [][]int{nil, {0}, {1}, nil}}
	for _, stack := range []string{"bad", "needs it", "needs that", "other"} {
		s.Jobs = append(s.Jobs, Job{Run: "r", Command: "run", Project: "p", Stack: stack, Path: ".",
			Source: Source{Archive: files.Digest}})
	}
	_, err := p.Submit(t.Context(), s, files)
	require.NoError(t, err)
	entries := p.follow("r")
	require.Equal(t, Failed, entries["bad"].State)
	require.Equal(t, Cancelled, entries["needs it"].State)
	require.Equal(t, Cancelled, entries["needs that"].State)
	require.Contains(t, entries["needs it"].Errors, "what it needs has failed")
	require.Nil(t, entries["needs it"].Result)
	require.Equal(t, Done, entries["other"].State)
}

// A more urgent job runs first, even if it was submitted later.
func testPriorities(t *testing.T, p *place) {
	p.submit("late", 4, nil, "d")
	p.submit("usual", 2, nil, "b", "c")
	p.submit("first", 1, nil, "a")
	order := make(chan string, 4)
	p.work(WorkerOptions{Run: func(_ context.Context, j Job, _ string, _ <-chan struct{}) Result {
		order <- j.Stack
		return Result{Name: "ok"}
	}})
	p.follow("late")
	close(order)
	require.Equal(t, []string{"a", "b", "c", "d"}, slices.Collect(func(yield func(string) bool) {
		for name := range order {
			yield(name)
		}
	}))
}

// An environment runs at most as many jobs at a time as it has slots, over all workers. Other jobs do not wait for
// them.
func testSlots(t *testing.T, p *place) {
	var mu sync.Mutex
	busy, most := 0, 0
	free := make(chan struct{})
	run := func(_ context.Context, j Job, _ string, _ <-chan struct{}) Result {
		if j.Environment == "" {
			close(free)
			return Result{Name: "ok"}
		}
		mu.Lock()
		busy++
		most = max(most, busy)
		mu.Unlock()
		<-free // until the job without an environment has run
		mu.Lock()
		defer mu.Unlock()
		busy--
		return Result{Name: "ok"}
	}
	p.submit("r", 2, func(i int, j *Job) {
		if i < 6 {
			j.Environment, j.Slots = "prod", 2
		}
	}, "a", "b", "c", "d", "e", "f", "other")
	p.work(WorkerOptions{Name: "one", Jobs: 4, Run: run})
	p.work(WorkerOptions{Name: "two", Jobs: 4, Run: run})
	for stack, e := range p.follow("r") {
		require.Equal(t, Done, e.State, stack)
	}
	require.Equal(t, 2, most)
}

// Cancel interrupts running jobs and ends waiting ones.
func testCancel(t *testing.T, p *place) {
	begun := make(chan struct{})
	p.work(WorkerOptions{Run: func(_ context.Context, j Job, _ string, interrupt <-chan struct{}) Result {
		close(begun)
		<-interrupt
		return Result{Code: 19, Name: "interrupted"}
	}})
	files := p.files("x")
	s := Submission{Priority: 2, Needs: [][]int{nil, {0}}}
	for _, stack := range []string{"a", "b"} {
		s.Jobs = append(s.Jobs, Job{Run: "r", Command: "run", Project: "p", Stack: stack, Path: ".",
			Source: Source{Archive: files.Digest}})
	}
	ids, err := p.Submit(t.Context(), s, files)
	require.NoError(t, err)
	<-begun
	ended, err := p.Cancel(t.Context(), "r")
	require.NoError(t, err)
	require.Equal(t, Ended{Jobs: 2}, ended)
	entries := p.follow("r")
	require.Equal(t, Failed, entries["a"].State, "it says how it ended")
	require.Equal(t, 19, entries["a"].Result.Code)
	require.Equal(t, Cancelled, entries["b"].State)
	ended, err = p.Cancel(t.Context(), fmt.Sprint(ids[1]))
	require.NoError(t, err)
	require.Zero(t, ended, "it is over")
	_, err = p.Cancel(t.Context(), "nothing")
	require.ErrorContains(t, err, `there is no job, run or schedule "nothing"`)
	_, err = p.Show(t.Context(), 1<<40)
	require.ErrorContains(t, err, "there is no job")
}

// A job is retried if nothing was left in flight, and not otherwise.
func testRetried(t *testing.T, p *place) {
	var mu sync.Mutex
	tries := map[string]int{}
	p.work(WorkerOptions{Jobs: 2, Run: func(_ context.Context, j Job, _ string, _ <-chan struct{}) Result {
		mu.Lock()
		defer mu.Unlock()
		tries[j.Stack]++
		switch {
		case j.Stack == "pending":
			return Result{Code: 10, Name: "pending"}
		case tries[j.Stack] == 1:
			return Result{Code: 14, Name: "failed"}
		}
		return Result{Name: "ok"}
	}})
	p.submit("r", 2, nil, "failed", "pending")
	entries := p.follow("r")
	require.Equal(t, Done, entries["failed"].State)
	require.Equal(t, 2, entries["failed"].Attempt)
	require.Contains(t, strings.Join(entries["failed"].Errors, "\n"), "ended with 14 (failed)")
	require.Equal(t, Failed, entries["pending"].State)
	require.Equal(t, 10, entries["pending"].Result.Code)
	require.Equal(t, map[string]int{"failed": 2, "pending": 1}, tries)
}

// A completed job does not run again, however soon workers look for abandoned jobs.
func testOnce(t *testing.T, p *place) {
	var mu sync.Mutex
	runs := map[string]int{}
	var stacks []string
	for i := range 60 {
		stacks = append(stacks, fmt.Sprint("s", i))
	}
	for _, name := range []string{"one", "two"} {
		p.work(WorkerOptions{Name: name, Jobs: 4, Grace: time.Microsecond, Run: func(_ context.Context, j Job, _ string,
			_ <-chan struct{}) Result {
			mu.Lock()
			defer mu.Unlock()
			runs[j.Stack]++
			return Result{Name: "ok"}
		}})
	}
	p.submit("r", 2, nil, stacks...)
	for stack, e := range p.follow("r") {
		require.Equal(t, Done, e.State, stack)
		require.Equal(t, 1, runs[stack], stack)
	}
}

// A worker that loses its session interrupts the job, which then runs again.
func testLostWorker(t *testing.T, p *place) {
	var mu sync.Mutex
	runs := 0
	begun := make(chan struct{})
	p.work(WorkerOptions{Name: "one", Jobs: 2, Grace: time.Millisecond, Run: func(_ context.Context, _ Job, _ string,
		interrupt <-chan struct{}) Result {
		mu.Lock()
		runs++
		first := runs == 1
		mu.Unlock()
		if first {
			close(begun)
			<-interrupt
			return Result{Code: 19, Name: "interrupted"}
		}
		return Result{Name: "ok"}
	}})
	p.submit("r", 2, nil, "a")
	<-begun
	p.loseSessions()
	e := p.follow("r")["a"]
	require.Equal(t, Done, e.State)
	require.Equal(t, 2, runs)
}

// loseSessions terminates the sessions that hold locks of jobs.
func (p *place) loseSessions() {
	p.exec(`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid::bigint = $1`,
		int64(jobLocks))
}

// A worker that lost its session and ends its attempt after another worker took the job changes nothing, whatever its
// result, and whether or not the other worker is still running the job.
func testLateWorker(t *testing.T, p *place) {
	for name, late := range map[string]Result{
		"good": {Name: "late"}, "again": {Code: 19, Name: "late"}, "failed": {Code: 14, Name: "late"},
		"pending": {Code: 10, Name: "late"},
	} {
		for _, when := range []string{"before", "after"} {
			run := name + " " + when
			begun, comeBack, second, goOn := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
			endFirst := p.work(WorkerOptions{Name: "first " + run, Run: func(context.Context, Job, string,
				<-chan struct{}) Result {
				close(begun)
				<-comeBack
				return late
			}})
			ids := p.submit(run, 2, nil, "a")
			<-begun
			runs := 0
			endSecond := p.work(WorkerOptions{Name: "second " + run, Grace: time.Millisecond, Run: func(context.Context, Job,
				string, <-chan struct{}) Result {
				runs++
				close(second)
				<-goOn
				return Result{Name: "second"}
			}})
			p.loseSessions()
			<-second
			if when == "before" {
				close(comeBack)
				endFirst()
				e, err := p.Show(t.Context(), ids[0])
				require.NoError(t, err)
				require.Equal(t, Running, e.State, run)
				require.Nil(t, e.Result, run)
			}
			close(goOn)
			p.follow(run)
			if when == "after" {
				close(comeBack)
				endFirst()
			}
			endSecond()
			e, err := p.Show(t.Context(), ids[0])
			require.NoError(t, err)
			require.Equal(t, Done, e.State, run)
			require.Equal(t, "second", e.Result.Name, run)
			require.Equal(t, 1, runs, run)
		}
	}
}

// A worker that takes a job but locks it too late leaves it to the worker that has it by then.
func testSlowWorker(t *testing.T, p *place) {
	ids := p.submit("r", 2, nil, "a")
	p.exec(`UPDATE river_job SET state = 'running', attempt = 1, attempted_at = now() - interval '1 hour' WHERE id = $1`,
		ids[0])
	row := func() *rivertype.JobRow {
		found, err := p.client.JobGet(t.Context(), ids[0])
		require.NoError(t, err)
		return found
	}
	slow := row()
	begun, goOn := make(chan struct{}), make(chan struct{})
	p.work(WorkerOptions{Run: func(context.Context, Job, string, <-chan struct{}) Result {
		close(begun)
		<-goOn
		return Result{Name: "ok"}
	}})
	<-begun
	before := row()
	lock, err := p.hold(t.Context(), ids[0], slow.AttemptedAt, Job{})
	require.NoError(t, err)
	require.Nil(t, lock)
	for _, o := range []outcome{again(nil, 0), again(nil, time.Second), failed(slow, nil, "x"), cancelled(nil, "x"),
		{state: rivertype.JobStateCompleted}} {
		owner, err := p.conclude(t.Context(), slow, o)
		require.NoError(t, err)
		require.False(t, owner)
	}
	require.Equal(t, before, row())
	close(goOn)
	require.Equal(t, Done, p.follow("r")["a"].State)
}

// A cancelled job does not begin again when its worker is gone.
func testCancelledAndLost(t *testing.T, p *place) {
	ids := p.submit("r", 2, nil, "a", "b")
	p.exec(`UPDATE river_job SET state = 'running', attempt = 1, attempted_at = now() - interval '1 hour' WHERE id = $1`,
		ids[0])
	ended, err := p.Cancel(t.Context(), fmt.Sprint(ids[0]))
	require.NoError(t, err)
	require.Equal(t, Ended{Jobs: 1}, ended)
	p.work(WorkerOptions{Run: func(_ context.Context, j Job, _ string, _ <-chan struct{}) Result {
		return Result{Name: "ran " + j.Stack}
	}})
	entries := p.follow("r")
	require.Equal(t, Cancelled, entries["a"].State)
	require.Nil(t, entries["a"].Result)
	require.False(t, entries["a"].Ended.IsZero())
	require.Equal(t, Done, entries["b"].State)
}

// A worker that ends interrupts its jobs, and another worker takes them.
func testStoppedWorker(t *testing.T, p *place) {
	begun := make(chan struct{})
	end := p.work(WorkerOptions{Name: "one", Run: func(_ context.Context, _ Job, _ string,
		interrupt <-chan struct{}) Result {
		close(begun)
		<-interrupt
		return Result{Code: 19, Name: "interrupted"}
	}})
	p.submit("r", 2, nil, "a")
	<-begun
	end()
	p.work(WorkerOptions{Name: "two", Run: well})
	e := p.follow("r")["a"]
	require.Equal(t, Done, e.State)
	require.Equal(t, "two", e.Result.Worker)
}

// A worker reads an archive at most once for each of its parallel jobs, and no job sees files that another one wrote.
func testFiles(t *testing.T, p *place) {
	var stacks []string
	for i := range 20 {
		stacks = append(stacks, fmt.Sprint("s", i))
	}
	p.submit("r", 2, nil, stacks...)
	p.work(WorkerOptions{Jobs: 2, Run: func(_ context.Context, j Job, dir string, _ <-chan struct{}) Result {
		entries, err := os.ReadDir(dir)
		if err == nil && len(entries) == 1 {
			err = os.WriteFile(filepath.Join(dir, "Pulumi."+j.Stack+".yaml"), nil, 0o600)
		}
		if err != nil || len(entries) != 1 {
			return Result{Code: 1, Name: fmt.Sprint(entries, err)}
		}
		return Result{Name: "ok"}
	}})
	for stack, e := range p.follow("r") {
		require.Equal(t, Done, e.State, "%s: %v", stack, e)
	}
	p.archives.mu.Lock()
	defer p.archives.mu.Unlock()
	require.LessOrEqual(t, p.archives.reads, 2)
}

// A worker refuses sources that it does not allow. Submit refuses invalid jobs.
func testAllow(t *testing.T, p *place) {
	begun := false
	p.work(WorkerOptions{Allow: []string{"https://example.com/ours"}, Run: func(context.Context, Job, string,
		<-chan struct{}) Result {
		begun = true
		return Result{}
	}})
	p.submit("r", 2, nil, "a")
	e := p.follow("r")["a"]
	require.Equal(t, Cancelled, e.State)
	require.Contains(t, strings.Join(e.Errors, "\n"), "the worker w does not allow archive")
	files := p.files("x")
	_, err := p.Submit(t.Context(), Submission{Priority: 2, Needs: [][]int{nil}, Jobs: []Job{{Run: "x", Command: "rm",
		Project: "p", Stack: "a", Path: ".", Source: Source{Archive: files.Digest}}}}, files)
	require.ErrorContains(t, err, `p/a: a job cannot do "rm"`)
	require.False(t, begun)
	p.until(p.archives.empty) // the archive of refused jobs is removed
}

// A job can take its files from a commit of a repository.
func testGit(t *testing.T, p *place) {
	dir := t.TempDir()
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b.c"}, args...)...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "web"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "web", "f"), []byte("one"), 0o600))
	git("add", ".")
	git("commit", "-qm", "one")
	first := git("rev-parse", "HEAD")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "web", "f"), []byte("two"), 0o600))
	git("commit", "-qam", "two")
	url := "file://" + filepath.ToSlash(dir)
	p.work(WorkerOptions{Allow: []string{url}, Run: func(_ context.Context, _ Job, dir string, _ <-chan struct{}) Result {
		text, err := os.ReadFile(filepath.Join(dir, "f"))
		return Result{Name: "ok", Log: fmt.Sprint(string(text), err)}
	}})
	p.submit("r", 2, func(_ int, j *Job) { j.Path, j.Source = "web", Source{Git: url, Commit: first} }, "a")
	e := p.follow("r")["a"]
	require.Equal(t, Done, e.State, e.Errors)
	require.Equal(t, "one<nil>", e.Result.Log)
}

// A missing or damaged archive is reported, and its job does not run.
func testDamage(t *testing.T, p *place) {
	ids := p.submit("r", 2, nil, "a")
	p.archives.mu.Lock()
	for digest := range p.archives.kept {
		p.archives.kept[digest] = append(p.archives.kept[digest], 'x')
	}
	p.archives.mu.Unlock()
	p.work(WorkerOptions{Run: well})
	says := func(id int64, text string) {
		p.until(func() bool {
			e, err := p.Show(t.Context(), id)
			require.NoError(t, err)
			return strings.Contains(strings.Join(e.Errors, "\n"), text)
		})
	}
	says(ids[0], "is damaged")
	ids = p.submit("s", 2, func(_ int, j *Job) { j.Source.Archive = strings.Repeat("0", 64) }, "b")
	says(ids[0], "the worker needs the same PULUMI_BACKEND_URL as the one who submitted the job")
	for _, run := range []string{"r", "s"} {
		_, err := p.Cancel(t.Context(), run)
		require.NoError(t, err)
	}
}

// A schedule submits its jobs periodically, and keeps their archive until it ends.
func testSchedule(t *testing.T, p *place) {
	p.work(WorkerOptions{Jobs: 2, Run: func(context.Context, Job, string, <-chan struct{}) Result {
		return Result{Code: 17, Name: "drift"}
	}})
	files := p.files("x")
	s := Submission{Priority: 3, Needs: [][]int{nil}, Jobs: []Job{{Run: "x", Command: "drift", Project: "p", Stack: "a",
		Path: ".", Source: Source{Archive: files.Digest}}}}
	require.ErrorContains(t, p.Schedule(t.Context(), "nightly", time.Second, s, files), "at least a minute")
	require.NoError(t, p.Schedule(t.Context(), "nightly", time.Hour, s, files))
	runs := func(n int) {
		p.until(func() bool {
			list, err := p.List(t.Context(), "", 100)
			done := 0
			for _, e := range list {
				if e.State == Done && strings.HasPrefix(e.Job.Run, "nightly-") && e.Result.Code == 17 && e.Priority == 3 {
					done++
				}
			}
			require.NoError(t, err)
			return done == n
		})
	}
	runs(1)
	p.exec(`UPDATE yamlhost_schedules SET next = now()`)
	runs(2)
	require.NoError(t, p.tidy(t.Context(), p.archives))
	require.False(t, p.archives.empty(), "the schedule will need it")
	list, err := p.Schedules(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, []any{"nightly", int64(3600), "a"}, []any{list[0].Name, list[0].Every, list[0].Jobs[0].Stack})
	ended, err := p.Cancel(t.Context(), "nightly")
	require.NoError(t, err)
	require.Equal(t, Ended{Schedule: true}, ended)
	p.until(p.archives.empty)
}

// The error about an unreachable database does not contain the password.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"postgres://a:hunter2@127.0.0.1:1/x?connect_timeout=1", "postgres://a:hunter2@[/x"} {
		_, err := Open(t.Context(), url)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "hunter2")
		t.Log(err)
	}
}
