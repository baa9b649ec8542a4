//go:build linux

package kill

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/tools/bench/drawer"
)

var (
	kills   = flag.Int("kills", 40, "how many kills")
	workers = flag.Int("workers", 2, "how many stacks at the same time")
	seed    = flag.Uint64("seed", 1, "of the choice of moments")
)

// outcome holds the counts of the test.
type outcome struct {
	mu         sync.Mutex
	kills      int
	runs       int
	manual     int // runs that failed and needed more than another run
	lost       int // objects in neither the state nor a pending operation
	ghosts     int // resources in the state without an object or a pending deletion
	unreadable int // states that could not be read or verified
	recreated  int // objects created twice without a message
	litter     int // files left over after a successful run
	decisions  int // creations settled by a flag, with or without an ID
	announced  int // creations repeated because of a flag
	settled    int // updates and deletions resolved by reading
	machines   int // machines lost
	waits      int // runs before the lease of a lost machine expired
	starts     []time.Duration
	points     map[string]int
	faults     []string
}

func (o *outcome) fault(counter *int, format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	*counter++
	if len(o.faults) < 20 {
		o.faults = append(o.faults, fmt.Sprintf(format, args...))
	}
}

// TestKill checks decision D9 with real processes.
func TestKill(t *testing.T) {
	t.Parallel()
	o := &outcome{points: map[string]int{}}
	points := namedMoments(t)
	require.Greater(t, len(points), 25, "named moments")
	order := rand.New(rand.NewPCG(*seed, 2))
	order.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	var group sync.WaitGroup
	for w := range *workers {
		bench := newBench(t, o, *seed*1000+uint64(w))
		group.Go(func() {
			for n := w; o.more(); n += *workers {
				bench.round(points[n%len(points)])
			}
		})
	}
	group.Wait()

	slices.Sort(o.starts)
	median := o.starts[len(o.starts)/2]
	t.Logf("kills %d at %d named moments and at random ones, runs %d", o.kills, len(points), o.runs)
	t.Logf("start of the next run: median %v, 99%% %v, slowest %v", median, o.starts[len(o.starts)*99/100],
		o.starts[len(o.starts)-1])
	o.report(t)
}

// report logs the counts, and fails the test if there were faults.
func (o *outcome) report(t *testing.T) {
	t.Helper()
	t.Logf("manual steps %d, lost objects %d, ghosts %d, unreadable states %d, silent re-creations %d, litter %d",
		o.manual, o.lost, o.ghosts, o.unreadable, o.recreated, o.litter)
	t.Logf("creations decided by a word %d, tried again on demand %d; updates and deletions found out by reading %d",
		o.decisions, o.announced, o.settled)
	for _, name := range slices.Sorted(maps.Keys(o.points)) {
		t.Logf("  %5d  %s", o.points[name], name)
	}
	require.Empty(t, o.faults)
}

func (o *outcome) more() bool { return o.fewer(*kills) }

// fewer reports whether there were fewer kills than the limit and no fault yet.
func (o *outcome) fewer(than int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.kills < than && len(o.faults) == 0
}

// namedMoments returns the moments in the life of a stack: creations, updates, replacements and its destruction.
func namedMoments(t *testing.T) []string {
	return newBench(t, &outcome{points: map[string]int{}}, 7).moments(t)
}

func (b *bench) moments(t *testing.T) []string {
	seen := filepath.Join(b.dir, "seen")
	b.environ = append(b.environ, seenKey+"="+seen)
	for range 6 {
		b.change()
		b.write()
		require.Equal(t, 0, b.run("", 0, "up", "--yes", "--skip-preview").code, b.said)
	}
	require.Equal(t, 0, b.run("", 0, "destroy", "--yes", "--skip-preview").code, b.said)
	text := testfile.Text(t, seen)
	names := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(names)
	return slices.Compact(names)
}

