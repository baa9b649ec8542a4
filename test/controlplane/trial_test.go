package controlplane

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// run is a running yamlhost.
type run struct {
	cmd   *exec.Cmd
	said  bytes.Buffer
	ended chan struct{}
}

func (s *sandbox) launch(args ...string) *run {
	r := &run{cmd: s.command(args...), ended: make(chan struct{})}
	r.cmd.Stdout, r.cmd.Stderr = &r.said, &r.said
	require.NoError(s.t, r.cmd.Start())
	go func() {
		_ = r.cmd.Wait() // wait returns the exit code
		close(r.ended)
	}()
	return r
}

// kill ends yamlhost, but not the provider.
func (r *run) kill() { _ = r.cmd.Process.Kill() }

// wait returns the exit code, or -1 for a killed process.
func (r *run) wait() int {
	<-r.ended
	return r.cmd.ProcessState.ExitCode()
}

// until waits until count config maps have the value, or the run has ended.
func (s *sandbox) until(r *run, value string, count int) {
	for {
		select {
		case <-r.ended:
			return
		case <-time.After(20 * time.Millisecond):
		}
		if s.maps(value) >= count {
			return
		}
	}
}

// maps returns the number of config maps with the value, or -1 while the API server cannot be reached.
func (s *sandbox) maps(value string) (n int) {
	code, list := s.get(folder("v1", "ConfigMap", s.namespace) + "?labelSelector=" + made)
	if code != http.StatusOK {
		return -1
	}
	for _, item := range list.at("items").([]any) {
		if object(item.(map[string]any)).at("data", "key") == value {
			n++
		}
	}
	return n
}

// killed kills our process in the middle of a run. The next run resolves the interrupted operations.
func killed(s *sandbox) {
	s.program(several(40, "value"))
	r := s.launch("run", "--stack", "dev")
	s.until(r, "value", 10)
	r.kill()
	require.Equal(s.t, -1, r.wait())
	if said, code := s.try("run", "--stack", "dev"); code != 0 {
		require.Equal(s.t, 10, code, said)
		require.Contains(s.t, said, "map-")
	}
	s.yamlhost(0, "run", "--stack", "dev", "--settle-pending", "read")
	require.Equal(s.t, 40, s.audit())
	s.settled()
}

// generation returns the program of a round of the trial: n objects without every tenth; every twentieth has another
// name than in the round before.
func generation(n, round int) (program string, count int) {
	var y strings.Builder
	y.WriteString("resources:\n")
	for i := range n {
		name := ""
		switch {
		case (i+round)%10 == 9:
			continue
		case i%20 == 0:
			name = fmt.Sprintf("own-%d-%d", i, round)
		case i%2 == 0:
			name = fmt.Sprintf("own-%d", i)
		}
		count++
		y.WriteString(configMap(fmt.Sprintf("map-%d", i), name, fmt.Sprint("round-", round)))
	}
	return y.String(), count
}

// TestTrial creates, changes, replaces and removes 300 objects while yamlhost and the API server are killed in turn, at
// random moments, five times each.
func TestTrial(t *testing.T) {
	s := newPlane(t).sandbox(t, "trial")
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 1))
	table := []string{"round  killed      after  exit  only in state  only on server  runs until done"}
	for round := range 10 {
		program, count := generation(300, round)
		s.program(program)
		value := fmt.Sprint("round-", round)
		after := 1 + random.IntN(count-1)
		r := s.launch("run", "--stack", "dev")
		s.until(r, value, after)
		victim := "yamlhost"
		if round%2 == 0 {
			r.kill()
		} else {
			victim = "API server"
			s.server.kill()
			time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
			s.serve()
		}
		code := r.wait()
		s.ready()
		stale, unknown := s.compare()
		again := 1
		for ; ; again++ {
			said, code := s.try("run", "--stack", "dev", "--settle-pending", "read")
			if code == 0 {
				break
			}
			require.Less(t, again, 4, "exit code %d: %s", code, said)
		}
		table = append(table, fmt.Sprintf("%5d  %-10s  %5d  %4d  %13d  %14d  %d", round+1, victim, after, code, len(stale), len(unknown),
			again))
		require.Equal(t, count, s.audit(), r.said.String())
		require.Equal(t, count, s.maps(value))
	}
	t.Logf("seed %d; in what the state file and the server differed right after the kill; in the end in nothing\n%s", seed,
		strings.Join(table, "\n"))
	s.settled()
	s.yamlhost(0, "destroy", "--yes", "--skip-preview")
	require.Zero(t, s.audit())
}

// TestThousand creates 1,000 objects, finds no change in a second run, and removes them.
func TestThousand(t *testing.T) {
	s := newPlane(t).sandbox(t, "thousand")
	s.program(several(1000, "value"))
	for _, args := range [][]string{{"run", "--stack", "dev"}, {"preview", "--expect-no-changes"}, {"drift", "--exit-code"},
		{"destroy", "--yes", "--skip-preview"}} {
		begin := time.Now()
		s.yamlhost(0, args...)
		n := s.audit()
		t.Logf("%s: %d objects, %v", args[0], n, time.Since(begin).Round(time.Second))
		require.Equal(t, map[bool]int{false: 1000, true: 0}[args[0] == "destroy"], n)
	}
}
