//go:build linux && !lean

package kill

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/backend/bucket"
	"github.com/yamlhost/yamlhost/tools/bench/drawer"
)

var (
	gatewayPath = flag.String("gateway", "", "the program versitygw, a server of S3 over a folder")
	storeKills  = flag.Int("store-kills", 40, "how many kills on a store")
	storeRaces  = flag.Int("store-races", 1000, "how many races on a store")
	storeStops  = flag.Int("store-stops", 12, "how many runs on a store to stop at a named moment, cancel and wake up")
	storePauses = flag.Int("store-pauses", 20, "how many runs to stop and let go on")
)

// testLease is the lease duration in these tests.
const testLease = "1s"

// storeServer is a server of object stores in a separate process that can become unavailable.
type storeServer interface {
	url(prefix string) string // returns the URL of a separate store
	environ() map[string]string
	open(rawURL string) (backend.Objects, error)
	read(prefix, key string) []byte   // returns an object's content; nil if it does not exist
	unsettled(prefix string) []string // returns locks and incomplete journals
	bounce(away time.Duration, n int) // makes the server unavailable for a while; n counts the calls
}

// gateway is an S3 server in a separate process that tests can kill.
type gateway struct{ server }

func newGateway(t *testing.T) *gateway {
	t.Helper()
	if *gatewayPath == "" {
		t.Skip("needs a server of S3: make store-test builds one and says where")
	}
	g := &gateway{}
	g.init(t, g.commandLine)
	require.NoError(t, os.Mkdir(filepath.Join(g.dir, "pail"), 0o700))
	for name, value := range g.environ() {
		t.Setenv(name, value)
	}
	g.start()
	t.Cleanup(g.stop)
	return g
}

func (g *gateway) environ() map[string]string {
	return map[string]string{"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secretsecret",
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null"}
}

// commandLine returns the command that starts the server.
func (g *gateway) commandLine() *exec.Cmd {
	cmd := exec.Command(*gatewayPath, "--port", g.address, "posix", g.dir)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY=key", "ROOT_SECRET_KEY=secretsecret")
	return cmd
}

// bounce kills the server and restarts it after a while.
func (g *gateway) bounce(away time.Duration, _ int) {
	g.stop()
	time.Sleep(away)
	g.start()
}

func (g *gateway) url(prefix string) string {
	return "s3://pail/" + prefix + "?region=us-east-1&use_path_style=true&disable_https=true&endpoint=http://" + g.address
}

func (g *gateway) open(rawURL string) (backend.Objects, error) {
	return bucket.Open(context.Background(), rawURL, os.LookupEnv)
}

// newStoreBench returns a bench with its state in a store. After a kill the machine is lost with probability 1/lose;
// 0 means never.
func newStoreBench(t *testing.T, g storeServer, o *outcome, seed uint64, lose int) *bench {
	prefix := fmt.Sprint("b", seed)
	b := newBenchAt(t, o, seed, g.url(prefix))
	for name, value := range g.environ() {
		b.environ = append(b.environ, name+"="+value)
	}
	b.environ = append(b.environ, leaseKey+"="+testLease)
	machine := 0
	b.store = &pail{url: g.url(prefix), prefix: prefix, open: g.open, left: func() []string { return g.unsettled(prefix) },
		lose: func() bool {
			if lose == 0 || b.random.IntN(lose) != 0 {
				return false
			}
			machine++
			b.moveTo(fmt.Sprint("machine", machine))
			return true
		}}
	b.begin()
	return b
}

// moveTo moves the bench to a new machine. It keeps only the project, the URL of the state and the provider's objects.
func (b *bench) moveTo(name string) {
	home := filepath.Join(b.dir, "home")
	require.NoError(b.t, os.RemoveAll(home))
	installed := filepath.Join(home, "plugins", "resource-drawer-v1.0.0")
	require.NoError(b.t, os.MkdirAll(installed, 0o700))
	require.NoError(b.t, os.Symlink(b.self, filepath.Join(installed, pluginName)))
	project := filepath.Join(b.dir, "project-"+name)
	require.NoError(b.t, os.Rename(b.project(), project))
	b.place = project
	b.environ = slices.DeleteFunc(b.environ, func(e string) bool { return strings.HasPrefix(e, machineKey+"=") })
	b.environ = append(b.environ, machineKey+"="+name, "PULUMI_STACK=dev")
}

// unsettled returns the remaining locks and incomplete journals. The fence against a lost run may remain.
func (g *gateway) unsettled(prefix string) (left []string) {
	last := map[string]string{}
	_ = filepath.WalkDir(filepath.Join(g.dir, "pail", prefix), func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
		case strings.Contains(path, "/locks/"):
			left = append(left, path)
		case strings.Contains(path, "/journal/"):
			last[filepath.Dir(path)] = path
		}
		return nil
	})
	for _, path := range last {
		if text, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(text, []byte("yhsettled")) {
			left = append(left, path)
		}
	}
	return left
}

