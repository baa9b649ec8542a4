package parser

import (
	"maps"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// editState is shared by a document and the documents derived from it by edits. mu guards the last result and those
// that blocks keep.
type editState struct {
	mu   sync.Mutex
	last *parsedDocument
}

// parsedDocument is the result of parsing a document. If the next document differs from it in a single block, and in a
// way that cannot affect the rest of the program, the result is updated instead of parsing again.
type parsedDocument struct {
	set     *blockSet
	options Options
	scope   *scope
	file    ast.File // not shared with callers
	diags   diag.Diagnostics
}

// maxKept is the maximum number of findings in a result that is kept. If there are more, some may have been dropped.
const maxKept = 100

// keep stores the result of parsing a document with the given blocks for the next one, unless an edit may change what
// other blocks mean: an included text may change without an edit, and a lost name is excused wherever it is used. The
// caller holds the lock.
func (s *editState) keep(set *blockSet, o *outline, file *ast.File, diags diag.Diagnostics) {
	s.last = nil
	if o.sections["include"] == nil && len(diags) <= maxKept && len(file.Lost) == 0 {
		s.last = &parsedDocument{set: set, options: o.options, scope: o.in.texts.scope, file: *file,
			diags: slices.Clone(diags)}
	}
}

// patched returns the previous file with one declaration replaced, for a document with the given blocks and text. ok is
// false if an edit has changed anything else. The caller holds the lock.
func (s *editState) patched(set *blockSet, src *diag.Source, options Options) (file *ast.File, diags diag.Diagnostics,
	ok bool) {
	last := s.last
	if last == nil || options.Plugin != last.options.Plugin ||
		options.Project != last.options.Project || !slices.Equal(options.Declared, last.options.Declared) {
		return nil, nil, false
	}
	i, one := set.changed(last.set)
	if !one {
		return nil, nil, false
	}
	old, now := last.set.blocks[i], set.blocks[i]
	if old.result == nil || !old.patchable() || !now.patchable() || old.name() != now.name() ||
		!maps.Equal(oddKeysOf(old.yaml.tree.Root), oddKeysOf(now.yaml.tree.Root)) {
		return nil, nil, false
	}
	lines := set.places[len(set.places)-1].lines != last.set.places[len(last.set.places)-1].lines
	// The findings of the last text are kept but for those of the block, as long as none of the others points into it.
	own := 0
	for _, found := range last.diags {
		switch {
		case found.Subject.Source == old.yaml.tree.Text.Source:
			own++
		case len(found.Related) > 0 && (lines || slices.ContainsFunc(found.Related, func(r diag.Related) bool {
			return r.Range.Source == old.yaml.tree.Text.Source
		})), slices.ContainsFunc(found.Fixes, func(f diag.Fix) bool {
			return slices.ContainsFunc(f.Edits, func(e diag.Edit) bool {
				return e.Range.Source == old.yaml.tree.Text.Source
			})
		}):
			return nil, nil, false // the finding refers to the block, or to line numbers
		default:
			diags = append(diags, found)
		}
	}
	previous, known := old.result.only()
	if !known || len(old.result.diags) > 0 || own != len(previous.diags) {
		return nil, nil, false // there are findings about it from elsewhere, such as a duplicate name
	}
	part := part{entry: now.top[0], block: now, lines: set.places[i].lines}
	reader, _ := readerOf(previous.declaration)
	fresh, known := now.items(part, last.scope, reader).only()
	if !known || len(now.result.diags) > 0 || fresh.name.Value != previous.name.Value {
		return nil, nil, false
	}
	patch := last.file
	patch.Source = src
	if !previous.replaceBy(fresh, &patch) {
		return nil, nil, false
	}
	diags = append(diags, fresh.diags...)
	if len(diags) > maxKept {
		return nil, nil, false
	}
	noteFaults(&patch, diags)
	// The scope is that of the last document, whose odd keys are the same, as was compared above. They may not have
	// been gathered yet, and then are gathered from the present text. There is a root for each block.
	last.scope.keys.roots[i] = now.yaml.tree.Root
	s.last = &parsedDocument{set: set, options: options, scope: last.scope, file: patch, diags: slices.Clone(diags)}
	whole := patch
	return &whole, diags, true
}

// changed returns the index of the only block in which two sets with the same sections differ. one is false if they do
// not differ in exactly one block.
func (s *blockSet) changed(prior *blockSet) (pos int, one bool) {
	// Sets that with has derived share the slice of sections, so that one address tells that nothing was cut anew.
	if len(s.blocks) != len(prior.blocks) || len(s.sections) == 0 || &s.sections[0] != &prior.sections[0] {
		return 0, false
	}
	pos = -1
	for i, b := range s.blocks {
		if b == prior.blocks[i] {
			continue
		}
		if pos >= 0 {
			return 0, false
		}
		pos = i
	}
	return pos, pos >= 0
}

// patchable reports whether a block is one entry of a section without YAML errors.
func (b *block) patchable() bool {
	y := b.yaml
	return len(b.top) == 1 && !b.failed && len(y.report.diags) == 0 && len(y.tree.Repairs.Lost) == 0 &&
		!y.tree.Repairs.Any() && b.name() != ""
}

// name returns the name of the entry that a block declares, or an empty string if it does not declare exactly one.
func (b *block) name() string {
	body := b.top[0].value
	if body.Kind != yamlnode.Map || len(body.Content) != 2 || body.Content[0].Kind != yamlnode.Scalar ||
		body.Content[0].Tag == yamlnode.MergeTag {
		return ""
	}
	return body.Content[0].Value
}

// only returns the single variable, resource or output that was read; ok is false for anything else.
func (rb *blockResult) only() (it item, ok bool) {
	if len(rb.items) != 1 {
		return item{}, false
	}
	it = rb.items[0]
	_, known := readerOf(it.declaration)
	return it, known && !it.hollow && !it.bare && it.stray == ""
}

// readerOf returns the function that reads items of the same kind as a variable, resource or output; false for other
// kinds.
func readerOf(declaration any) (itemReader, bool) {
	switch declaration.(type) {
	case *ast.Variable:
		return (*bodyReader).variableItem, true
	case *ast.Output:
		return (*bodyReader).outputItem, true
	case *ast.Resource:
		return (*bodyReader).resourceItem, true
	}
	return nil, false
}

// replaceBy replaces the item in a file by another one of the same kind; it returns false if the file does not contain
// it.
func (it item) replaceBy(fresh item, file *ast.File) bool {
	switch old := it.declaration.(type) {
	case *ast.Variable:
		return replace(&file.Variables, old, fresh.declaration)
	case *ast.Output:
		return replace(&file.Outputs, old, fresh.declaration)
	case *ast.Resource:
		return replace(&file.Resources, old, fresh.declaration)
	}
	return false
}

func replace[T any](list *[]*T, old *T, fresh any) bool {
	i := slices.Index(*list, old)
	m, same := fresh.(*T)
	if i < 0 || !same {
		return false
	}
	*list = slices.Clone(*list)
	(*list)[i] = m
	return true
}
