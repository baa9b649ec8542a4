package cli

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	lspcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/lsp"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/internal/corpus"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/schema"
)

var updateMarks = flag.Bool("update", false, "write the answers to marks into the archives")

// TestMarks opens projects in an editor and makes the requests that their marks name. Marks are comments such as
// `# @hover pe|t`: the request is for the position of | in the same line, or in the line above if the comment stands
// alone. A mark can select a range, as in `# @action «1 + 2»`, and have an argument after ` @ `, as in
// `# @rename pe|t @ animal`. In JSON, marks begin with //. Marks are removed before the texts are opened.
func TestMarks(t *testing.T) {
	t.Parallel()
	corpus.Run(t, *updateMarks, func(t *testing.T, archive *txtar.Archive) []txtar.File {
		m := openMarked(t, archive)
		var b strings.Builder
		for _, mark := range m.marks {
			answer := m.answer(t, mark)
			if answer == "" {
				answer = "nothing\n"
			}
			fmt.Fprintf(&b, "%s:%d @%s %s\n%s", mark.file, mark.line, mark.kind, mark.text, indented(answer))
		}
		return []txtar.File{{Name: corpus.Outcome + "answers", Data: []byte(b.String())}}
	}, "testdata/marks/*.txtar")
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			b.WriteString("    " + line)
		}
	}
	if text := b.String(); !strings.HasSuffix(text, "\n") {
		b.WriteString("\n")
	}
	return b.String()
}

// mark is one request at one position.
type mark struct {
	file, kind, text string
	line             int // 1-based, in the text without marks
	start, end       int // byte offsets in the text without marks
	rest             string
}

// marked is a project that is open in an editor, and its marks.
type marked struct {
	folder   string
	snapshot *editor.Snapshot
	marks    []mark
}

// zooOpener opens projects as the command lsp does, and adds the package zoo.
type zooOpener struct{ *lspcmd.ProgramOpener }

func (o zooOpener) Open(ctx context.Context, path string, open func(string) *parser.Document) (*editor.Project, error) {
	p, err := o.ProgramOpener.Open(ctx, path, open)
	if err != nil || p.Check.Schemas == nil {
		return p, err
	}
	zoo := schema.NewLoader(func(context.Context, schema.Descriptor) ([]byte, error) {
		return os.ReadFile("../../../check/testdata/zoo.json")
	})
	p.Check.Schemas = eitherLoader{p.Check.Schemas, zoo}
	usual := p.Packages
	p.Packages = func() []string { return append(usual(), "zoo") }
	return p, nil
}

type eitherLoader struct{ usual, zoo schema.Loader }

func (l eitherLoader) Load(ctx context.Context, d schema.Descriptor) (*schema.Package, error) {
	if d.PackageName() == "zoo" {
		return l.zoo.Load(ctx, d)
	}
	return l.usual.Load(ctx, d)
}

var markLine = regexp.MustCompile(`^(.*?)[ \t]*(?:#|//) @(\w+) ?(.*)$`)

// openMarked writes the files of an archive without their marks to a folder, runs the commands in the file `commands`
// and opens all files in an editor. A file below `open/` is not written; it is the editor's text of the file.
func openMarked(t *testing.T, archive *txtar.Archive) marked {
	t.Helper()
	x := newTerminal(t, "")
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=canary")
	m := marked{folder: x.world.Dir}
	opened := map[string]string{}
	var commands string
	for _, f := range archive.Files {
		if f.Name == "commands" {
			commands = string(f.Data)
			continue
		}
		name, only := strings.CutPrefix(f.Name, "open/")
		text := m.read(t, name, string(f.Data))
		opened[filepath.Join(m.folder, name)] = text
		if !only {
			path := filepath.Join(m.folder, filepath.FromSlash(name))
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		}
	}
	for line := range strings.Lines(commands) {
		require.Equal(t, 0, x.run(strings.Fields(line)...), "%s: %s%s", line, x.out.String(), x.err.String())
	}
	opener := zooOpener{&lspcmd.ProgramOpener{Console: &console.Console{World: x.world, Streams: x.streams},
		Loaders: map[string]*lspcmd.KeptSchemas{}}}
	t.Cleanup(opener.Close)
	session := editor.NewSession(opener)
	for path, text := range opened {
		session.Open(path, text)
	}
	m.snapshot = session.Snapshot()
	return m
}