// bench is one stack under test.
type bench struct {
	t       *testing.T
	o       *outcome
	random  *rand.Rand
	dir     string
	drawer  string
	environ []string
	self    string
	items   map[int]item
	said    string // output of the last run
	took    time.Duration
	orphans map[string]bool // objects that a retried creation left unmanaged
	serial  int
	saying  atomic.Pointer[speech]
	meddle  func(pid int) // called with the PID of each run after its start; may be nil
	place   string        // the project's folder if it was moved; else empty
	store   *pail         // the object store with the state; nil if it is in a folder
	within  []string      // a command line that wraps yamlhost; may be empty
}

type item struct{ title, kind string }

// pail is the location of a state in an object store or a service.
type pail struct {
	url string
	//lint:ignore U1000 the runs on S3, behind a build tag, read it
	prefix string // prefix of its keys
	open   func(rawURL string) (backend.Objects, error)
	left   func() []string // returns the locks and journals that remain
	lose   func() bool     // sometimes loses the machine; reports whether it did
	// service opens a service; it replaces open.
	service func(rawURL string) (backend.Service, error)
	copies  string // folder for files that the service does not store
}

func newBench(t *testing.T, o *outcome, seed uint64) *bench {
	b := newBenchAt(t, o, seed, "")
	b.begin()
	return b
}

// newBenchAt returns a bench with the state at url, or in a folder of its own if url is empty. It creates no stack.
func newBenchAt(t *testing.T, o *outcome, seed uint64, url string) *bench {
	self, err := os.Executable()
	require.NoError(t, err)
	b := &bench{t: t, o: o, random: rand.New(rand.NewPCG(seed, 1)), dir: t.TempDir(), self: self, items: map[int]item{},
		orphans: map[string]bool{}, took: 300 * time.Millisecond}
	b.drawer = filepath.Join(b.dir, "drawer")
	home := filepath.Join(b.dir, "home")
	installed := filepath.Join(home, "plugins", "resource-drawer-v1.0.0")
	for _, dir := range []string{b.drawer, installed, filepath.Join(b.dir, "state"), filepath.Join(b.dir, "project")} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	require.NoError(t, os.Symlink(self, filepath.Join(installed, pluginName)))
	if url == "" {
		url = "file://" + filepath.Join(b.dir, "state")
	}
	b.environ = []string{"HOME=" + b.dir, "PULUMI_HOME=" + home, "PULUMI_BACKEND_URL=" + url, "PATH=/none",
		roleKey + "=host", drawerKey + "=" + b.drawer, delayKey + "=10"}
	return b
}

func (b *bench) begin() {
	b.write()
	require.Equal(b.t, 0, b.run("", 0, "stack", "init", "dev").code, b.said)
}

// project returns the folder of the program.
func (b *bench) project() string {
	if b.place != "" {
		return b.place
	}
	return filepath.Join(b.dir, "project")
}

// change changes the program at random.
func (b *bench) change() {
	for range 2 + b.random.IntN(4) {
		b.serial++
		i := b.random.IntN(7)
		current, exists := b.items[i]
		switch n := b.random.IntN(6); {
		case !exists:
			b.items[i] = item{fmt.Sprint("t", b.serial), "k0"}
		case n == 0:
			delete(b.items, i)
		case n <= 2:
			current.kind = fmt.Sprint("k", b.serial)
			b.items[i] = current
		default:
			current.title = fmt.Sprint("t", b.serial)
			b.items[i] = current
		}
	}
}

