package workspace

import (
	"bytes"
	"os"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// textsRoom is how much text, in bytes, Texts keeps at most. A syntax tree takes some twenty times as much memory.
const textsRoom = 4 << 20

// Texts keeps the programs that a command over several projects has parsed to find their order, so that the work on
// each of them need not parse it again. A program is forgotten once it was used, and one that has changed meanwhile is
// parsed anew. Programs that include others are not kept. It is safe for concurrent use; a nil one keeps nothing.
type Texts struct {
	mu   sync.Mutex
	size int               // bytes of text in kept; guarded by mu
	kept map[string]parsed // by absolute path; guarded by mu
}

// parsed is a program with how it was parsed.
type parsed struct {
	source   *diag.Source
	declared []string
	file     *ast.File
	diags    diag.Diagnostics
}

// NewTexts keeps nothing yet.
func NewTexts() *Texts { return &Texts{kept: map[string]parsed{}} }

// unchanged is the text of a file that was kept, under the same name, if that is still what the file has; nil if not.
func (t *Texts) unchanged(path, name string) *diag.Source {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	src := t.kept[path].source
	t.mu.Unlock()
	if src == nil || src.Name() != name {
		return nil
	}
	if text, err := os.ReadFile(path); err != nil || !bytes.Equal(project.StripBOM(text), src.Text()) {
		return nil
	}
	return src
}

// parse returns what a kept program was parsed to, or parses it.
func (t *Texts) parse(w *Workspace, o parser.Options) (*ast.File, diag.Diagnostics) {
	if t == nil {
		return parser.Parse(w.Source, o)
	}
	path := w.Program.Path
	t.mu.Lock()
	known, ok := t.kept[path]
	if ok {
		delete(t.kept, path)
		t.size -= len(known.source.Text())
	}
	t.mu.Unlock()
	if ok && known.source == w.Source && slices.Equal(known.declared, o.Declared) {
		return known.file, known.diags
	}
	return parser.Parse(w.Source, o)
}

// keep takes a parsed program in, if there is room.
func (t *Texts) keep(w *Workspace, p parsed) {
	if t == nil || w.Program.Path == "" || len(w.Parts) > 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if size := len(p.source.Text()); t.size+size <= textsRoom {
		t.size += size
		t.kept[w.Program.Path] = p
	}
}
