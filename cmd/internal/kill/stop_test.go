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
		a := exec.Command(b.self, "-C", b.project(), "up", "--yes", "--skip-preview", "--parallel", "2")
		a.Env = append(slices.Clone(b.environ), doKey+"=stop", fmt.Sprintf("%s=%s:%d", pointKey, moment, order.IntN(3)))
		output, err := os.Create(filepath.Join(b.dir, "said"))
		require.NoError(t, err)
		said := func() string {
			text, err := os.ReadFile(output.Name())
			require.NoError(t, err)
			return string(text)
		}
		a.Stdout, a.Stderr = output, output
		a.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		require.NoError(t, a.Start())
		// WUNTRACED also returns when the process is stopped; the process can be waited for again.
		var status syscall.WaitStatus
		_, err = syscall.Wait4(a.Process.Pid, &status, syscall.WUNTRACED, nil)
		require.NoError(t, err)
		if !status.Stopped() {
			require.Equal(t, 0, status.ExitStatus(), "%s: %s", moment, said())
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
		require.NoError(t, syscall.Kill(a.Process.Pid, syscall.SIGCONT))
		_, err = syscall.Wait4(a.Process.Pid, &status, 0, nil)
		require.NoError(t, err)
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
