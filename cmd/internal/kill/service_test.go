//go:build linux && !lean

package kill

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/serviceapi"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/backend/service"
	"github.com/yamlhost/yamlhost/test/service/host"
)

var (
	serviceKills   = flag.Int("service-kills", 4, "how many kills of runs whose stack a service keeps, for each protocol")
	serviceBounces = flag.Int("service-bounces", 1, "how many kills of the service meanwhile, at least, for each protocol")
)

// keeper is a service in a separate process that tests can kill.
type keeper struct {
	server
	token string
}

func newKeeper(t *testing.T, forget ...string) *keeper {
	t.Helper()
	k := &keeper{}
	k.init(t, func() *exec.Cmd {
		self, err := os.Executable()
		require.NoError(t, err)
		cmd := exec.Command(self, append([]string{k.dir, k.address}, forget...)...)
		cmd.Env, cmd.Stderr = []string{roleKey + "=keeper"}, os.Stderr
		return cmd
	})
	h, err := host.Open(k.dir)
	require.NoError(t, err)
	k.token = h.Token()
	k.start()
	t.Cleanup(k.stop)
	return k
}

func (k *keeper) url() string { return "http://" + k.address }

// open opens the service for the test's own reads.
func (k *keeper) open(rawURL string) (backend.Service, error) {
	return service.Open(rawURL, service.Options{Options: serviceapi.Options{
		Token: func() (string, error) { return k.token, nil }, Pause: time.Second}})
}

// newKeptBench returns a bench with its stack in the service k. After a kill the machine is lost with probability
// 1/lose; 0 means never.
func newKeptBench(t *testing.T, k *keeper, o *outcome, seed uint64, lose int) *bench {
	b := newBenchAt(t, o, seed, k.url())
	copies := filepath.Join(b.dir, "home", "yamlhost", "services")
	b.environ = append(b.environ, "PULUMI_ACCESS_TOKEN="+k.token)
	b.store = &pail{url: k.url(), service: k.open, copies: copies, left: func() (left []string) {
		_ = filepath.WalkDir(copies, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && (strings.Contains(path, "/locks/") || strings.Contains(path, "/stacks/")) &&
				!strings.HasSuffix(path, ".torn") {
				left = append(left, path)
			}
			return nil
		})
		return left
	}}
	machine := 0
	b.store.lose = func() bool {
		if lose == 0 || b.random.IntN(lose) != 0 {
			return false
		}
		machine++
		b.moveTo(fmt.Sprint("machine", machine))
		return true
	}
	b.begin()
	return b
}

// TestServiceKill is TestKill with the stack in a service. Runs are killed, machines are lost, and the service is
// killed in the middle of runs.
func TestServiceKill(t *testing.T) { // D9
	t.Parallel()
	for name, forget := range map[string][]string{"journal": nil, "checkpoints": {"journal"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			o := &outcome{points: map[string]int{}}
			k := newKeeper(t, forget...)
			points := newKeptBench(t, newKeeper(t, forget...), &outcome{points: map[string]int{}}, *seed*1000+600, 0).moments(t)
			require.Greater(t, len(points), 40, "named moments")
			order := rand.New(rand.NewPCG(*seed, 3))
			order.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
			done := make(chan struct{})
			var away sync.WaitGroup
			bounces := 0
			away.Go(func() {
				for random := rand.New(rand.NewPCG(*seed, 4)); ; bounces++ {
					select {
					case <-done:
						return
					case <-time.After(time.Duration(500+random.IntN(4000)) * time.Millisecond):
					}
					k.stop()
					time.Sleep(time.Duration(random.IntN(600)) * time.Millisecond)
					k.start()
				}
			})
			b := newKeptBench(t, k, o, *seed*1000+601, 5)
			for n := 0; o.fewer(*serviceKills) || o.fewer(1<<30) && bounces < *serviceBounces; n++ {
				b.round(points[n%len(points)])
			}
			close(done)
			away.Wait()

			t.Logf("kills %d at %d named moments and at random ones, runs %d; machines lost %d, the service was killed %d "+
				"times; %v in all", o.kills, len(points), o.runs, o.machines, bounces, time.Since(began).Round(time.Second))
			t.Logf("runs that came before the lease had run out, and were only repeated: %d", o.waits)
			o.report(t)
		})
	}
}
