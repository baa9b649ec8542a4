package lsp

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/yamlhost/yamlhost/bench/noop"
	"github.com/yamlhost/yamlhost/bench/program"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/parser"
)

// BenchmarkEdit changes one digit in the middle of a program again and again, and asks for the findings each time: what
// a language server does but for the protocol. The bytes of each edit decide how often memory is collected, which costs
// most where much of it is live.
func BenchmarkEdit(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			dir := b.TempDir()
			path := filepath.Join(dir, "Pulumi.yaml")
			text := program.YAML(n, 0)
			if err := os.WriteFile(path, text, 0o600); err != nil {
				b.Fatal(err)
			}
			opener := &ProgramOpener{Console: &console.Console{World: console.World{Dir: dir, Home: b.TempDir(),
				Embedded: []console.EmbeddedProviders{noop.Loader{}}}}, Loaders: map[string]*KeptSchemas{}}
			defer opener.Close()
			session := editor.NewSession(opener)
			session.Open(path, string(text))
			diagnose := func() {
				found, err := editor.Diagnostics(b.Context(), session.Snapshot(), path)
				if err != nil || len(found[path]) > 0 {
					b.Fatal(found, err)
				}
			}
			diagnose()
			at := bytes.Index(text, fmt.Appendf(nil, "\n  thing%d:", n/2))
			at += bytes.Index(text[at:], []byte("size: ")) + len("size: ")
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				session.Edit(path, parser.Edit{Start: at, End: at + 1, Text: strconv.Itoa(1 + i%9)})
				diagnose()
			}
		})
	}
}
