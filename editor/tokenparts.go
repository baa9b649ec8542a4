package editor

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// TokenPart holds the tokens of a part of a text and the position of the part.
type TokenPart struct {
	Start, Line int // byte offset of the part, and number of lines above it
	*PartTokens
}

// PartTokens holds the tokens of a part in source order, without overlaps. It is immutable. TokenParts returns the same
// pointer until a token of the part changes.
type PartTokens struct {
	Source *diag.Source // text of the part; token offsets refer to it
	Tokens []Token

	meanings uint64 // hash of the meanings of its names
}

// Touching returns the tokens of a part that overlap the bytes of the whole text from start to end, exclusive.
func (p TokenPart) Touching(start, end int) []Token {
	tokens := p.Tokens
	for len(tokens) > 0 && p.Start+int(tokens[0].End) <= start {
		tokens = tokens[1:]
	}
	for len(tokens) > 0 && p.Start+int(tokens[len(tokens)-1].Start) >= end {
		tokens = tokens[:len(tokens)-1]
	}
	return tokens
}

// tokenParts caches the last parts of each file, by path and by the text of the part. It is safe for concurrent use.
type tokenParts struct {
	mu     sync.Mutex
	byPath map[string]map[*diag.Source]*PartTokens
}

// last returns the cached parts of a file. The caller must not change the map.
func (t *tokenParts) last(path string) map[*diag.Source]*PartTokens {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byPath[path]
}

// keep replaces the cached parts of a file; nil removes them.
func (t *tokenParts) keep(path string, parts map[*diag.Source]*PartTokens) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if parts == nil {
		delete(t.byPath, path)
		return
	}
	if t.byPath == nil {
		t.byPath = map[string]map[*diag.Source]*PartTokens{}
	}
	t.byPath[path] = parts
}

// TokenParts returns the tokens of an open file in parts. It reuses the parts that an edit neither touches nor changes
// in meaning. The pointers tell the protocol's side which parts have to be sent again.
func TokenParts(ctx context.Context, s *Snapshot, path string) ([]TokenPart, error) {
	p, err := s.Program(ctx, path)
	document := s.Text(path)
	if err != nil || p.Checked == nil || document == nil {
		return nil, err
	}
	parts := document.Parts()
	// Parts belong to the document that was checked. Another file of the program, or a text that is parsed as a whole,
	// is one part.
	if document != p.Document || parts == nil {
		tokens := wholeTokens(p, document, 0, len(document.Source().Text()))
		return []TokenPart{{PartTokens: &PartTokens{Source: document.Source(), Tokens: tokens}}}, nil
	}
	others := otherTokens(p)
	declared := bodiesByText(p.File)
	last := s.session.colored.last(path)
	kept := make(map[*diag.Source]*PartTokens, len(parts))
	all := make([]TokenPart, 0, len(parts))
	for i, part := range parts {
		body := declared[part.Source]
		meanings := meaningsOf(p.Checked, body)
		colored := last[part.Source]
		// A part with tokens of other declarations is made anew, since these are not in its hash.
		if colored == nil || colored.meanings != meanings || len(others[part.Source]) > 0 {
			c := colors{p: p, end: math.MaxInt}
			c.keys(document.SpansIn(i))
			if body != nil {
				c.body(body)
				body.Exprs(c.expression)
			}
			colored = &PartTokens{Source: part.Source, Tokens: inOrder(append(c.tokens, others[part.Source]...)),
				meanings: meanings}
		}
		kept[part.Source] = colored
		all = append(all, TokenPart{Start: part.Start, Line: part.Line, PartTokens: colored})
	}
	s.session.colored.keep(path, kept)
	return all, nil
}

// bodiesByText returns the declarations of a program by the part of the text that contains them. Searching the program
// for each part would take time with the square of its size.
func bodiesByText(file *ast.File) map[*diag.Source]*ast.Body {
	byText := make(map[*diag.Source]*ast.Body, len(file.Resources))
	bodyOf := func(name ast.Literal) *ast.Body {
		found := byText[name.Range.Source]
		if found == nil {
			found = new(ast.Body)
			byText[name.Range.Source] = found
		}
		return found
	}
	for _, v := range file.Config {
		b := bodyOf(v.Name)
		b.Config = append(b.Config, v)
	}
	for _, v := range file.Variables {
		b := bodyOf(v.Name)
		b.Variables = append(b.Variables, v)
	}
	for _, r := range file.Resources {
		b := bodyOf(r.Name)
		b.Resources = append(b.Resources, r)
	}
	for _, o := range file.Outputs {
		b := bodyOf(o.Name)
		b.Outputs = append(b.Outputs, o)
	}
	return byText
}

// meaningsOf returns a hash of the kinds of all names that the declarations of a part refer to; b may be nil. Token
// kinds depend on nothing else outside of a part. Equal hashes of different kinds would leave old colors, which is
// unlikely.
func meaningsOf(p *check.Program, b *ast.Body) uint64 {
	// The hash is FNV-1a over the kinds, one word at a time.
	const prime = 1099511628211
	meanings := uint64(14695981039346656037)
	if b == nil {
		return meanings
	}
	for unit := range b.Units() {
		if unit == nil {
			continue
		}
		for _, a := range unit.Accesses {
			ref := p.Ref(a)
			kind := uint64(ref.Kind) << 8
			if ref.Node != nil {
				kind |= uint64(ref.Node.Kind)
			}
			meanings = (meanings ^ kind) * prime
		}
	}
	return meanings
}

// otherTokens returns, by text, the tokens of all declarations other than a program's own configuration, variables,
// resources and outputs. They are computed anew each time and added to the parts: components and hooks have no place in
// bodiesByText.
func otherTokens(p *Program) map[*diag.Source][]colored {
	c := colors{p: p, end: math.MaxInt}
	c.others()
	rest := *p.File
	rest.Body = ast.Body{}
	rest.Exprs(c.expression)
	for _, body := range p.bodies()[1:] {
		body.File.Exprs(c.expression)
	}
	byText := map[*diag.Source][]colored{}
	for _, token := range c.tokens {
		byText[token.src] = append(byText[token.src], token)
	}
	return byText
}

// inOrder sorts tokens by position and drops each token that overlaps an earlier one.
func inOrder(found []colored) []Token {
	slices.SortStableFunc(found, func(a, b colored) int { return int(a.Start - b.Start) })
	count, end := 0, int32(0)
	for _, t := range found {
		if count == 0 || end <= t.Start {
			found[count], end = t, t.End
			count++
		}
	}
	// A new slice of the final length: found is larger per token, and would stay alive with its sources.
	tokens := make([]Token, count)
	for i := range tokens {
		tokens[i] = found[i].Token
	}
	return tokens
}
