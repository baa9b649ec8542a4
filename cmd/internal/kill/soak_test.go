//go:build linux

package kill

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

var (
	minutes = flag.Float64("minutes", 0, "how long to soak; 0 for as many rounds as -rounds says")
	rounds  = flag.Int("rounds", 6, "how many rounds to soak without -minutes")
)

// misfortunes maps names to the events that may hit a stack in a round.
var misfortunes = map[string]func(*soak){
	"kill":        (*soak).kill,
	"interrupt":   (*soak).interrupt,
	"stop":        (*soak).stop,
	"cancel":      (*soak).cancel,
	"full disk":   (*soak).fullDisk,
	"flip":        (*soak).flip,
	"cut":         (*soak).cut,
	"concurrent":  (*soak).concurrent,
	"other words": (*soak).otherWords,
}

// soak is a bench for random misfortunes.
type soak struct {
	*bench
	points []string
	told   int // number of damages that were reported
}

// TestSoak hits several stacks with random kills, stops, interrupts, full disks, flipped bits, truncated files, cancels
// and concurrent runs. After each round it compares the state with the existing objects, at once and after an update
// that succeeds. It requires no object outside the state, no object created twice, no unreadable state, and no manual
// step that a message does not name.
func TestSoak(t *testing.T) {
	t.Parallel()
	o := &outcome{points: map[string]int{}}
	points := namedMoments(t)
	names := slices.Sorted(maps.Keys(misfortunes))
	var mu sync.Mutex // guards done (rounds by misfortune), told and n
	done, told, n := map[string]int{}, 0, 0
	end := time.Now().Add(time.Duration(*minutes * float64(time.Minute)))
	more := func() bool {
		mu.Lock()
		defer mu.Unlock()
		n++
		return o.fewer(1<<30) && (*minutes > 0 && time.Now().Before(end) || *minutes == 0 && n <= *rounds)
	}
	var group sync.WaitGroup
	for w := range *workers {
		s := &soak{bench: newBench(t, o, *seed*1000+uint64(500+w)), points: points}
		group.Go(func() {
			for first := w; more(); first += *workers {
				name := names[first%len(names)]
				if *minutes > 0 {
					name = names[s.random.IntN(len(names))]
				}
				before := s.told
				s.change()
				s.write()
				misfortunes[name](s)
				if s.inspect(name) && s.settle(name) {
					s.final("up")
				}
				mu.Lock()
				done[name]++
				told += s.told - before
				mu.Unlock()
			}
		})
	}
	group.Wait()
	t.Logf("rounds %v, runs %d, kills %d, damage told %d", done, o.runs, o.kills, told)
	t.Logf("manual steps %d, lost objects %d, ghosts %d, unreadable states %d, silent re-creations %d, litter %d",
		o.manual, o.lost, o.ghosts, o.unreadable, o.recreated, o.litter)
	require.Empty(t, o.faults)
}

// up returns the arguments of a non-interactive update.
func (s *soak) up() []string {
	return []string{"up", "--yes", "--non-interactive", "--skip-preview", "--parallel", "3"}
}

// settle repeats updates, and follows the instructions in their messages, until one succeeds.
func (s *soak) settle(after string) bool {
	for range 6 {
		flags, _ := s.settlingFlags(false)
		if e := s.run("", 0, append(s.up(), flags...)...); e.code == 0 {
			return true
		}
		if strings.Contains(s.said, "--accept-loss") {
			s.told++
			s.run("", 0, "refresh", "--yes")
		}
		if strings.Contains(s.said, "yamlhost state repair") {
			s.told++
			if e := s.run("", 0, "state", "repair", "--yes"); e.code != 0 {
				break
			}
		}
	}
	s.o.fault(&s.o.manual, "after %s: no way on was named that works:\n%s", after, s.said)
	return false
}

// start starts a run in the background. done waits for it and returns its output.
func (s *soak) start(environ []string, args ...string) (cmd *exec.Cmd, done func() string) {
	var out bytes.Buffer
	cmd = exec.Command(s.self, append([]string{"-C", s.project()}, args...)...)
	cmd.Env = append(slices.Clone(s.environ), environ...)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(s.t, cmd.Start())
	s.o.mu.Lock()
	s.o.runs++
	s.o.mu.Unlock()
	return cmd, func() string {
		timer := time.AfterFunc(time.Minute, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGQUIT) })
		defer timer.Stop()
		_ = cmd.Wait() // only the state afterwards matters
		return out.String()
	}
}

// sometime waits for a random part of the duration of a run.
func (s *soak) sometime() { time.Sleep(time.Duration(s.random.Int64N(int64(s.took) + 1))) }

// moment returns a moment to die at, or none and a time after which to be killed.
func (s *soak) moment() (string, time.Duration) {
	if s.random.IntN(2) == 0 {
		return "", time.Duration(s.random.Int64N(int64(s.took))) + time.Millisecond
	}
	return fmt.Sprintf("%s:%d", s.points[s.random.IntN(len(s.points))], s.random.IntN(3)), 0
}

