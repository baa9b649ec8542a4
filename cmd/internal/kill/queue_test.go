//go:build linux && !lean

package kill

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/queue"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/tools/bench/drawer"
)

var (
	queueStacks = flag.Int("queue-stacks", 12, "how many stacks go through the queue")
	queueKills  = flag.Int("queue-kills", 6, "how many workers are killed meanwhile, at least")
	queueTime   = flag.Duration("queue-time", 0, "for how long workers are killed, at least")
)

// fleet is a queue on a real server, with worker processes.
type fleet struct {
	t        *testing.T
	bench    *bench
	url      string
	workers  []*exec.Cmd
	started  int
	release  int // current release of the programs; each release changes every object
	stubborn int // number of turns without kills
	stacks   int
	jobs     int // concurrent jobs of a worker
	open     func(rawURL string) (backend.Objects, error)
	backend  *backend.Backend // backend of the stacks; opened on first use
	said     speech
}

// start starts a worker under a new machine name.
func (f *fleet) start(slot int) {
	f.started++
	cmd := exec.Command(f.bench.self, "worker", "--queue", f.url, "--allow", "archive", "--jobs", fmt.Sprint(f.jobs), "--grace", "1s")
	cmd.Dir = f.bench.dir
	cmd.Env = append(slices.Clone(f.bench.environ), fmt.Sprintf("%s=machine%d", machineKey, f.started), leaseKey+"=2s",
		"PULUMI_CONFIG_PASSPHRASE=secret")
	cmd.Stdout, cmd.Stderr = &f.said, &f.said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(f.t, cmd.Start())
	f.workers[slot] = cmd
}

func (f *fleet) kill(slot int) {
	_ = syscall.Kill(-f.workers[slot].Process.Pid, syscall.SIGKILL)
	_ = f.workers[slot].Wait()
}

// begin opens the queue and starts the workers. Both end with the test.
func (f *fleet) begin() *queue.Queue {
	q, err := queue.Open(context.Background(), f.url)
	require.NoError(f.t, err)
	f.t.Cleanup(q.Close)
	for slot := range f.workers {
		f.start(slot)
	}
	f.t.Cleanup(func() {
		for slot := range f.workers {
			f.kill(slot)
		}
		if f.t.Failed() {
			f.t.Log(f.said.String())
		}
	})
	return q
}

// TestQueueKill kills workers at random while stacks that reference each other go through the queue repeatedly, with
// changed programs. Every stack ends as its program declares. Every object is in a state, none exists twice, and no
// stack has two runs at the same time.
func TestQueueKill(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	b := newBenchAt(t, &outcome{points: map[string]int{}}, 7, db.url("states"))
	f := &fleet{t: t, bench: b, url: strings.Replace(db.url("x"), "&table=x", "", 1), workers: make([]*exec.Cmd, 4),
		stacks: *queueStacks, jobs: 3, open: db.open}
	q := f.begin()

	random := rand.New(rand.NewPCG(3, 1))
	kills, jobs := 0, 0
	began := time.Now()
	enough := func() bool { return kills >= *queueKills && time.Since(began) >= *queueTime }
	for turn := 0; ; turn++ {
		if enough() {
			f.stubborn++
		}
		require.Less(t, f.stubborn, 20, "the stacks do not come to their end")
		if !enough() || turn == 0 {
			f.release++
		}
		run := f.submit(q, fmt.Sprintf("r%d", turn))
		jobs += *queueStacks
		var over atomic.Bool
		done := make(chan error, 1)
		codes := map[int]int{}
		go func() {
			done <- q.Follow(context.Background(), run, func(e *queue.Entry) {
				if !e.Over() {
					return
				}
				if e.Result != nil {
					codes[e.Result.Code]++
				} else {
					codes[-1]++
				}
			})
			over.Store(true)
		}()
		for !enough() && !over.Load() {
			time.Sleep(time.Duration(200+random.IntN(1500)) * time.Millisecond) // workers die at random times
			slot := random.IntN(len(f.workers))
			f.kill(slot)
			f.start(slot)
			kills++
		}
		require.NoError(t, <-done)
		t.Logf("turn %d: %d kills, codes %v", turn, kills, codes)
		if codes[console.CodeOK] == *queueStacks && enough() {
			break
		}
		f.settle(codes)
	}
	f.audit()
	b.until(func() bool { return len(archives(db)) == 0 })
	require.Empty(t, archives(db), "archives that no job needs")
	overlaps, turns, err := drawer.Overlaps(b.drawer)
	require.NoError(t, err)
	require.Empty(t, overlaps, "stacks that were run twice at a time")
	t.Logf("%d stacks, %d jobs, %d kills in %v; %d runs changed something, none beside another of its stack",
		*queueStacks, jobs, kills, time.Since(began).Round(time.Second), turns)
}

// archives returns the keys of the archives in the backend.
func archives(d *database) []string {
	return d.ask(`SELECT key FROM states_yamlhost WHERE key LIKE '%archives%'`)
}

// title returns the expected output of a stack in the current release of the programs.
func (f *fleet) title(i int) string {
	if i == 0 {
		return fmt.Sprint("root", f.release)
	}
	return fmt.Sprintf("%s.%d", f.title((i-1)/3), i)
}

