//go:build linux && !lean

package kill

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/state"
)

var serviceTakeovers = flag.Int("service-takeovers", 2,
	"how many runs whose stack a service keeps to stop or kill while another machine takes over, for each protocol")

// on lets the following runs and looks be those of a machine, which keeps what it has.
func (b *bench) on(machine string) {
	home := filepath.Join(b.dir, "home-"+machine)
	installed := filepath.Join(home, "plugins", "resource-drawer-v1.0.0")
	if _, err := os.Stat(installed); err != nil {
		require.NoError(b.t, os.MkdirAll(installed, 0o700))
		require.NoError(b.t, os.Symlink(b.self, filepath.Join(installed, pluginName)))
	}
	b.environ = slices.DeleteFunc(b.environ, func(e string) bool {
		return strings.HasPrefix(e, machineKey+"=") || strings.HasPrefix(e, "PULUMI_HOME=")
	})
	b.environ = append(b.environ, machineKey+"="+machine, "PULUMI_HOME="+home, "PULUMI_STACK=dev")
	b.store.copies = filepath.Join(home, "yamlhost", "services")
}

// TestServiceTakeover stops or kills a run in its middle: between the acknowledgement of a step and the call of the
// provider, while the provider works, between its answer and the next message to the service. Another machine takes
// over after the lease has ended. Then the first run wakes up, which must change nothing any more, or its machine comes
// back. Nothing is lost or made twice, the state stays that of the other machine, and both machines go on.
func TestServiceTakeover(t *testing.T) { // D9, D14
	t.Parallel()
	for name, forget := range map[string][]string{"journal": nil, "checkpoints": {"journal"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &outcome{points: map[string]int{}}
			points := newKeptBench(t, newKeeper(t, forget...), &outcome{points: map[string]int{}}, *seed*1000+700, 0).moments(t)
			points = slices.DeleteFunc(points, func(name string) bool {
				return strings.Contains(name, " delete ") ||
					!strings.Contains(name, " call ") && !strings.HasPrefix(name, "plugin ")
			})
			require.Greater(t, len(points), 8, "named moments")
			order := rand.New(rand.NewPCG(*seed, 7))
			order.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
			stopped, lost, late := 0, 0, 0
			for n := 0; stopped < *serviceTakeovers; n++ {
				require.Less(t, n, 20**serviceTakeovers, "runs that reach their moment")
				b := newKeptBench(t, newKeeper(t, forget...), o, *seed*1000+uint64(800+n), 0)
				for i := range 5 {
					b.items[i] = item{fmt.Sprint("t", i), "k0"}
				}
				b.write()
				b.on("first")
				moment, wakes := points[n%len(points)], order.IntN(3) > 0
				parallel := 2
				if strings.HasPrefix(moment, "plugin ") {
					// The plugin stops the run wherever its other step is, also between the check of the lease and the
					// call that follows. No check can prevent that this call is made after the takeover.
					parallel = 1
				}
				pid, said := b.stopAt(t, moment, order.IntN(3), parallel)
				if pid == 0 {
					continue // the run does not pass this moment
				}
				stopped++
				if !wakes {
					require.NoError(t, syscall.Kill(-pid, syscall.SIGKILL))
					wait(t, pid, 0)
				}

				b.idle()

				b.on("second")
				for i := range 3 {
					b.items[i] = item{fmt.Sprint("u", i), "k0"}
				}
				b.write()
				b.until(func() bool { // until the lease has ended
					flags, _ := b.settlingFlags(false)
					e := b.run("", 0, append([]string{"up", "--yes", "--skip-preview", "--non-interactive"}, flags...)...)
					require.True(t, e.code == 0 || b.tooEarly(e), "%s: %s", moment, b.said)
					return e.code == 0
				})
				second := b.said
				before, _, objects, err := b.view()
				require.NoError(t, err)
				successful := false
				require.True(t, b.inspect(moment), b.o.faults)
				if wakes {
					require.NoError(t, syscall.Kill(pid, syscall.SIGCONT))
					if successful = wait(t, pid, 0).ExitStatus() == 0; !successful {
						require.Regexp(t, `the (lock|lease) on the stack|has ended|cannot lock the stack`, said(), moment)
						lost++
					}
				}
				after, _, now, err := b.view()
				require.NoError(t, err)
				kept := reflect.DeepEqual(resourcesOf(before), resourcesOf(after))
				switch {
				case !successful:
					require.True(t, kept, "%s: the state is no longer that of the other run:\n%s", moment, said())
				case kept: // it had ended before
					require.NotContains(t, second, "created", "%s: the run did not lose the stack, but its work:\n%s", moment, said())
				default: // it had not begun
					require.Contains(t, said(), "updated", moment)
				}
				if !successful && !strings.HasPrefix(moment, "plugin ") {
					late += len(now) - len(objects)
				}
				b.said = said()
				require.True(t, b.inspect(moment), b.o.faults)
				b.on("first")
				b.items[4] = item{"w", "k0"}
				b.write()
				flags, _ := b.settlingFlags(false)
				e := b.run("", 0, append([]string{"up", "--yes", "--skip-preview", "--non-interactive"}, flags...)...)
				require.Equal(t, 0, e.code, "%s: %s", moment, b.said)
				b.final("up")
				require.Empty(t, b.o.faults, moment)
			}
			t.Logf("%d runs were stopped or killed; %d of them woke up and said that another run has the stack; objects that "+
				"they made after that: %d", stopped, lost, late)
			require.Zero(t, late)
			require.Empty(t, o.faults)
		})
	}
}

// idle waits until the plugin of a stopped run has done what it was asked for.
func (b *bench) idle() {
	const quiet = 20 // looks without a change, for requests that the plugin has not begun
	last, same := "", 0
	b.until(func() bool {
		text, _ := os.ReadFile(filepath.Join(b.drawer, "log"))
		begun := 0
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "begin-") {
				begun++
			} else {
				begun--
			}
		}
		if same++; string(text) != last || begun > 0 {
			last, same = string(text), 0
		}
		return same > quiet
	})
}

// resourcesOf lists the resources of a state with their IDs and titles.
func resourcesOf(s *state.Snapshot) (all []string) {
	for _, r := range s.Resources {
		all = append(all, fmt.Sprint(r.URN, r.ID, r.Inputs))
	}
	return all
}