func (s *soak) kill() {
	for range 1 + s.random.IntN(3) {
		point, after := s.moment()
		flags, _ := s.settlingFlags(false)
		s.run(point, after, append(s.up(), flags...)...)
	}
}

func (s *soak) interrupt() {
	cmd, done := s.start(nil, s.up()...)
	for range 1 + s.random.IntN(2) {
		s.sometime()
		_ = syscall.Kill(cmd.Process.Pid, []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}[s.random.IntN(2)])
	}
	s.said = done()
}

// stop suspends a run, cancels it, starts another run and resumes the first.
func (s *soak) stop() {
	cmd, done := s.start(nil, s.up()...)
	s.sometime()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGSTOP)
	s.run("", 0, "cancel", "--yes")
	s.run("", 0, s.up()...)
	s.inspect("a stop")
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGCONT)
	s.said = done()
}

func (s *soak) cancel() {
	_, done := s.start(nil, s.up()...)
	s.sometime()
	s.run("", 0, "cancel", "--yes")
	if s.random.IntN(2) == 0 {
		s.run("", 0, s.up()...)
	}
	s.said = done()
}

func (s *soak) fullDisk() {
	fails := []string{"write state", "rename state", "sync state", "write journal", "sync journal", "create journal",
		"create lock", "write history", "remove journal"}
	_, done := s.start([]string{failKey + "=" + fails[s.random.IntN(len(fails))]}, s.up()...)
	s.said = done()
	for _, path := range s.files("project/*.rescue-*.json") { // redundant, the journal has all changes
		_ = os.Remove(path)
	}
}

func (s *soak) files(pattern string) []string {
	paths, _ := filepath.Glob(filepath.Join(s.dir, pattern))
	return paths
}

// flip kills a run and flips a bit of its journal or of the state.
func (s *soak) flip() {
	point, after := s.moment()
	flags, _ := s.settlingFlags(false)
	s.run(point, after, append(s.up(), flags...)...)
	if !s.inspect("a kill") {
		return
	}
	paths := append(s.files("state/.pulumi/stacks/kill/*-journal"), s.files("state/.pulumi/stacks/kill/dev.json")...)
	path := paths[s.random.IntN(len(paths))]
	text := testfile.Bytes(s.t, path)
	bit := s.random.IntN(8 * len(text))
	text[bit/8] ^= 1 << (bit % 8)
	require.NoError(s.t, os.WriteFile(path, text, 0o600))
	said := ""
	if _, err := s.load(); err != nil {
		e := s.run("", 0, s.up()...)
		if said = s.said; e.code == 0 || !strings.Contains(said, "yamlhost state repair") {
			s.o.fault(&s.o.unreadable, "a flipped bit %d of %s is not a state (%v), and nothing was said of it:\n%s", bit, path,
				err, said)
			return
		}
		if e := s.run("", 0, "state", "repair", "--yes"); e.code != 0 {
			s.o.fault(&s.o.manual, "state repair did not put bit %d of %s right:\n%s", bit, path, s.said)
			return
		}
	} else {
		s.run("", 0, "state", "verify")
		said = s.said
	}
	if !strings.Contains(said, "flipped") {
		s.o.fault(&s.o.unreadable, "nothing was said of bit %d of %s:\n%s", bit, path, said)
	}
	s.told++
}

// cut truncates the state after a successful update.
func (s *soak) cut() {
	if !s.settle("anything") {
		return
	}
	path := filepath.Join(s.dir, "state/.pulumi/stacks/kill/dev.json")
	info, err := os.Stat(path)
	require.NoError(s.t, err)
	require.NoError(s.t, os.Truncate(path, s.random.Int64N(info.Size())))
	for _, words := range [][]string{{"preview"}, s.up()} {
		if e := s.run("", 0, words...); e.code == 0 || !strings.Contains(s.said, "yamlhost state repair") {
			s.o.fault(&s.o.unreadable, "a state that was cut is used:\n%s", s.said)
			return
		}
	}
	s.told++
	if e := s.run("", 0, "state", "repair", "--yes"); e.code != 0 {
		s.o.fault(&s.o.manual, "state repair put nothing back:\n%s", s.said)
	}
}

// concurrent starts three updates at the same time.
func (s *soak) concurrent() {
	var all []func() string
	for range 3 {
		_, done := s.start(nil, s.up()...)
		all = append(all, done)
	}
	for _, done := range all {
		s.said = done()
	}
}

// otherWords runs a random selection of other commands; destroy is one of them.
func (s *soak) otherWords() {
	for _, words := range [][]string{
		{"preview", "--non-interactive"}, {"refresh", "--yes", "--non-interactive", "--skip-preview"}, {"stack", "export"},
		{"destroy", "--yes", "--non-interactive", "--skip-preview"}, {"state", "verify"}, {"history"},
	} {
		if s.random.IntN(2) == 0 {
			point, after := s.moment()
			if s.random.IntN(3) > 0 {
				point, after = "", 0
			}
			s.run(point, after, words...)
			if !s.inspect(words[0]) {
				return
			}
		}
	}
}
