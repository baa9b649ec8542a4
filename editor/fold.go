package editor

import (
	"bytes"
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
)

// Fold is a stretch of lines that an editor can hide but for its first one.
type Fold struct {
	First, Last int // 1-based, the last one included
	Comment     bool
}

// Folds returns the stretches of a text that can be hidden: sections, entries, items and texts of several lines, and
// comments that fill several lines. They are ordered by their first lines, and no two begin on the same line. A line
// that closes a bracket stays visible.
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

type folder struct {
	src   *diag.Source
	last  map[int]int // by first line: the outermost stretch counts
	texts []diag.Range
}

func (f *folder) line(offset int32) int { return f.src.Position(int(offset)).Line }

func (f *folder) spans(spans []parser.Span) {
	for _, s := range spans {
		if s.Range().IsZero() {
			continue
		}
		first, last := f.line(s.Range().Start), f.line(s.Range().End)
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

// comments are the runs of lines that hold a comment only. A line of a text may look like one.
func (f *folder) comments() []Fold {
	var folds []Fold
	run := 0
	for line := 1; line <= f.src.Lines()+1; line++ {
		comment := line <= f.src.Lines() && bytes.HasPrefix(bytes.TrimLeft(f.src.Line(line), " \t"), []byte("#"))
		if comment {
			i := f.src.Offset(diag.Position{Line: line, Column: 1})
			comment = !slices.ContainsFunc(f.texts, func(r diag.Range) bool { return int(r.Start) < i && i < int(r.End) })
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