func (b *bench) write() {
	var y strings.Builder
	y.WriteString("name: kill\nruntime: yaml\nresources: {}\n")
	if len(b.items) > 0 {
		y.Reset()
		y.WriteString("name: kill\nruntime: yaml\nresources:\n")
	}
	for _, i := range slices.Sorted(maps.Keys(b.items)) {
		current := b.items[i]
		fmt.Fprintf(&y, "  i%d:\n    type: drawer:index:Item\n    properties:\n      kind: %s\n", i, current.kind)
		if _, before := b.items[i-1]; before && i%2 == 1 {
			fmt.Fprintf(&y, "      title: %s-${i%d.tag}\n", current.title, i-1)
		} else {
			fmt.Fprintf(&y, "      title: %s\n", current.title)
		}
		if i%3 == 0 {
			y.WriteString("    options: {deleteBeforeReplace: true}\n")
		}
	}
	require.NoError(b.t, os.WriteFile(filepath.Join(b.project(), "Pulumi.yaml"), []byte(y.String()), 0o600))
}

// speech collects the output of a run while it goes on. It is safe for concurrent use.
type speech struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (w *speech) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *speech) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// heard waits until the run has printed text, at most runPatience.
func (b *bench) heard(text string) {
	b.until(func() bool { return strings.Contains(b.saying.Load().String(), text) })
}

// until waits until is reports true, at most runPatience.
func (b *bench) until(is func() bool) {
	for until := time.Now().Add(runPatience); time.Now().Before(until) && !is(); time.Sleep(10 * time.Millisecond) {
	}
}

// runPatience is the time after which a run counts as hanging.
const runPatience = 2 * time.Minute

type ended struct {
	code   int
	killed bool
	dumped bool  // whether it dumped core
	peak   int64 // peak memory of the process or its largest child, in KiB
	took   time.Duration
	cpu    time.Duration // CPU time of the process and its children
}

// run runs yamlhost to its end. It dies at the moment point unless that is empty, and is killed after a time unless
// that is 0.
func (b *bench) run(point string, after time.Duration, args ...string) ended {
	ready := filepath.Join(b.dir, "ready")
	_ = os.Remove(ready)
	began := time.Now()
	words := slices.Concat(b.within, []string{b.self, "-C", b.project()}, args)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = b.dir // for the files that a crash may leave
	cmd.Env = append(slices.Clone(b.environ), readyKey+"="+ready, beganKey+"="+strconv.FormatInt(began.UnixNano(), 10))
	if point != "" {
		cmd.Env = append(cmd.Env, pointKey+"="+point)
	}
	out := &speech{}
	b.saying.Store(out)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(b.t, cmd.Start())
	if b.meddle != nil {
		b.meddle(cmd.Process.Pid)
	}
	// A run that hangs prints its stacks.
	defer time.AfterFunc(runPatience, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGQUIT) }).Stop()
	if after > 0 {
		timer := time.AfterFunc(after, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		defer timer.Stop()
	}
	_ = cmd.Wait()
	b.said = out.String()
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	e := ended{code: cmd.ProcessState.ExitCode(), killed: status.Signaled() && status.Signal() == syscall.SIGKILL,
		dumped: status.CoreDump(), peak: cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss, took: time.Since(began),
		cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	b.o.mu.Lock()
	defer b.o.mu.Unlock()
	b.o.runs++
	if text, err := os.ReadFile(ready); err == nil {
		if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			b.o.starts = append(b.o.starts, time.Duration(n))
		}
	}
	if !e.killed {
		b.took = max(100*time.Millisecond, time.Since(began))
	} else {
		b.o.kills++
		name, _, _ := strings.Cut(point, ":")
		if point == "" {
			name = "random"
		}
		b.o.points[name]++
	}
	return e
}

