package editor

import (
	"bytes"
	"context"
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Fold is a range of lines that an editor can collapse to its first line.
type Fold struct {
	First, Last int // 1-based, inclusive
	Comment     bool
}

// Folds returns the foldable ranges of an open file: sections, entries, items, strings and comments of several lines.
// They are ordered by their first lines, and no two begin on the same line. A line that closes a bracket stays visible.
// It needs the spans of the text only, so that a text that cannot be checked folds as well.
func Folds(s *Snapshot, path string) []Fold {
	document := s.Text(path)
	if document == nil {
		return nil
	}
	f := folder{src: document.Source(), last: map[int]int{}}
	f.spans(document.Spans())
	var folds []Fold
	for first, last := range f.last {
		folds = append(folds, Fold{First: first, Last: last})
	}
	folds = append(folds, f.comments()...)
	slices.SortStableFunc(folds, func(a, b Fold) int { return a.First - b.First })
	return folds
}

// folder collects the folds of one text.
type folder struct {
	src   *diag.Source
	last  map[int]int  // last line of the outermost fold, by first line
	texts []diag.Range // multi-line strings
}

func (f *folder) line(offset int32) int { return f.src.Position(int(offset)).Line }

// spans adds the folds of spans. Where an entry and its value begin in the same line, the longer fold is kept.
func (f *folder) spans(spans []parser.Span) {
	for _, s := range spans {
		if s.Range().IsZero() {
			continue
		}
		first, last := f.line(s.Range().Start), f.line(s.Range().End)
		// The line has nothing but closing brackets.
		if s.Flow && len(bytes.Trim(bytes.TrimSpace(f.src.Line(last)), "]},")) == 0 {
			last--
		}
		if last > first {
			f.last[first] = max(f.last[first], last)
			if s.Kind == parser.ScalarSpan {
				f.texts = append(f.texts, s.Value)
			}
		}
		f.spans(s.Children)
	}
}

// comments returns the runs of comment lines. A line of a multi-line string may look like one.
func (f *folder) comments() []Fold {
	var folds []Fold
	run := 0
	for line := 1; line <= f.src.Lines()+1; line++ {
		comment := line <= f.src.Lines() && bytes.HasPrefix(bytes.TrimLeft(f.src.Line(line), " \t"), []byte("#"))
		if comment {
			i := f.src.Offset(diag.Position{Line: line, Column: 1})
			// spans has gathered the texts, so comments is called after it.
			comment = !slices.ContainsFunc(f.texts, func(r diag.Range) bool {
				return int(r.Start) < i && i < int(r.End)
			})
		}
		switch {
		case comment:
			run++
		case run > 1:
			folds = append(folds, Fold{First: line - run, Last: line - 1, Comment: true})
			run = 0
		default:
			run = 0
		}
	}
	return folds
}

// Selection returns the ranges around an offset, innermost first, each inside the next one: words and parts of
// expressions, the text without its quotes, values, entries, sections, and the whole text. A range that overlaps the
// one before without holding it is left out.
func Selection(ctx context.Context, s *Snapshot, path string, offset int) ([]diag.Range, error) {
	document := s.Text(path)
	if document == nil {
		return nil, nil
	}
	src := document.Source()
	around := []diag.Range{diag.NewRange(src, 0, len(src.Text()))}
	add := func(r diag.Range) {
		if r.Source == src && int(r.Start) <= offset && offset <= int(r.End) && r.Start < r.End {
			around = append(around, r)
		}
	}
	addSpans(document.Spans(), add)
	// An error leaves the ranges of the spans, which need no check.
	p, err := s.Program(ctx, path)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil && p.Checked != nil {
		whole := func(r diag.Range) { add(p.File.Origins.Place(r)) }
		p.walk(func(e ast.Expr) {
			whole(e.Range())
			if opening, closing, ok := braces(e.Range()); ok {
				whole(diag.NewRange(opening.Source, int(opening.Start), int(closing.End)))
			}
			addParts(e, whole)
		})
	}
	slices.SortStableFunc(around, func(a, b diag.Range) int { return int(a.End-a.Start) - int(b.End-b.Start) })
	// The filter may use the array of around, since it keeps at most as many ranges as it has read.
	nested := around[:1]
	for _, r := range around[1:] {
		if rng := nested[len(nested)-1]; r.Start <= rng.Start && rng.End <= r.End && r != rng {
			nested = append(nested, r)
		}
	}
	return nested, nil
}

// addSpans adds the ranges of entries, their keys and values, and texts without their quotes.
func addSpans(spans []parser.Span, add func(diag.Range)) {
	for _, s := range spans {
		add(s.Range())
		add(s.Key)
		add(s.Value)
		if s.Kind == parser.ScalarSpan {
			add(unquoted(s.Value))
		}
		addSpans(s.Children, add)
	}
}

// addParts adds the parts of an expression that are not expressions themselves. Growing along an access takes one step
// more each time.
func addParts(e ast.Expr, add func(diag.Range)) {
	switch e := e.(type) {
	case *ast.Access:
		add(e.Root.Range)
		for _, step := range e.Steps {
			add(step.Range)
			add(diag.NewRange(e.Root.Range.Source, int(e.Root.Range.Start), int(step.Range.End)))
		}
	case *ast.Call:
		add(e.Name.Range)
	}
}
