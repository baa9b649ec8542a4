package editor_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
)

// offered returns the labels of the completions at a mark.
func offered(t *testing.T, s *editor.Session, text, mark string) []string {
	t.Helper()
	i := strings.Index(text, mark)
	require.GreaterOrEqual(t, i, 0)
	found, err := editor.Complete(t.Context(), s.Snapshot(), file, i+len(mark))
	require.NoError(t, err)
	var labels []string
	for _, item := range found.Items {
		labels = append(labels, item.Label)
	}
	return labels
}

// TestCompletionComesBeforeTheCheck completes after edits that have not been checked. The completions must reflect the
// current text.
func TestCompletionComesBeforeTheCheck(t *testing.T) {
	t.Parallel()
	text := "variables:\n  one: 1\nresources:\n  a:\n    type: random:RandomPet\n    properties:\n      prefix: " +
		"x\noutputs:\n  o: ${one}\n"
	s := editor.NewSession(newOpener())
	s.Open(file, text)
	_, err := editor.Diagnostics(t.Context(), s.Snapshot(), file)
	require.NoError(t, err)
	edit := func(old, replacement string) {
		i := strings.Index(text, old)
		text = text[:i] + replacement + text[i+len(old):]
		s.Edit(file, parser.Edit{Start: i, End: i + len(old), Text: replacement})
	}
	edit("  one: 1\n", "  one: 1\n  two: 2\n")
	edit("  o: ${one}", "  o: ${")
	labels := offered(t, s, text, "  o: ${")
	require.Contains(t, labels, "one")
	require.Contains(t, labels, "two")
	require.Contains(t, labels, "a")
	edit("random:RandomPet", "random:RandomInteger")
	edit("      prefix: x\n", "      m\n")
	labels = offered(t, s, text, "      m")
	require.Contains(t, labels, "max")
	require.NotContains(t, labels, "prefix")
}

// TestEditsDoNotWaitForChecks edits a text while a check is blocked.
func TestEditsDoNotWaitForChecks(t *testing.T) {
	t.Parallel()
	opener := &slowOpener{Opener: newOpener(), inside: make(chan struct{}), leave: make(chan struct{})}
	s := editor.NewSession(opener)
	s.Open(file, "variables: {a: 1}\n")
	before := s.Snapshot()
	done := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := before.Program(ctx, file)
		done <- err
	}()
	<-opener.inside
	s.Edit(file, parser.Edit{Start: 0, End: 0, Text: "# more\n"})
	require.NotSame(t, before, s.Snapshot())
	cancel()
	close(opener.leave)
	require.ErrorIs(t, <-done, context.Canceled)
}

// slowOpener closes inside when Open is called, and blocks until leave is closed.
type slowOpener struct {
	editor.Opener
	inside, leave chan struct{}
}

func (o *slowOpener) Open(ctx context.Context, path string, open func(path string) *parser.Document) (*editor.Project,
	error) {
	close(o.inside)
	<-o.leave
	return o.Opener.Open(ctx, path, open)
}

// rememberingOpener opens programs that keep a reference to the open texts, as real projects do.
type rememberingOpener struct{ opener }

func (o rememberingOpener) Open(ctx context.Context, path string, open func(path string) *parser.Document) (
	*editor.Project, error) {
	p, err := o.opener.Open(ctx, path, open)
	p.Join = func(found diag.Diagnostics) diag.Diagnostics {
		_ = open(path)
		return found
	}
	return p, err
}

// TestOldSnapshotsAreLetGo edits and checks many times. Old snapshots must be garbage collected.
func TestOldSnapshotsAreLetGo(t *testing.T) {
	t.Parallel()
	s := editor.NewSession(rememberingOpener{newOpener()})
	s.Open(file, "variables:\n  a: 1\n  b: ${a}\n")
	var old []weak.Pointer[editor.Snapshot]
	for range 20 {
		snapshot := s.Snapshot()
		_, err := editor.Diagnostics(t.Context(), snapshot, file)
		require.NoError(t, err)
		old = append(old, weak.Make(snapshot))
		s.Edit(file, parser.Edit{Start: 0, End: 0, Text: "# more\n"})
	}
	for range 5 {
		runtime.GC()
	}
	kept := 0
	for _, p := range old {
		if p.Value() != nil {
			kept++
		}
	}
	require.LessOrEqual(t, kept, 2)
	runtime.KeepAlive(s)
}
