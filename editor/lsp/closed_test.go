package lsp

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
)

// closing opens each file as a program, and calls during in the middle of its first check.
type closing struct{ during func() }

func (closing) Name(path string) string { return filepath.Base(path) }

func (closing) Forget() {}

func (o closing) Open(_ context.Context, path string, open func(string) *parser.Document) (*editor.Project, error) {
	return &editor.Project{Main: path, Document: open(path), Check: check.Options{Project: "p"},
		Join: func(found diag.Diagnostics) diag.Diagnostics {
			o.during()
			return found
		},
		Path:     func(name string) string { return filepath.Join(filepath.Dir(path), name) },
		Packages: func() []string { return nil }}, nil
}

// The findings of a text that was closed while it was checked are withdrawn: the last message about it has none.
func TestFindingsOfATextClosedDuringItsCheckAreWithdrawn(t *testing.T) {
	t.Parallel()
	var params protocol.TextParams
	params.TextDocument.URI = uriOf(filepath.Join(t.TempDir(), "Pulumi.yaml"))
	params.TextDocument.Text = "outputs: {o: '${nothing}'}\n"
	var d *documents
	closed := false
	session := editor.NewSession(closing{during: func() {
		if !closed {
			closed = true
			d.didClose(&params)
		}
	}})
	var of atomic.Pointer[client]
	of.Store(&client{})
	d = &documents{client: &of, session: session, versions: map[string]int32{}, closed: func(string) {}}
	var sent bytes.Buffer
	d.publisher = &publisher{documents: d, conn: protocol.NewConnection(strings.NewReader(""), &sent), ctx: t.Context(),
		wake: make(chan struct{}, 1), told: map[string][]string{}}
	d.didOpen(&params)
	for d.publisher.next() {
	}
	require.True(t, closed)
	messages := strings.Split(sent.String(), "Content-Length")
	require.Contains(t, messages[len(messages)-1], publish)
	require.Contains(t, messages[len(messages)-1], `"diagnostics":[]`, "%s", sent.String())
	require.Empty(t, d.publisher.told)
}
