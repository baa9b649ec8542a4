package parser

import (
	"slices"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// This file parses Pulumi's property accesses: a root name and steps, where names may contain nearly any character
// (L5.B).

// accessText is a scanned access. Offsets refer to the scalar's text.
type accessText struct {
	root  stepText
	steps []stepText
	end   int // offset of the closing brace
}

type stepText struct {
	name     string
	from, to int // offsets including the dot or brackets
	index    int
	isIndex  bool
	quoted   bool
	optional bool // preceded by a question mark
}

// scanAccess scans an access that begins at i, after "${", up to its closing brace. If chains is set, a question mark
// between a name and a step makes the step optional; otherwise it is part of the name.
func scanAccess(text string, i int, chains bool) (*accessText, *fault) {
	a := &accessText{}
	// mark removes the question mark from the name before a step and reports whether there was one.
	mark := func(name *stepText) bool {
		short, marked := strings.CutSuffix(name.name, "?")
		if !chains || !marked || name.quoted || name.isIndex || short == "" || strings.TrimSpace(short) != short {
			return false
		}
		name.name, name.to = short, name.to-1
		return true
	}
	last := func() *stepText {
		if len(a.steps) == 0 {
			return &a.root
		}
		return &a.steps[len(a.steps)-1]
	}
	optional := false
	i = skipSpace(text, i)
	switch {
	case i < len(text) && text[i] == '}':
		return nil, &fault{from: i - 2, to: i + 1, final: true, summary: "empty `${}`",
			detail: "name what to insert, or write `$${}` for the text itself"}
	case i < len(text) && text[i] == '[':
		step, next, f := scanBrackets(text, i)
		if f != nil {
			return nil, f
		}
		if step.isIndex {
			if next = skipSpace(text, next); next < len(text) && text[next] != '}' {
				return nil, &fault{from: step.from, to: step.to, final: true, summary: "an access cannot begin with a list index",
					detail: "begin with a name, or with a name in brackets and quotes: `[\"name\"]`"}
			}
			return nil, &fault{from: step.from, to: step.to, summary: "an access cannot begin with a list index"}
		}
		a.root, i = step, skipSpace(text, next)
	default:
		from := i
		i = nameEnd(text, i)
		if i == from && i < len(text) {
			return nil, &fault{from: i, to: i + 1, final: true, summary: "a name is missing before `.`",
				detail: "remove the `.`, or write a name before it"}
		}
		a.root = nameStep(text, from, i, from)
	}
	for {
		if i >= len(text) {
			start := strings.LastIndex(text[:min(a.root.from, len(text))], "${")
			return nil, &fault{from: max(start, 0), to: len(text), open: true, final: a.plain(),
				summary: "`${` is never closed", detail: "add the missing `}`, or write `$${` for the text itself"}
		}
		switch text[i] {
		case '}':
			a.end = i
			return a, nil
		case '.':
			from := skipSpace(text, i+1)
			end := nameEnd(text, from)
			optional = optional || mark(last())
			if end == from {
				to := max(i+1, min(from+1, len(text)))
				if from >= len(text) || text[from] == '}' {
					to = i + 1
				}
				return nil, &fault{from: i, to: to, final: true, summary: "a name is missing after `.`",
					detail: "remove the `.`, or write a name after it"}
			}
			step := nameStep(text, from, end, i)
			step.optional, optional = optional, false
			a.steps = append(a.steps, step)
			i = end
		case '[':
			step, next, f := scanBrackets(text, i)
			if f != nil {
				return nil, f
			}
			step.optional = optional || mark(last())
			optional = false
			a.steps = append(a.steps, step)
			i = skipSpace(text, next)
		default:
			if !chains || !strings.HasPrefix(text[i:], "?.") && !strings.HasPrefix(text[i:], "?[") {
				return nil, &fault{from: i, to: i + 1, summary: "expected `.`, `[` or `}` after `]`"}
			}
			optional = true
			i++
		}
	}
}

// chained reports whether a step is optional.
func (a *accessText) chained() bool {
	return slices.ContainsFunc(a.steps, func(step stepText) bool { return step.optional })
}

// skipSpace returns the offset of the first byte at or after i that is not white space.
func skipSpace(text string, i int) int {
	for i < len(text) && space(text[i]) {
		i++
	}
	return i
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func nameEnd(text string, i int) int {
	if n := strings.IndexAny(text[i:], ".[}"); n >= 0 {
		return i + n
	}
	return len(text)
}

// nameStep returns the step with the name in text[start:end], without trailing white space. from is where the step
// begins.
func nameStep(text string, start, end, from int) stepText {
	name := strings.TrimRight(text[start:end], " \t\r\n")
	return stepText{name: name, from: from, to: start + len(name)}
}

// scanBrackets scans `["name"]` or `[3]` at i and returns the offset after it.
func scanBrackets(text string, i int) (stepText, int, *fault) {
	open := i
	step := stepText{from: open}
	i = skipSpace(text, i+1)
	if i < len(text) && text[i] == '"' {
		var name strings.Builder
		quote := i
		for i++; i < len(text) && text[i] != '"'; i++ {
			if text[i] == '\\' && i+1 < len(text) && text[i+1] == '"' {
				i++
			}
			name.WriteByte(text[i])
		}
		if i >= len(text) {
			return step, i, &fault{from: quote, to: len(text), open: true, summary: "missing closing `\"`",
				detail: "a name in brackets is written `[\"name\"]`"}
		}
		i++
		step.name, step.quoted = name.String(), true
	} else {
		from := i
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		for i < len(text) && text[i] >= '0' && text[i] <= '9' {
			i++
		}
		index, err := strconv.Atoi(text[from:i])
		if next := skipSpace(text, i); err != nil || next < len(text) && text[next] != ']' && text[next] != '}' {
			to := from
			for to < len(text) && text[to] != ']' && text[to] != '}' && to-from < 100 {
				to++
			}
			if to < len(text) && text[to] == '}' && err != nil && i > from {
				return step, i, &fault{from: open, to: to, open: true, summary: "missing `]`"}
			}
			return step, i, &fault{from: from, to: max(to, from),
				summary: "an index is a whole number, or a name in double quotes",
				detail:  "write `[0]` or `[\"name\"]`"}
		}
		step.index, step.isIndex = index, true
	}
	i = skipSpace(text, i)
	if i >= len(text) || text[i] != ']' {
		return step, i, &fault{from: open, to: i, open: true, summary: "missing `]`", detail: "close what `[` opens"}
	}
	step.to = i + 1
	return step, i + 1, nil
}

// plain reports whether all parts of an access can only be names. A root that could also be a literal in an expression
// is not plain.
func (a *accessText) plain() bool {
	if !a.root.quoted && (!nameLike(a.root.name) || literalLike(a.root.name) || strings.HasPrefix(a.root.name, "-")) {
		return false
	}
	return !slices.ContainsFunc(a.steps, func(step stepText) bool {
		return !step.quoted && !step.isIndex && !nameLike(step.name)
	})
}

func nameLike(name string) bool {
	return !slices.ContainsFunc([]byte(name), func(c byte) bool { return !nameByte(c) })
}

func literalLike(name string) bool {
	return name == "true" || name == "false" || name == "null" || name != "" && name[0] >= '0' && name[0] <= '9'
}

// odd reports whether a member's name contains what may be part of an expression instead (L5.42).
func (a *accessText) odd() bool {
	return slices.ContainsFunc(a.steps, func(step stepText) bool { return !step.quoted && oddKey(step.name) })
}

// accessOf returns the node of a scanned access. start is the offset of "${".
func accessOf(s *yamlnode.ScalarText, start int, a *accessText) ast.Expr {
	rng := s.At(a.root.from, a.stepsEnd())
	if start == 0 && a.end+1 == len(s.Text) {
		if rng = s.Whole; rng.IsZero() {
			rng = s.At(start, a.end+1)
		}
	}
	access := &ast.Access{Place: ast.Place{At: rng}, Root: ast.Literal{Value: a.root.name,
		Range: s.At(a.root.from, a.root.to)}}
	if len(a.steps) > 0 {
		access.Steps = make([]ast.Step, 0, len(a.steps))
	}
	for _, step := range a.steps {
		access.Steps = append(access.Steps, ast.Step{
			Range: s.At(step.from, step.to), Name: step.name, Index: step.index, IsIndex: step.isIndex,
			Quoted:   step.quoted,
			Optional: step.optional,
		})
	}
	return access
}

// stepsEnd returns the offset at which the last step ends.
func (a *accessText) stepsEnd() int {
	if len(a.steps) == 0 {
		return a.root.to
	}
	return a.steps[len(a.steps)-1].to
}

// writes reports whether every odd member name of an access occurs as a key in the text itself.
func (s *scope) writes(a *accessText) bool {
	return !slices.ContainsFunc(a.steps, func(step stepText) bool {
		return !step.quoted && oddKey(step.name) && !s.odd(step.name)
	})
}

// fault is an error in a part of a scalar's text.
type fault struct {
	from, to int
	summary  string
	detail   string
	final    bool // the text is invalid in either grammar
	open     bool // a quote or bracket is not closed
}

// nameByte reports whether a byte can be part of a name or token that is being typed.
func nameByte(c byte) bool {
	return c == '_' || c == '-' || c == ':' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' ||
		c >= 0x80
}
