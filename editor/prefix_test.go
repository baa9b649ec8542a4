package editor_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/parser"
)

var everywhere = flag.Bool("everywhere", false,
	"ask at every prefix and every deletion of one character, not at a sample")

// somePrograms returns 50 programs of the archives.
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

// TestHalfTypedProgramsAreAnswered sends all requests about prefixes of programs, and about programs without one
// character, at the position of the edit. None may fail or return offsets outside of the text, and at most one in a
// hundred declarations elsewhere in the edited section may be lost.
func TestHalfTypedProgramsAreAnswered(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 4))
	for _, text := range somePrograms(t) {
		session := editor.NewSession(newOpener())
		session.Open(file, text)
		whole := declaredIn(t, session.Snapshot())
		document := session.Snapshot().Text(file)
		edited := func(e parser.Edit) {
			before := session.Snapshot().Text(file).Source().Text()
			session.Edit(file, parser.Edit{End: len(before), Text: text})
			session.Edit(file, e)
			askEverything(t, session.Snapshot(), e.Start)
			kept(t, document, whole, declaredIn(t, session.Snapshot()), e)
		}
		for i, r := range text {
			if *everywhere || random.IntN(len(text)) < 3 {
				edited(parser.Edit{Start: i, End: len(text)})
			}
			if *everywhere || random.IntN(len(text)) < 3 {
				edited(parser.Edit{Start: i, End: i + utf8.RuneLen(r)})
			}
		}
	}
	t.Logf("%d of %d declarations that stand elsewhere in the section of an edit are lost", lost.Load(), couldLose.Load())
	require.Less(t, lost.Load()*100, couldLose.Load(), "more than one in a hundred")
}

// declaredIn returns the start offsets of the declarations of a program by kind and name.
func declaredIn(t *testing.T, s *editor.Snapshot) map[string]int {
	t.Helper()
	found, err := editor.Symbols(t.Context(), s, file)
	require.NoError(t, err)
	declared := map[string]int{}
	for _, symbol := range found {
		declared[fmt.Sprint(symbol.Kind, " ", symbol.Name)] = int(symbol.At.Start)
	}
	return declared
}

// lost counts the declarations that disappeared because of an edit elsewhere, couldLose those that could have.
var lost, couldLose atomic.Int64

// kept compares the declarations before and after an edit. Only declarations in the edited section, or after a
// truncation, may disappear.
func kept(t *testing.T, before *parser.Document, whole, now map[string]int, e parser.Edit) {
	t.Helper()
	text := before.Source().Text()
	section := func(offset int) int { // the start of the last line without indentation
		for start := bytes.LastIndexByte(text[:offset], '\n') + 1; ; start = bytes.LastIndexByte(text[:start-1], '\n') + 1 {
			if c := text[start]; start == 0 || c != ' ' && c != '\n' && c != '#' && c != '-' && c != '\t' {
				return start
			}
		}
	}
	block := before.Block(e.Start)
	for name, i := range whole {
		if e.End == len(text) && e.End > e.Start+1 && i >= int(block.Start) {
			continue // it has been truncated
		}
		if int(block.Start) <= i && i < int(block.End) {
			continue
		}
		if head := section(i); head-1 <= e.Start && e.Start < bytes.IndexByte(text[head:], ':')+head+2 {
			continue // the key of its section is changed or joined to the line above
		}
		couldLose.Add(1)
		if _, ok := now[name]; !ok {
			lost.Add(1)
			if section(i) != section(e.Start) {
				t.Errorf("%s is lost by the edit %+v of\n%s", name, e, text)
			}
		}
	}
}

func askEverything(t *testing.T, s *editor.Snapshot, pos int) {
	t.Helper()
	ctx, size := t.Context(), len(s.Text(file).Source().Text())
	c, err := editor.Complete(ctx, s, file, pos) // before the check
	require.NoError(t, err)
	require.LessOrEqual(t, c.Start, c.End)
	require.LessOrEqual(t, c.End, size)
	found, err := editor.Diagnostics(ctx, s, file)
	require.NoError(t, err)
	for _, d := range found[file] {
		require.LessOrEqual(t, int(d.Subject.End), size)
	}
	_, err = editor.Complete(ctx, s, file, pos)
	require.NoError(t, err)
	tokens, err := tokensOf(ctx, s, file, 0, size)
	require.NoError(t, err)
	for i, token := range tokens {
		require.LessOrEqual(t, int(token.End), size)
		require.False(t, i > 0 && tokens[i-1].End > token.Start, "tokens overlap")
	}
	for name, ask := range map[string]func() error{
		"hover":      func() error { _, err := editor.HoverAt(ctx, s, file, pos); return err },
		"definition": func() error { _, err := editor.Definition(ctx, s, file, pos); return err },
		"references": func() error { _, err := editor.References(ctx, s, file, pos, true); return err },
		"symbols":    func() error { _, err := editor.Symbols(ctx, s, file); return err },
		"selection":  func() error { _, err := editor.Selection(ctx, s, file, pos); return err },
		"hints":      func() error { _, err := editor.Hints(ctx, s, file, 0, size); return err },
		"links":      func() error { _, err := editor.Links(ctx, s, file); return err },
		"linked":     func() error { _, err := editor.Linked(ctx, s, file, pos); return err },
		"fixes":      func() error { _, err := editor.Fixes(ctx, s, file, 0, size); return err },
		"actions":    func() error { _, err := editor.Actions(ctx, s, file, pos, pos); return err },
		"signature":  func() error { editor.SignatureAt(s, file, pos); return nil },
		"folds":      func() error { editor.Folds(s, file); return nil },
		"rename":     func() error { editor.Renamable(ctx, s, file, pos); return nil },
	} {
		require.NoError(t, ask(), name)
	}
}
