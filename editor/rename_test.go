package editor_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/parser"
)

// The files of a project: its program in two texts, and the settings of two stacks.
const (
	partFile  = "/project/parts/one.yaml"
	devFile   = "/project/Pulumi.dev.yaml"
	otherFile = "/project/Pulumi.other.yaml"
)

// stacksOpener opens all files of a folder as one program with the settings of its stacks.
type stacksOpener struct{ manyOpener }

func (o stacksOpener) Open(ctx context.Context, path string, open func(string) *parser.Document) (*editor.Project,
	error) {
	if strings.HasPrefix(filepath.Base(path), "Pulumi.") && path != file {
		return &editor.Project{Main: path, SettingsOf: file, Join: noFindings}, nil
	}
	p, err := o.manyOpener.Open(ctx, path, open)
	p.Settings = func() []*parser.Document { return []*parser.Document{open(devFile), open(otherFile)} }
	return p, err
}

func openedFiles(texts map[string]string) *editor.Snapshot {
	s := editor.NewSession(stacksOpener{manyOpener{newOpener(), map[string]string{"parts/one.yaml": ""}}})
	for path, text := range texts {
		s.Open(path, text)
	}
	return s.Snapshot()
}

// spot is where a text has a name.
type spot struct {
	path  string
	start int
}

// texts writes the files of a project, and notes where each name is.
type texts struct {
	files map[string]*strings.Builder
	spots map[string][]spot // of each name, the declaration first
}

// put writes a text in which a name is between two marks.
func (w *texts) put(path, format string, args ...any) {
	b := w.files[path]
	for i, part := range strings.Split(fmt.Sprintf(format, args...), "¦") {
		if i%2 == 1 {
			w.spots[part] = append(w.spots[part], spot{path, b.Len()})
		}
		b.WriteString(part)
	}
}

// graphOf returns the declarations of a program and what each needs, with one name in place of another.
func graphOf(t *rapid.T, s *editor.Snapshot, from, to string) (lines []string) {
	p, err := s.Program(context.Background(), file)
	require.NoError(t, err)
	called := func(n *check.Node) string {
		if n.Name == from {
			return to
		}
		return n.Name
	}
	for _, n := range p.Checked.Nodes {
		var needs []string
		for _, edge := range n.Needs {
			needs = append(needs, called(edge.To))
		}
		slices.Sort(needs)
		lines = append(lines, fmt.Sprint(called(n), n.Kind, slices.Compact(needs)))
	}
	slices.Sort(lines)
	return lines
}

// TestNamesOfRandomPrograms renames each name of random programs in two texts with two stacks: the graph stays as it
// was, and nothing is found wrong. The references of a name are the places that the text has been made with.
func TestNamesOfRandomPrograms(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.Permutation([]string{"a", "b", "a-b", "region", "z", "a_b", "x1", "bucket"}).Draw(t, "names")
		names = names[:rapid.IntRange(2, len(names)).Draw(t, "count")]
		w := texts{files: map[string]*strings.Builder{}, spots: map[string][]spot{}}
		for _, path := range []string{file, partFile, devFile, otherFile} {
			w.files[path] = &strings.Builder{}
		}
		kinds, resources := map[string][]string{}, map[string]bool{}
		for i, name := range names {
			kind := []string{"config", "variables", "resources"}[rapid.IntRange(0, 2).Draw(t, "kind")]
			path := file
			if kind != "config" && rapid.Bool().Draw(t, "in a part") {
				path = partFile
			}
			value := ""
			for _, other := range names[:i] {
				used := rapid.SampledFrom([]string{"", "${¦NAME¦}", " ${¦NAME¦}-${¦NAME¦} ", "$${NAME}", "NAME",
					"${[\\\"NAME\\\", ¦NAME¦][1]}", "${[for i in [1] : \\\"NAME\\\"][0]}",
					"${[for i, j in [\\\"x\\\"] : ¦NAME¦][0]}"}).Draw(t, "use")
				if resources[other] {
					used = strings.ReplaceAll(used, "¦NAME¦", "¦NAME¦.id")
				}
				value += strings.ReplaceAll(used, "NAME", other)
			}
			entry := "  ¦" + name + "¦: \"" + value + "\"\n"
			switch kind {
			case "config":
				entry = "  ¦" + name + "¦: {type: string, default: x}\n"
				for _, settings := range []string{devFile, otherFile} {
					form := rapid.SampledFrom([]string{"", "p:¦NAME¦", "¦NAME¦", "\"p:¦NAME¦\"", "p:config:¦NAME¦",
						"other:NAME"}).Draw(t, "form")
					if form != "" {
						kinds[settings] = append(kinds[settings], "  "+strings.ReplaceAll(form, "NAME", name)+": x\n")
					}
				}
			case "resources":
				resources[name] = true
				entry = "  ¦" + name + "¦:\n    type: random:RandomPet\n    properties: {prefix: \"" + value + "\"}\n"
			}
			kinds[path+" "+kind] = append(kinds[path+" "+kind], entry)
		}
		w.put(file, "name: p\ninclude: [parts/*.yaml]\n")
		var order []string // declarations come first, so that they are the first spots
		for _, path := range []string{file, partFile} {
			for _, kind := range []string{"config", "variables", "resources"} {
				order = append(order, path+" "+kind)
			}
		}
		for _, section := range order {
			path, kind, _ := strings.Cut(section, " ")
			if len(kinds[section]) > 0 {
				w.put(path, "%s:\n%s", kind, strings.Join(kinds[section], ""))
			}
		}
		for _, settings := range []string{devFile, otherFile} {
			w.put(settings, "config:\n%s", strings.Join(kinds[settings], ""))
		}
		all := map[string]string{}
		for path, b := range w.files {
			all[path] = b.String()
		}
		s := openedFiles(all)
		requireNoErrors(t, s)
		for _, name := range names {
			from := rapid.SampledFrom(w.spots[name]).Draw(t, "from")
			found, err := editor.References(context.Background(), s, from.path, from.start, true)
			require.NoError(t, err)
			var at []spot
			for _, l := range found {
				start := int(l.At.Start) + strings.Index(l.At.Text(), name)
				at = append(at, spot{l.Path, start})
			}
			require.ElementsMatch(t, w.spots[name], at, "%s in %v", name, all)
			to := rapid.SampledFrom([]string{"fresh", "c-d", "i"}).Draw(t, "to")
			edits, err := editor.Rename(context.Background(), s, from.path, from.start, to)
			if slices.Contains(names, to) {
				require.True(t, err != nil || to == name)
				continue
			}
			bound, text := "[\\\"x\\\"] : "+name, fmt.Sprint(all)
			if to == "i" && (strings.Contains(text, bound+"]") || strings.Contains(text, bound+".id]")) {
				require.ErrorContains(t, err, "means something else")
				continue
			}
			require.NoError(t, err)
			after := map[string]string{}
			for path, text := range all {
				after[path] = applied(text, edits[path])
			}
			renamed := openedFiles(after)
			requireNoErrors(t, renamed)
			require.Equal(t, graphOf(t, s, name, to), graphOf(t, renamed, "", ""), "%s to %s: %v", name, to, after)
		}
	})
}

func requireNoErrors(t *rapid.T, s *editor.Snapshot) {
	found, err := editor.Diagnostics(context.Background(), s, file)
	require.NoError(t, err)
	for _, list := range found {
		require.False(t, list.HasErrors(), "%v", list)
	}
}