// read returns the text without its marks and adds them to m.
func (m *marked) read(t *testing.T, file, text string) string {
	t.Helper()
	var plain strings.Builder
	line, start := 0, 0 // of the line that marks refer to
	for raw := range strings.Lines(text) {
		found := markLine.FindStringSubmatch(strings.TrimSuffix(raw, "\n"))
		if found == nil || strings.TrimSpace(found[1]) != "" {
			line, start = line+1, plain.Len()
		}
		if found == nil {
			plain.WriteString(raw)
			continue
		}
		own := found[1] + "\n"
		if strings.TrimSpace(found[1]) == "" {
			own = plain.String()[start:]
		} else {
			plain.WriteString(own)
		}
		k := mark{file: file, kind: found[2], text: found[3], line: line, start: start, end: start}
		place, rest, _ := strings.Cut(found[3], " @ ")
		k.rest = rest
		before, inside, after := place, "", ""
		switch {
		case strings.Contains(place, "|"):
			before, after, _ = strings.Cut(place, "|")
		case strings.Contains(place, "«"):
			before, inside, _ = strings.Cut(place, "«")
			inside, after, _ = strings.Cut(inside, "»")
		}
		i := strings.Index(own, before+inside+after)
		require.GreaterOrEqual(t, i, 0, "%s:%d: %q is not in %q", file, line, before+inside+after, own)
		k.start += i + len(before)
		k.end = k.start + len(inside)
		m.marks = append(m.marks, k)
	}
	return plain.String()
}

func (m *marked) answer(t *testing.T, k mark) string {
	t.Helper()
	ctx, s, path := t.Context(), m.snapshot, filepath.Join(m.folder, filepath.FromSlash(k.file))
	var b strings.Builder
	places := func(found []editor.Location, err error) string {
		require.NoError(t, err)
		for _, l := range found {
			fmt.Fprintf(&b, "%s\n", m.place(l.Path, l.At))
		}
		return b.String()
	}
	ranges := func(found []diag.Range, err error) string {
		require.NoError(t, err)
		for _, rng := range found {
			fmt.Fprintf(&b, "%s\n", m.place(path, rng))
		}
		return b.String()
	}
	switch k.kind {
	case "complete":
		found, err := editor.Complete(ctx, s, path, k.start)
		require.NoError(t, err)
		const most = 8
		if len(found.Items) > 0 {
			text := string(s.Text(path).Source().Text())
			line := strings.LastIndexByte(text[:found.Start], '\n') + 1
			rest, _, _ := strings.Cut(text[found.End:], "\n")
			fmt.Fprintf(&b, "the first makes %q\n", strings.TrimSpace(text[line:found.Start]+found.Items[0].Insert+rest))
		}
		for i, item := range found.Items {
			if i == most {
				fmt.Fprintf(&b, "… %d more\n", len(found.Items)-most)
				break
			}
			fmt.Fprintf(&b, "%s", item.Label)
			if item.Detail != "" && item.Kind != editor.FunctionItem {
				fmt.Fprintf(&b, " (%s)", item.Detail)
			}
			b.WriteByte('\n')
		}
		return b.String()
	case "hover":
		found, err := editor.HoverAt(ctx, s, path, k.start)
		require.NoError(t, err)
		if found != nil {
			return fmt.Sprintf("%s\n%s\n", m.place(path, found.At), found.Text)
		}
	case "signature":
		if found := editor.SignatureAt(s, path, k.start); found != nil {
			return fmt.Sprintf("%s, parameter %d\n", found.Label, found.Active+1)
		}
	case "def":
		return places(editor.Definition(ctx, s, path, k.start))
	case "type":
		return places(editor.TypeDefinition(ctx, s, path, k.start))
	case "refs":
		return places(editor.References(ctx, s, path, k.start, true))
	case "linked":
		return ranges(editor.Linked(ctx, s, path, k.start))
	case "selection":
		return ranges(editor.Selection(ctx, s, path, k.start))
	case "rename":
		edits, err := editor.Rename(ctx, s, path, k.start, k.rest)
		if err != nil {
			return "refused: " + err.Error() + "\n"
		}
		return m.changes(t, edits)
	case "fix":
		fixes, err := editor.Fixes(ctx, s, path, k.start, k.end)
		require.NoError(t, err)
		for _, fix := range fixes {
			fmt.Fprintf(&b, "%s: %s\n%s", fix.Finding.Code, fix.Label, m.changes(t, fix.Edits))
		}
	case "action":
		actions, err := editor.Actions(ctx, s, path, k.start, k.end)
		require.NoError(t, err)
		for _, action := range actions {
			if strings.Contains(action.Title, k.rest) {
				fmt.Fprintf(&b, "%s\n%s", action.Title, m.changes(t, action.Edits))
			}
		}
	case "findings":
		found, err := editor.Diagnostics(ctx, s, path)
		require.NoError(t, err)
		for _, place := range slices.Sorted(maps.Keys(found)) {
			for _, d := range found[place] {
				fmt.Fprintf(&b, "%s %s: %s\n", m.place(place, d.Subject), d.Code, d.Summary)
			}
		}
	case "hints":
		found, err := editor.Hints(ctx, s, path, 0, len(s.Text(path).Source().Text()))
		require.NoError(t, err)
		for _, h := range found {
			fmt.Fprintf(&b, "%s: %s\n", m.place(path, h.At), h.Text)
		}
	case "lenses":
		found, err := editor.Lenses(ctx, s, path)
		require.NoError(t, err)
		for _, l := range found {
			fmt.Fprintf(&b, "%s: %s\n", m.place(path, l.At), l.Text)
		}
	case "symbols":
		found, err := editor.Symbols(ctx, s, path)
		require.NoError(t, err)
		m.symbols(&b, path, found, "")
	case "find":
		found, err := editor.FindSymbols(ctx, s, k.rest)
		require.NoError(t, err)
		for _, symbol := range found {
			fmt.Fprintf(&b, "%s (%s)\n", m.place(symbol.Path, symbol.Named), symbol.Detail)
		}
	case "links":
		found, err := editor.Links(ctx, s, path)
		require.NoError(t, err)
		for _, l := range found {
			fmt.Fprintf(&b, "%s -> %s\n", m.place(path, l.At), m.name(l.Target))
		}
	case "folds":
		for _, f := range editor.Folds(s, path) {
			fmt.Fprintf(&b, "%d to %d\n", f.First, f.Last)
		}
	case "tokens":
		parts, err := editor.TokenParts(ctx, s, path)
		require.NoError(t, err)
		src := s.Text(path).Source()
		for _, part := range parts {
			for _, token := range part.Touching(k.start, k.end) {
				rng := diag.NewRange(src, part.Start+int(token.Start), part.Start+int(token.End))
				fmt.Fprintf(&b, "%s: %v declared=%v\n", m.place(path, rng), token.Kind, token.Declared)
			}
		}
	case "calls":
		for what, ask := range map[string]func() ([]editor.Dependency, error){
			"needs":     func() ([]editor.Dependency, error) { return editor.Needs(ctx, s, path, k.start) },
			"needed by": func() ([]editor.Dependency, error) { return editor.NeededBy(ctx, s, path, k.start) },
		} {
			found, err := ask()
			require.NoError(t, err)
			for _, d := range found {
				fmt.Fprintf(&b, "%s %s (%s), %d uses\n", what, d.Symbol.Name, d.Symbol.Detail, len(d.Uses))
			}
		}
		lines := strings.Split(b.String(), "\n")
		slices.Sort(lines)
		return strings.TrimSpace(strings.Join(lines, "\n")) + "\n"
	case "format":
		return m.changes(t, map[string][]diag.Edit{path: editor.Format(s, path, 0, -1)})
	case "indent":
		return m.changes(t, map[string][]diag.Edit{path: editor.Indent(s, path, k.start)})
	default:
		require.Fail(t, "there is no mark @"+k.kind)
	}
	return b.String()
}

