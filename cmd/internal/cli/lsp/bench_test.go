package lsp

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/tools/bench/noop"
	"github.com/yamlhost/yamlhost/tools/bench/program"
)

// edited is a generated program that is open in an editor session.
type edited struct {
	tb      testing.TB
	session *editor.Session
	path    string
}

// generated opens a program with the given number of resources.
func generated(tb testing.TB, resources int) *edited {
	dir := tb.TempDir()
	e := &edited{tb: tb, path: filepath.Join(dir, "Pulumi.yaml")}
	text := program.YAML(resources, 0)
	require.NoError(tb, os.WriteFile(e.path, text, 0o600))
	opener := &ProgramOpener{Console: &console.Console{World: console.World{Dir: dir, Home: tb.TempDir(),
		Embedded: []console.EmbeddedProviders{noop.Loader{}}}}, Loaders: map[string]*KeptSchemas{}}
	tb.Cleanup(opener.Close)
	e.session = editor.NewSession(opener)
	e.session.Open(e.path, string(text))
	return e
}

// find returns the start and the end offset of a text in a resource.
func (e *edited) find(resource int, what string) (start, end int) {
	document := e.session.Snapshot().Text(e.path)
	text := document.Source().Text()
	i := bytes.Index(text, fmt.Appendf(nil, "\n  thing%d:", resource))
	i += bytes.Index(text[i:], []byte(what))
	return i, i + len(what)
}

func (e *edited) replace(start, end int, replacement string) {
	e.session.Edit(e.path, parser.Edit{Start: start, End: end, Text: replacement})
}

// diagnose returns the number of findings in the program.
func (e *edited) diagnose() int {
	found, err := editor.Diagnostics(e.tb.Context(), e.session.Snapshot(), e.path)
	if err != nil {
		e.tb.Fatal(err)
	}
	return len(found[e.path])
}

// BenchmarkEdit changes one digit in the middle of a program repeatedly and requests the findings each time, as a
// language server does apart from the protocol. The allocations decide how often garbage is collected, which is
// expensive with a large live heap.
func BenchmarkEdit(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			e := generated(b, n)
			require.Zero(b, e.diagnose())
			_, pos := e.find(n/2, "size: ")
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				e.replace(pos, pos+1, strconv.Itoa(1+i%9))
				if e.diagnose() > 0 {
					b.Fatal("a number is wrong")
				}
			}
		})
	}
}

// TestEditReusesTheCheck edits one of many resources. The next check must reuse the results of all others: checking them
// again would allocate ten times as much.
func TestEditReusesTheCheck(t *testing.T) {
	const resources = 500
	e := generated(t, resources)
	require.Zero(t, e.diagnose())
	_, pos := e.find(resources/2, "size: ")
	i := 0
	allocations := testing.AllocsPerRun(5, func() {
		i++
		e.replace(pos, pos+1, strconv.Itoa(1+i%9))
		require.Zero(t, e.diagnose())
	})
	require.Less(t, allocations, float64(20*resources))
}
