package workspace

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// textsRoom limits the total size of the texts that Texts keeps, in bytes. A syntax tree takes about twenty times as
// much memory as its text.
const textsRoom = 4 << 20

// Texts caches programs that a command over several projects has parsed to determine their order, so that they need not
// be parsed again when each project is processed. An entry is removed when it is used, and a file that has changed
// since is parsed again. Programs that include other files are not cached. Texts is safe for concurrent use; a nil
// *Texts caches nothing.
type Texts struct {
	mu   sync.Mutex
	size int               // bytes of text in kept; guarded by mu
	kept map[string]parsed // by absolute path; guarded by mu
}

// parsed is a cached program with the options of its parse.
type parsed struct {
	source   *diag.Source
	declared []string
	file     *ast.File
	diags    diag.Diagnostics
}

// NewTexts returns an empty cache.
func NewTexts() *Texts { return &Texts{kept: map[string]parsed{}} }

// unchanged returns the cached text of a file if the file still has the same content and name, or nil.
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
	text, err := confine.Anywhere().ReadFile(context.Background(), path)
	if err != nil || !bytes.Equal(project.StripBOM(text), src.Text()) {
		return nil
	}
	return src
}

// parse returns the cached result for the program of w, or parses it.
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

// keep adds a parsed program to the cache if there is room.
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
