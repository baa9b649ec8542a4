package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// screenText is a terminal that tests can read while a command writes to it.
type screenText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screenText) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screenText) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// TestWatch changes a program during watch. Each change is planned, a mistake is shown below the last sound plan, and
// with --apply sound plans are applied.
func TestWatch(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	require.Zero(t, x.run("stack", "init", "dev"), x.err.String())
	shown := &screenText{}
	streams := x.streams
	streams.Out, streams.Err, streams.OutTerminal = shown, shown, true
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	code := -1
	watching.Go(func() { code = Run(ctx, []string{"watch", "--apply"}, streams, x.world) })
	after := func(count int, want string) string {
		t.Helper()
		require.Eventually(t, func() bool { return strings.Count(shown.String(), "Waiting for changes") >= count },
			time.Minute, 10*time.Millisecond, "%s", shown)
		last := strings.Split(shown.String(), "\x1b[H\x1b[2J\x1b[3J")
		require.Contains(t, last[len(last)-1], want)
		return last[len(last)-1]
	}
	write := func(text string) {
		path := filepath.Join(x.world.Dir, "Pulumi.yaml")
		require.NoError(t, os.WriteFile(path+".new", []byte(text), 0o644))
		require.NoError(t, os.Rename(path+".new", path))
	}
	applied := func(want string) {
		t.Helper()
		require.Eventually(t, func() bool { return strings.Contains(shown.String(), want) }, time.Minute, 10*time.Millisecond,
			"%s", shown)
	}
	after(1, "pet")
	applied("2 created")
	write(onePet + "  other: {type: random:RandomPat}\n")
	broken := after(2, "RandomPat")
	require.Less(t, strings.Index(broken, "random:RandomPet"), strings.Index(broken, "random:RandomPat"), broken)
	require.Contains(t, broken, "Not planned after a change of Pulumi.yaml")
	write(onePet + "  other: {type: random:RandomPet}\n")
	after(3, "other")
	applied("1 created")
	cancel()
	watching.Wait()
	require.Zero(t, code)
}

// test --watch runs the cases after each change, and continues after a failure and after a malformed file.
func TestTestsAreWatched(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, "name: one\nruntime: yaml\noutputs: {size: 1}\n")
	write := func(name, text string) {
		path := filepath.Join(x.world.Dir, name)
		require.NoError(t, os.WriteFile(path+".new", []byte(text), 0o644))
		require.NoError(t, os.Rename(path+".new", path))
	}
	write("one.test.yaml", "cases: {a: {expect: {outputs: {size: 1}}}}\n")
	require.NotZero(t, x.run("test", "--watch", "--update"))
	shown := &screenText{}
	streams := x.streams
	streams.Out, streams.Err = shown, shown
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	code := -1
	watching.Go(func() { code = Run(ctx, []string{"test", "--watch"}, streams, x.world) })
	for i, turn := range []struct{ file, text, want string }{
		{"", "", "1 case, 0 failed"},
		{"Pulumi.yaml", "name: one\nruntime: yaml\noutputs: {size: 2}\n", "1 case, 1 failed"},
		{"one.test.yaml", "cases: [\n", "error[Y101]"},
		{"one.test.yaml", "cases: {a: {expect: {outputs: {size: 2}}}}\n", "1 case, 0 failed"},
	} {
		if turn.file != "" {
			write(turn.file, turn.text)
		}
		require.Eventually(t, func() bool { return strings.Count(shown.String(), "Waiting for changes") > i }, time.Minute,
			10*time.Millisecond, "%s", shown)
		turns := strings.Split(shown.String(), "Waiting for changes")
		require.Contains(t, turns[i], turn.want)
	}
	cancel()
	watching.Wait()
	require.Zero(t, code)
}