// submit writes the current release of the programs and queues a job for each.
func (f *fleet) submit(q *queue.Queue, run string) string {
	t := f.t
	root := filepath.Join(f.bench.dir, "projects")
	submission := queue.Submission{Priority: 2}
	var names []string
	for i := range f.stacks {
		var y strings.Builder
		fmt.Fprintf(&y, "name: p%d\nruntime: yaml\nresources:\n", i)
		title := f.title(0)
		var needs []int
		if i > 0 {
			above := (i - 1) / 3
			needs = []int{above}
			fmt.Fprintf(&y, "  above: {type: 'pulumi:pulumi:StackReference', get: {id: organization/p%d/dev}}\n", above)
			title = `${above.outputs["title"]}.` + fmt.Sprint(i)
		}
		for k := range 3 {
			fmt.Fprintf(&y, "  i%d:\n    type: drawer:index:Item\n    properties: {kind: k, title: '%s'}\n", k, title)
		}
		fmt.Fprintf(&y, "outputs: {title: '%s'}\n", title)
		testfile.Write(t, filepath.Join(root, fmt.Sprintf("p%d", i), "Pulumi.yaml"), y.String())
		names = append(names, fmt.Sprintf("p%d/Pulumi.yaml", i))
		submission.Jobs = append(submission.Jobs, queue.Job{Run: run, Command: "run", Project: fmt.Sprintf("p%d", i),
			Stack: "dev", Path: fmt.Sprintf("p%d", i), Environment: "dev", Slots: 6})
		submission.Needs = append(submission.Needs, needs)
	}
	var content bytes.Buffer
	require.NoError(t, queue.Pack(&content, root, names))
	sum := sha256.Sum256(content.Bytes())
	files := &queue.Files{Digest: hex.EncodeToString(sum[:]), Content: &content, In: f.states().Archives()}
	for i := range submission.Jobs {
		submission.Jobs[i].Source.Archive = files.Digest
	}
	_, err := q.Submit(context.Background(), submission, files)
	require.NoError(t, err)
	return run
}

// settle settles creations that a dead worker left pending: each happened if its object exists.
func (f *fleet) settle(codes map[int]int) {
	if codes[console.CodePending] == 0 {
		return
	}
	objects, err := drawer.Objects(f.bench.drawer)
	require.NoError(f.t, err)
	ids := map[string]string{}
	for _, o := range objects {
		ids[o.URN] = o.ID
	}
	for i := range f.stacks {
		s := f.state(i)
		if s == nil {
			continue
		}
		f.bench.place = filepath.Join(f.bench.dir, "projects", fmt.Sprintf("p%d", i))
		args := []string{"run", "--stack", "dev", "--lock-timeout", "1m"}
		words := 0
		for _, op := range s.Pending {
			if op.Kind != state.Creating {
				continue
			}
			words++
			if id := ids[string(op.Resource.URN)]; id != "" {
				args = append(args, "--settle-pending", string(op.Resource.URN)+"="+id)
			} else {
				args = append(args, "--settle-pending", "forget")
			}
		}
		if words > 0 {
			f.bench.run("", 0, args...) // settles creations even if the run fails for lack of outputs that it needs
		}
	}
}

// state returns a stack's state with its journal applied; nil if the stack does not exist.
func (f *fleet) state(i int) *state.Snapshot {
	b := f.states()
	ref := backend.Ref{Project: fmt.Sprintf("p%d", i), Stack: "dev"}
	if exists, err := b.Exists(ref); err != nil || !exists {
		require.NoError(f.t, err)
		return nil
	}
	loaded, err := b.Load(context.Background(), ref, nil)
	require.NoError(f.t, err)
	return loaded.Snapshot
}

// states returns the backend of the states, with connections of its own.
func (f *fleet) states() *backend.Backend {
	if f.backend == nil {
		b, err := backend.Open(f.backendURL(), backend.Options{OpenObjects: f.open})
		require.NoError(f.t, err)
		f.backend = b
	}
	return f.backend
}

func (f *fleet) backendURL() string {
	for _, variable := range f.bench.environ {
		if url, found := strings.CutPrefix(variable, "PULUMI_BACKEND_URL="); found {
			return url
		}
	}
	return ""
}

// audit requires that the existing objects match the states.
func (f *fleet) audit() {
	objects, err := drawer.Objects(f.bench.drawer)
	require.NoError(f.t, err)
	there := map[string]string{}
	for _, o := range objects {
		require.Empty(f.t, there[o.URN], "%s is there twice", o.URN)
		there[o.URN] = o.ID
	}
	for i := range f.stacks {
		s := f.state(i)
		require.NotNil(f.t, s)
		require.Empty(f.t, s.Pending)
		items := 0
		for _, r := range s.Resources {
			if r.Type == "drawer:index:Item" {
				items++
				title, _ := r.Outputs.Lookup("title")
				text, _ := title.AsString()
				require.Equal(f.t, f.title(i), text, "%s", r.URN)
				require.Equal(f.t, there[string(r.URN)], r.ID, "%s", r.URN)
				delete(there, string(r.URN))
			}
		}
		require.Equal(f.t, 3, items)
	}
	require.Empty(f.t, there, "objects in no state")
}
