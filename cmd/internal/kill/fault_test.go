//go:build linux

package kill

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/tools/bench/drawer"
)

// newFault returns a bench with a program of four items, none of them created yet. Two items depend on others.
func newFault(t *testing.T, environ ...string) *bench {
	b := newBench(t, &outcome{points: map[string]int{}}, 1)
	b.environ = append(b.environ, environ...)
	for i := range 4 {
		b.items[i] = item{"t", "k"}
	}
	b.write()
	return b
}

// signalWhen sends signals to the next run: the first once the drawer's log exists, each further one once the run has
// acknowledged the first. wait returns when all signals were sent.
func (b *bench) signalWhen(signals ...syscall.Signal) (wait func()) {
	var meddling sync.WaitGroup
	b.meddle = func(pid int) {
		meddling.Go(func() {
			b.until(func() bool {
				_, err := os.Stat(filepath.Join(b.drawer, "log"))
				return err == nil
			})
			for i, s := range signals {
				if i > 0 {
					b.heard("^C received; cancelling")
				}
				_ = syscall.Kill(pid, s)
			}
		})
	}
	return meddling.Wait
}

// giveUpOn interrupts the next run twice: when it prints the text waiting and when it acknowledges the first interrupt.
// It waits at most runPatience for each. wait returns once both were sent.
func (b *bench) giveUpOn(waiting string) (wait func()) {
	var meddling sync.WaitGroup
	b.meddle = func(pid int) {
		meddling.Go(func() {
			b.heard(waiting)
			_ = syscall.Kill(pid, syscall.SIGINT)
			b.heard("^C received; cancelling")
			_ = syscall.Kill(pid, syscall.SIGINT)
		})
	}
	return meddling.Wait
}

// nothingLeft requires that no process, lock or journal of the bench is left.
func (b *bench) nothingLeft(t *testing.T) {
	t.Helper()
	b.final("up")
	for _, f := range b.o.faults {
		require.NotContains(t, f, "left over")
	}
	require.Empty(t, b.children(), "processes of the plugin")
}

// childless requires that no process of the plugin is left after a command that may have exited without waiting for it,
// as after two interrupts on a busy machine: then the kernel kills the plugin, which takes a moment.
func (b *bench) childless(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return len(b.children()) == 0 }, time.Minute, 10*time.Millisecond,
		"processes of the plugin")
}

// children returns the IDs of the processes that have the bench's drawer in their environment.
func (b *bench) children() (pids []string) {
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), drawerKey+"="+b.drawer) {
			pids = append(pids, filepath.Base(filepath.Dir(path)))
		}
	}
	return pids
}

// One interrupt finishes the running steps and starts no new ones (E5.50). Two abort the run (E5.51).
func TestInterrupts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signals []syscall.Signal
		code    int
	}{
		"SIGINT once": {[]syscall.Signal{syscall.SIGINT}, 18}, "SIGTERM once": {[]syscall.Signal{syscall.SIGTERM}, 18},
		"SIGHUP once":    {[]syscall.Signal{syscall.SIGHUP}, 18},
		"SIGINT twice":   {[]syscall.Signal{syscall.SIGINT, syscall.SIGINT}, 8},
		"SIGHUP, SIGINT": {[]syscall.Signal{syscall.SIGHUP, syscall.SIGINT}, 8},
		"both":           {[]syscall.Signal{syscall.SIGINT, syscall.SIGTERM}, 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFault(t, delayKey+"=1500")
			sent := b.signalWhen(c.signals...)
			e := b.run("", 0, "up", "--yes", "--skip-preview", "--parallel", "2")
			sent()
			require.Equal(t, c.code, e.code, b.said)
			b.meddle = nil
			require.True(t, b.inspect(name), b.o.faults)
			s, _, objects, err := b.view()
			require.NoError(t, err)
			require.Less(t, len(objects), 4, "nothing new was started")
			if c.code == 18 {
				require.Empty(t, s.Pending)
				require.Empty(t, b.children())
			}
			b.childless(t)
			flags, _ := b.settlingFlags(false)
			require.Equal(t, 0, b.run("", 0, append([]string{"up", "--yes", "--skip-preview"}, flags...)...).code, b.said)
			b.nothingLeft(t)
			require.Empty(t, b.o.faults)
		})
	}
}