// TestStoreKill is TestKill on a store. Runs are killed, machines are lost, and the server is killed in the middle of
// runs.
func TestStoreKill(t *testing.T) { // D9
	storeKill(t, newGateway(t), *storeKills, 0)
}

// cutter is a server that can cut connections without a restart.
type cutter interface {
	// cut cuts all connections and reports whether one belonged to a run in the middle of an operation.
	cut() bool
}

// storeKill kills the given number of runs. On a cutter it also cuts connections until the given number of cuts has hit
// runs in the middle of an operation.
func storeKill(t *testing.T, g storeServer, kills, cuts int) {
	t.Helper()
	began := time.Now()
	o := &outcome{points: map[string]int{}}
	first := newStoreBench(t, g, &outcome{points: map[string]int{}}, *seed*1000+500, 0)
	points := first.moments(t)
	require.Greater(t, len(points), 20, "named moments")
	order := rand.New(rand.NewPCG(*seed, 3))
	order.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	done := make(chan struct{})
	var server sync.WaitGroup
	bounces := 0
	var tried, hit atomic.Int64 // all cuts, and those in the middle of an operation
	server.Go(func() {
		for random := rand.New(rand.NewPCG(*seed, 4)); ; {
			wait := time.Second + time.Duration(random.IntN(4000))*time.Millisecond
			if cuts > 0 {
				wait /= 4
			}
			select {
			case <-done:
				return
			case <-time.After(wait):
			}
			if c, ok := g.(cutter); ok && random.IntN(8) > 0 {
				tried.Add(1)
				if c.cut() {
					hit.Add(1)
				}
				continue
			}
			g.bounce(time.Duration(random.IntN(600))*time.Millisecond, bounces)
			bounces++
		}
	})
	var group sync.WaitGroup
	for w := range *workers {
		bench := newStoreBench(t, g, o, *seed*1000+uint64(w), 3)
		group.Go(func() {
			for n := w; o.fewer(kills) || hit.Load() < int64(cuts) && o.fewer(math.MaxInt); n += *workers {
				bench.round(points[n%len(points)])
			}
		})
	}
	group.Wait()
	close(done)
	server.Wait()

	slices.Sort(o.starts)
	t.Logf(
		"kills %d at %d named moments and at random ones, runs %d; machines lost %d, the server was taken away %d times",
		o.kills, len(points), o.runs, o.machines, bounces)
	t.Logf("connections cut %d times, %d of them in the middle of an operation; %v in all", tried.Load(), hit.Load(),
		time.Since(began).Round(time.Second))
	t.Logf("runs that came before the lease of a lost machine had run out, and were only repeated: %d", o.waits)
	if n := len(o.starts); n > 0 {
		t.Logf("start of the next run: median %v, 99%% %v, slowest %v", o.starts[n/2], o.starts[n*99/100], o.starts[n-1])
	}
	o.report(t)
}

// TestStoreRaces lets two machines lock the same stack at the same time. Exactly one succeeds (F6.9).
func TestStoreRaces(t *testing.T) {
	storeRaced(t, newGateway(t), *storeRaces)
}

func storeRaced(t *testing.T, g storeServer, races int) {
	t.Helper()
	open := func(machine string) *backend.Backend {
		b, err := backend.Open(g.url("races"), backend.Options{OpenObjects: g.open,
			Process: backend.Process{PID: 1, User: "u", Host: machine, Machine: machine,
				Alive: func(int, string) bool { return true }}})
		require.NoError(t, err)
		return b
	}
	ref := backend.Ref{Project: "kill", Stack: "dev"}
	rivals := []*backend.Backend{open("one"), open("two")}
	require.NoError(t, rivals[0].Create(t.Context(), ref, nil))
	var wins [2]int
	for n := range races {
		var won [2]*backend.Session
		var faults [2]error
		var group sync.WaitGroup
		for i, b := range rivals {
			group.Go(func() {
				won[i], faults[i] = b.Begin(context.Background(), ref, backend.BeginOptions{Command: "update"})
			})
		}
		group.Wait()
		winner := 0
		if won[0] == nil {
			winner = 1
		}
		require.NotNil(t, won[winner], "race %d has no winner: %v", n, faults)
		require.Nil(t, won[1-winner], "race %d has two winners", n)
		require.ErrorAs(t, faults[1-winner], new(*backend.LockedError))
		require.NoError(t, won[winner].Close())
		wins[winner]++
	}
	t.Logf("%d races, one winner each: %v", races, wins)
}

