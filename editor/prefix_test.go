package editor_test

import (
	"flag"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/parser"
)

var everywhere = flag.Bool("everywhere", false,
	"ask at every prefix and every deletion of one character, not at a sample")

// somePrograms are 50 programs of the archives.
func somePrograms(t *testing.T) []string {
	t.Helper()
	var texts []string
	paths, err := filepath.Glob("../eval/testdata/*/*.txtar")
	require.NoError(t, err)
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		require.NoError(t, err)
		for _, f := range archive.Files {
			if n := len(f.Data); strings.HasSuffix(f.Name, ".yaml") && n > 200 && n < 3000 {
				texts = append(texts, string(f.Data))
			}
		}
	}
	random := rand.New(rand.NewPCG(1, 3))
	random.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	require.Greater(t, len(texts), 50)
	return texts[:50]
}

// TestHalfTypedProgramsAreAnswered asks everything of the prefixes of programs, and of programs without one character,
// at the place of the edit: there is an answer each time, and its places are in the text.
func TestHalfTypedProgramsAreAnswered(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 4))
	for _, text := range somePrograms(t) {
		session := editor.NewSession(newOpener())
		session.Open(file, text)
		edited := func(e parser.Edit) {
			before := session.Snapshot().Text(file).Source().Text()
			session.Edit(file, parser.Edit{End: len(before), Text: text})
			session.Edit(file, e)
			askEverything(t, session.Snapshot(), e.Start)
		}
		for at := range len(text) {
			if *everywhere || random.IntN(len(text)) < 3 {
				edited(parser.Edit{Start: at, End: len(text)})
			}
			if *everywhere || random.IntN(len(text)) < 3 {
				edited(parser.Edit{Start: at, End: at + 1})
			}
		}
	}
}

func askEverything(t *testing.T, s *editor.Snapshot, at int) {
	t.Helper()
	ctx, size := t.Context(), len(s.Text(file).Source().Text())
	c, err := editor.Complete(ctx, s, file, at) // before the check
	require.NoError(t, err)
	require.LessOrEqual(t, c.Start, c.End)
	require.LessOrEqual(t, c.End, size)
	found, err := editor.Diagnostics(ctx, s, file)
	require.NoError(t, err)
	for _, d := range found[file] {
		require.LessOrEqual(t, int(d.Subject.End), size)
	}
	_, err = editor.Complete(ctx, s, file, at)
	require.NoError(t, err)
	tokens, err := editor.Tokens(ctx, s, file, 0, size)
	require.NoError(t, err)
	for i, token := range tokens {
		require.LessOrEqual(t, int(token.At.End), size)
		require.False(t, i > 0 && tokens[i-1].At.End > token.At.Start, "tokens overlap")
	}
	for name, ask := range map[string]func() error{
		"hover":      func() error { _, err := editor.HoverAt(ctx, s, file, at); return err },
		"definition": func() error { _, err := editor.Definition(ctx, s, file, at); return err },
		"references": func() error { _, err := editor.References(ctx, s, file, at, true); return err },
		"symbols":    func() error { _, err := editor.Symbols(ctx, s, file); return err },
		"selection":  func() error { _, err := editor.Selection(ctx, s, file, at); return err },
		"hints":      func() error { _, err := editor.Hints(ctx, s, file, 0, size); return err },
		"links":      func() error { _, err := editor.Links(ctx, s, file); return err },
		"linked":     func() error { _, err := editor.Linked(ctx, s, file, at); return err },
		"fixes":      func() error { _, err := editor.Fixes(ctx, s, file, 0, size); return err },
		"actions":    func() error { _, err := editor.Actions(ctx, s, file, at, at); return err },
		"signature":  func() error { editor.SignatureAt(s, file, at); return nil },
		"folds":      func() error { editor.Folds(s, file); return nil },
		"rename":     func() error { editor.Renamable(ctx, s, file, at); return nil },
	} {
		require.NoError(t, ask(), name)
	}
}