// round changes the program, kills the run that applies it, and repeats the run until it succeeds.
func (b *bench) round(moment string) {
	b.change()
	b.write()
	operation := "up"
	if strings.Contains(moment, "delete") || b.random.IntN(8) == 0 {
		operation = "destroy"
	}
	point, after := fmt.Sprintf("%s:%d", moment, b.random.IntN(3)), time.Duration(0)
	if b.random.IntN(3) == 0 {
		point, after = "", time.Duration(b.random.Int64N(int64(b.took)))+time.Millisecond
	}
	retry := b.random.IntN(4) == 0
	for try := 0; ; try++ {
		flags := []string{operation, "--yes", "--non-interactive", "--parallel", "4"}
		if b.random.IntN(3) > 0 {
			flags = append(flags, "--skip-preview")
		}
		more, announced := b.settlingFlags(retry)
		e := b.run(point, after, append(flags, more...)...)
		if !b.inspect(moment) {
			return
		}
		if e.killed && b.store != nil && b.store.lose() {
			b.o.mu.Lock()
			b.o.machines++
			b.o.mu.Unlock()
		}
		switch {
		case b.tooEarly(e):
			try--
			continue
		case e.killed && try < 8: // sometimes the next run is killed, too
			point, after = "", 0
			if b.random.IntN(4) == 0 {
				after = time.Duration(b.random.Int64N(int64(b.took))) + time.Millisecond
			}
			continue
		case e.killed:
			point, after = "", 0
			continue
		case e.code != 0:
			b.o.fault(&b.o.manual, "after %s: %s ended with %d and said:\n%s", moment, operation, e.code, b.said)
			return
		case announced && !strings.Contains(b.said, "will be created again"):
			b.o.fault(&b.o.recreated, "a creation was tried again without a word:\n%s", b.said)
		}
		break
	}
	b.final(operation)
}

func (b *bench) load() (*state.Snapshot, error) {
	url, o := "file://"+filepath.Join(b.dir, "state"), backend.Options{}
	if b.store != nil {
		url, o.OpenObjects, o.OpenService, o.Copies = b.store.url, b.store.open, b.store.service, b.store.copies
	}
	stacks, err := backend.Open(url, o)
	if err != nil {
		return nil, err
	}
	loaded, err := stacks.Load(context.Background(), backend.Ref{Project: "kill", Stack: "dev"}, nil)
	if err != nil {
		return nil, err
	}
	if r := loaded.Recovered; r != nil && r.Foreign {
		return nil, errors.New("the journal does not fit the state")
	}
	return loaded.Snapshot, loaded.Snapshot.Verify()
}

// tooEarly reports whether a run failed because the lease of a lost machine had not expired yet, or because its own
// expired while the service was down. If so, it waits a moment.
func (b *bench) tooEarly(e ended) bool {
	switch {
	case e.code == 0 || b.store == nil || e.killed:
		return false
	case b.store.service != nil && (strings.Contains(b.said, "is held by") || strings.Contains(b.said, "has run out")):
	case !strings.Contains(b.said, "currently locked") || !strings.Contains(b.said, "runs out at"):
		return false
	}
	b.o.mu.Lock()
	b.o.waits++
	b.o.mu.Unlock()
	time.Sleep(200 * time.Millisecond)
	return true
}

// view returns the state, the IDs in it and the existing objects.
func (b *bench) view() (s *state.Snapshot, known map[string]bool, objects []drawer.Object, err error) {
	if s, err = b.load(); err != nil {
		return nil, nil, nil, err
	}
	objects, err = drawer.Objects(b.drawer)
	known = map[string]bool{}
	for _, r := range s.Resources {
		known[r.ID] = true
	}
	return s, known, objects, err
}