func (m *marked) symbols(b *strings.Builder, path string, found []editor.Symbol, indent string) {
	for _, symbol := range found {
		fmt.Fprintf(b, "%s%s (%s)\n", indent, m.place(path, symbol.Named), symbol.Detail)
		m.symbols(b, path, symbol.Children, indent+"- ")
	}
}

// name returns a path relative to the folder of the project.
func (m *marked) name(path string) string {
	if rel, err := filepath.Rel(m.folder, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

// place formats the position and the text of a range.
func (m *marked) place(path string, rng diag.Range) string {
	start, text := rng.StartPosition(), rng.Text()
	if first, _, more := strings.Cut(text, "\n"); more {
		text = first + "…"
	}
	return fmt.Sprintf("%s:%d:%d %s", m.name(path), start.Line, start.Column, text)
}

// changes returns the lines that edits remove and add, by file.
func (m *marked) changes(t *testing.T, edits map[string][]diag.Edit) string {
	t.Helper()
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(edits)) {
		list := slices.Clone(edits[path])
		if len(list) == 0 {
			continue
		}
		slices.SortStableFunc(list, func(a, b diag.Edit) int { return int(b.Range.Start - a.Range.Start) })
		before := string(list[0].Range.Source.Text())
		after := before
		for _, e := range list {
			after = after[:e.Range.Start] + e.Text + after[e.Range.End:]
		}
		fmt.Fprintf(&b, "%s\n", m.name(path))
		for line := range strings.Lines(string(diff.Diff("", []byte(before), "", []byte(after)))) {
			if changed := line[0] == '+' || line[0] == '-'; changed && line != "+++ \n" && line != "--- \n" {
				b.WriteString(line)
			}
		}
	}
	return b.String()
}
