//go:build linux

package kill

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

var stops = flag.Int("stops", 10, "how many runs to stop, cancel and wake up")

// TestStopped suspends a run at a named moment: before or after a check of the lock, a write or a provider call. It
// cancels the run, starts another one and resumes the first, which must not lose, repeat or overwrite anything (D14).
func TestStopped(t *testing.T) {
	t.Parallel()
	o := &outcome{points: map[string]int{}}
	points := slices.DeleteFunc(namedMoments(t), func(name string) bool { return strings.Contains(name, " delete ") })
	order := rand.New(rand.NewPCG(*seed, 5))
	order.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	stopped(t, points, *stops, func(n int) *bench { return newBench(t, o, *seed*1000+uint64(900+n)) })
}

// stopAt begins an update, with so many steps at the same time, that stops at the moment when it has come there n times.
// It returns the ID of the process, which leads a group, and what it prints; the ID is 0 if the update has succeeded
// without coming there.
func (b *bench) stopAt(t *testing.T, moment string, n, parallel int) (pid int, said func() string) {
	t.Helper()
	a := exec.Command(b.self, "-C", b.project(), "up", "--yes", "--skip-preview", "--parallel", fmt.Sprint(parallel))
	a.Env = append(slices.Clone(b.environ), doKey+"=stop", fmt.Sprintf("%s=%s:%d", pointKey, moment, n))
	output, err := os.Create(filepath.Join(b.dir, "said"))
	require.NoError(t, err)
	said = func() string { return testfile.Text(t, output.Name()) }
	a.Stdout, a.Stderr = output, output
	a.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, a.Start())
	// WUNTRACED also returns when the process is stopped; the process can be waited for again.
	if status := wait(t, a.Process.Pid, syscall.WUNTRACED); !status.Stopped() {
		require.Equal(t, 0, status.ExitStatus(), "%s: %s", moment, said())
		return 0, said
	}
	return a.Process.Pid, said
}

// wait waits for a process of this one.
func wait(t *testing.T, pid, options int) (status syscall.WaitStatus) {
	t.Helper()
	_, err := syscall.Wait4(pid, &status, options, nil)
	require.NoError(t, err)
	return status
}

// stopped is the body of TestStopped for n runs. Each run has its own bench and the next moment of points.
func stopped(t *testing.T, points []string, n int, newBench func(n int) *bench) {
	t.Helper()
	order := rand.New(rand.NewPCG(*seed, 6))
	told, held, heldUp := 0, 0, 0
	for n := range n {
		moment := points[n%len(points)]
		b := newBench(n)
		for i := range 4 {
			b.items[i] = item{"t", "k"}
		}
		b.write()
		pid, said := b.stopAt(t, moment, order.IntN(3), 2)
		if pid == 0 {
			continue // the run does not pass this moment
		}
		require.Equal(t, 0, b.run("", 0, "cancel", "--yes").code, b.said)
		had := !strings.Contains(b.said, "Nothing was canceled") && !strings.Contains(b.said, "(0 locks removed)")
		if had {
			held++
			require.Contains(t, b.said, "is suspended. If it resumes, it starts no further step and writes nothing "+
				"more.", moment)
		}
		e := b.run("", 0, "up", "--yes", "--skip-preview", "--non-interactive")
		switch {
		case e.code == 15 && strings.Contains(b.said, "and makes no progress. Let it go on with"):
			heldUp++
		case b.store != nil && e.code != 0 && strings.Contains(b.said, "runs out at"): // the lease has not expired
			for b.tooEarly(e) {
				e = b.run("", 0, "up", "--yes", "--skip-preview", "--non-interactive")
			}
			require.Contains(t, []int{0, 10}, e.code, "%s: %s", moment, b.said)
		default:
			require.Contains(t, []int{0, 10}, e.code, "%s: %s", moment, b.said)
		}
		require.True(t, b.inspect(moment), b.o.faults)
		require.NoError(t, syscall.Kill(pid, syscall.SIGCONT))
		status := wait(t, pid, 0)
		if had && status.ExitStatus() != 0 {
			require.Regexp(t, `the (lock|lease) on the stack "dev" was lost|cannot lock the stack`, said(), moment)
			told++
		}
		b.said = said()
		require.True(t, b.inspect(moment), b.o.faults)
		flags, _ := b.settlingFlags(false)
		require.Equal(t, 0, b.run("", 0, append([]string{"up", "--yes", "--skip-preview", "--non-interactive"},
			flags...)...).code, b.said)
		b.final("up")
		require.Empty(t, b.o.faults)
	}
	t.Logf(
		"runs stopped %d: %d held the lock, %d of them said that they had lost it, %d kept the next run waiting until they "+
			"were woken up", n, held, told, heldUp)
	require.NotZero(t, told)
}