// settlingFlags returns the flags that settle pending creations in the next run: the ID of the object, which is empty
// if none exists, or a retry. At random it also checks that a run without them refuses to go on.
func (b *bench) settlingFlags(retry bool) (flags []string, announced bool) {
	s, known, objects, err := b.view()
	if err != nil {
		return nil, false // inspect reports it
	}
	undecided := engine.Undecided(s)
	b.o.mu.Lock()
	for _, op := range s.Pending {
		if op.Kind == state.Updating || op.Kind == state.Deleting {
			b.o.settled++
		}
	}
	b.o.mu.Unlock()
	if len(undecided) == 0 {
		return nil, false
	}
	if b.random.IntN(2) == 0 {
		before := fmt.Sprint(objects)
		e := b.run("", 0, "up", "--yes", "--non-interactive", "--skip-preview")
		for b.tooEarly(e) {
			e = b.run("", 0, "up", "--yes", "--non-interactive", "--skip-preview")
		}
		now, _ := drawer.Objects(b.drawer)
		if e.code != 10 || fmt.Sprint(now) != before {
			b.o.fault(&b.o.recreated, "a run with pending creations ended with %d instead of stopping:\n%s", e.code, b.said)
		}
	}
	for _, op := range undecided {
		made := ""
		for _, o := range objects {
			if o.URN == string(op.Resource.URN) && !known[o.ID] && !b.orphans[o.ID] {
				made = o.ID
			}
		}
		switch {
		case !retry:
			flags = append(flags, "--settle-pending", string(op.Resource.URN)+"="+made)
		case made != "":
			b.orphans[made] = true
		}
	}
	b.o.mu.Lock()
	defer b.o.mu.Unlock()
	if retry {
		b.o.announced += len(undecided)
		return []string{"--settle-pending", "retry"}, true
	}
	b.o.decisions += len(undecided)
	return flags, false
}

// inspect compares the state with the existing objects after any run.
func (b *bench) inspect(moment string) bool {
	s, known, objects, err := b.view()
	if err != nil {
		b.o.fault(&b.o.unreadable, "after %s: %v", moment, err)
		return false
	}
	pending := map[state.OperationKind]map[urn.URN]bool{state.Creating: {}, state.Updating: {}, state.Deleting: {}}
	for _, op := range s.Pending {
		pending[op.Kind][op.Resource.URN] = true
	}
	exists := map[string]bool{}
	for _, o := range objects {
		exists[o.ID] = true
		if !known[o.ID] && !b.orphans[o.ID] && !pending[state.Creating][urn.URN(o.URN)] {
			b.o.fault(&b.o.lost, "after %s: nobody knows of %s (%s); the run said:\n%s", moment, o.ID, o.URN, b.said)
			return false
		}
	}
	for _, r := range s.Resources {
		if r.Custom && !r.IsProvider() && !exists[r.ID] && !r.PendingReplacement && !pending[state.Deleting][r.URN] {
			b.o.fault(&b.o.ghosts, "after %s: %s (%s) is in the state and does not exist; the run said:\n%s", moment, r.ID,
				r.URN, b.said)
			return false
		}
	}
	return true
}

// final requires after a successful run that the objects match the program and that no lock or journal is left.
func (b *bench) final(operation string) {
	s, known, objects, err := b.view()
	if err != nil {
		b.o.fault(&b.o.unreadable, "settled: %v", err)
		return
	}
	count := map[string]int{}
	for _, o := range objects {
		if b.orphans[o.ID] {
			continue
		}
		name := urn.URN(o.URN).Name()
		if count[name]++; count[name] > 1 || !known[o.ID] {
			b.o.fault(&b.o.recreated, "settled: %s is there besides another, or unknown:\n%s", o.ID, b.said)
		}
	}
	want := len(b.items)
	if operation == "destroy" {
		want = 0
	}
	if len(count) != want || len(s.Pending) > 0 {
		b.o.fault(&b.o.manual, "settled: %d objects instead of %d, %d operations pending:\n%s", len(count), want,
			len(s.Pending), b.said)
	}
	if b.store != nil {
		for _, key := range b.store.left() {
			b.o.fault(&b.o.litter, "settled: %s is left over", key)
		}
		return
	}
	_ = filepath.WalkDir(filepath.Join(b.dir, "state"), func(path string, d os.DirEntry, err error) error {
		name := filepath.ToSlash(path)
		if err == nil && !d.IsDir() && (strings.Contains(name, "-journal") && !strings.HasSuffix(name, ".torn") &&
			!strings.HasSuffix(name, ".damaged") || strings.Contains(name, "/locks/")) {
			b.o.fault(&b.o.litter, "settled: %s is left over", path)
		}
		return nil
	})
}