// A plugin that crashes in the middle of a change causes one clear error; nothing is lost or created twice (D10).
func TestPluginCrash(t *testing.T) {
	t.Parallel()
	for _, moment := range []string{"plugin create begun", "plugin create done", "plugin update begun",
		"plugin update done",
		"plugin delete begun", "plugin delete done"} {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			b := newFault(t, doKey+"=crash")
			if !strings.Contains(moment, "create") {
				require.Equal(t, 0, b.run("", 0, "up", "--yes", "--skip-preview").code, b.said)
				b.items = map[int]item{0: {"other", "k"}, 1: {"t", "k"}, 2: {"t", "k"}}
				b.write()
			}
			require.Equal(t, 14, b.run(moment+":0", 0, "up", "--yes", "--skip-preview").code, b.said)
			require.Contains(t, b.said, "drawer")
			require.Contains(t, b.said, "the drawer is on fire")
			require.True(t, b.inspect(moment), b.o.faults)
			flags, _ := b.settlingFlags(false)
			require.Equal(t, 0, b.run("", 0, append([]string{"up", "--yes", "--skip-preview"}, flags...)...).code, b.said)
			b.nothingLeft(t)
			require.Empty(t, b.o.faults)
		})
	}
}

// The watchdog names a plugin that freezes, and two interrupts end the run.
func TestPluginFreeze(t *testing.T) {
	t.Parallel()
	b := newFault(t, doKey+"=freeze")
	wait := b.giveUpOn("still waiting for the provider drawer to create the resource")
	require.Equal(t, 8, b.run("plugin create done:0", 0, "up", "--yes", "--skip-preview").code, b.said)
	wait()
	require.Contains(t, b.said, "still waiting for the provider drawer to create the resource")
	b.meddle = nil
	s, _, objects, err := b.view()
	require.NoError(t, err)
	require.NotEmpty(t, objects)
	require.NotEmpty(t, engine.Undecided(s))
	b.childless(t)
	require.True(t, b.inspect("freeze"), b.o.faults)
}

// When the state cannot be written, it is saved to a rescue file, and the next run recovers it from the journal.
func TestRescue(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fail     string
		code     int
		complete bool
		objects  int
	}{
		"the state cannot be written":   {"write state", 1, true, 4},
		"the state cannot be renamed":   {"rename state", 1, true, 4},
		"the folder cannot be synced":   {"syncdir state", 1, false, 0},
		"nothing more can be journaled": {"write journal,sync journal", 14, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFault(t)
			b.environ = append(b.environ, failKey+"="+c.fail)
			require.Equal(t, c.code, b.run("", 0, "up", "--yes", "--skip-preview").code, b.said)
			rescued := testfile.Match(t, filepath.Join(b.dir, "project", "*.rescue-*.json"))
			if c.objects > 0 {
				require.Len(t, rescued, 1, b.said)
				require.Contains(t, b.said, rescued[0])
				require.Equal(t, c.complete, strings.Contains(b.said, "Nothing is lost"))
			}
			objects, err := drawer.Objects(b.drawer)
			require.NoError(t, err)
			require.Len(t, objects, c.objects)
			require.True(t, b.inspect(name), b.o.faults)
			b.environ = b.environ[:len(b.environ)-1]
			require.Equal(t, 0, b.run("", 0, "up", "--yes", "--skip-preview").code, b.said)
			b.nothingLeft(t)
			require.Empty(t, b.o.faults)
		})
	}
}

// A run that cannot write to the state folder fails before it changes anything.
func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	b := newFault(t, failKey+"=create lock,mkdir lock,create journal,create state")
	require.Equal(t, 1, b.run("", 0, "up", "--yes", "--skip-preview").code, b.said)
	objects, err := drawer.Objects(b.drawer)
	require.NoError(t, err)
	require.Empty(t, objects)
	require.Contains(t, b.said, "lock the stack")
}