// TestStorePaused suspends a run at a random time, lets another machine take over after the lease has expired, and
// resumes the first run. That run cannot write and reports the lost lease (D9).
func TestStorePaused(t *testing.T) {
	storePaused(t, newGateway(t), *storePauses)
}

func storePaused(t *testing.T, g storeServer, pauses int) {
	t.Helper()
	o := &outcome{points: map[string]int{}}
	overtaken, late := 0, 0
	for n := range pauses {
		b := newStoreBench(t, g, o, *seed*1000+uint64(700+n), 0)
		for i := range 6 {
			b.items[i] = item{fmt.Sprint("t", i), "k0"}
		}
		b.write()
		a := exec.Command(b.self, "-C", b.project(), "up", "--yes", "--skip-preview", "--parallel", "2")
		a.Env = append(slices.Clone(b.environ), machineKey+"=asleep", delayKey+"=60")
		var said bytes.Buffer
		a.Stdout, a.Stderr = &said, &said
		a.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		require.NoError(t, a.Start())
		for range 1000 { // until the run holds the lease
			if bytes.Contains(g.read(b.store.prefix, ".pulumi/yamlhost/kill/dev/lease.json"), []byte(`"asleep"`)) {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Duration(b.random.IntN(400)) * time.Millisecond)
		require.NoError(t, syscall.Kill(a.Process.Pid, syscall.SIGSTOP))
		time.Sleep(2200 * time.Millisecond) // until the lease expires; stores round times to seconds

		flags, _ := b.settlingFlags(false)
		b.environ = append(b.environ, machineKey+"=awake")
		up := append([]string{"up", "--yes", "--skip-preview"}, flags...)
		e := b.run("", 0, up...)
		for b.tooEarly(e) {
			e = b.run("", 0, up...)
		}
		require.Equal(t, 0, e.code, b.said)
		before := storedState(t, g, b)
		objects, err := drawer.Objects(b.drawer)
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(a.Process.Pid, syscall.SIGCONT))
		err = a.Wait()
		require.Equal(t, before, storedState(t, g, b),
			"the state is what the other run has left; the one that was stopped said:\n%s", said.String())
		if err != nil {
			require.Contains(t, said.String(), "the lease on the stack", "run %d", n)
			overtaken++
		}
		now, err := drawer.Objects(b.drawer)
		require.NoError(t, err)
		// Calls that were recorded before the stop and made after it; no lock can prevent them.
		late += len(now) - len(objects)
		require.LessOrEqual(t, len(now)-len(objects), 2)
		require.Empty(t, g.unsettled(b.store.prefix))
	}
	require.Greater(t, overtaken, pauses/3)
	t.Logf(
		"%d runs stopped, %d of them before they had ended: none wrote anything after another had taken over; calls of the "+
			"provider that were already on their way: %d",
		pauses, overtaken, late)
	require.Empty(t, o.faults)
}

// TestStoreStopped is TestStopped on a store.
func TestStoreStopped(t *testing.T) { storeStopped(t, newGateway(t), *storeStops) } // D14

func storeStopped(t *testing.T, g storeServer, stops int) {
	t.Helper()
	o := &outcome{points: map[string]int{}}
	points := newStoreBench(t, g, &outcome{points: map[string]int{}}, *seed*1000+501, 0).moments(t)
	points = slices.DeleteFunc(points, func(name string) bool { return strings.Contains(name, " delete ") })
	order := rand.New(rand.NewPCG(*seed, 5))
	order.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	stopped(t, points, stops, func(n int) *bench { return newStoreBench(t, g, o, *seed*1000+uint64(2000+n), 0) })
}

func (g *gateway) read(prefix, key string) []byte {
	text, _ := os.ReadFile(filepath.Join(g.dir, "pail", prefix, filepath.FromSlash(key)))
	return text
}

func storedState(t *testing.T, g storeServer, b *bench) string {
	t.Helper()
	text := g.read(b.store.prefix, ".pulumi/stacks/kill/dev.json")
	require.NotEmpty(t, text)
	return string(text)
}
