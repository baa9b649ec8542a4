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

	sight uint64 // hash of the meanings of its names
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
// in meaning.
func TokenParts(ctx context.Context, s *Snapshot, path string) ([]TokenPart, error) {
	p, err := s.Program(ctx, path)
	document := s.Text(path)
	if err != nil || p.Checked == nil || document == nil {
		return nil, err
	}
	parts := document.Parts()
	if document != p.Document || parts == nil {
		tokens := wholeTokens(p, document, 0, len(document.Source().Text()))
		return []TokenPart{{PartTokens: &PartTokens{Source: document.Source(), Tokens: tokens}}}, nil
	}
	others := otherTokens(p)
	declared := declarationsByText(p.File)
	last := s.session.colored.last(path)
	kept := make(map[*diag.Source]*PartTokens, len(parts))
	all := make([]TokenPart, 0, len(parts))
	for i, part := range parts {
		sight := declared[part.Source].sight(p.Checked)
		colored := last[part.Source]
		if colored == nil || colored.sight != sight || len(others[part.Source]) > 0 {
			c := colors{p: p, end: math.MaxInt}
			c.keys(document.SpansIn(i))
			c.own(declared[part.Source])
			colored = &PartTokens{Source: part.Source, Tokens: inOrder(append(c.tokens, others[part.Source]...)), sight: sight}
		}
		kept[part.Source] = colored
		all = append(all, TokenPart{Start: part.Start, Line: part.Line, PartTokens: colored})
	}
	s.session.colored.keep(path, kept)
	return all, nil
}

// declarations holds the declarations of a program or component, or those in one part of a text.
type declarations struct {
	config    []*ast.Config
	variables []*ast.Variable
	resources []*ast.Resource
	outputs   []*ast.Output
}

func ofProgram(f *ast.File) declarations {
	return declarations{f.Config, f.Variables, f.Resources, f.Outputs}
}

func ofComponent(c *ast.Component) declarations {
	return declarations{c.Inputs, c.Variables, c.Resources, c.Outputs}
}

func declarationsByText(file *ast.File) map[*diag.Source]*declarations {
	byText := make(map[*diag.Source]*declarations, len(file.Resources))
	scopeOf := func(name ast.Literal) *declarations {
		found := byText[name.Range.Source]
		if found == nil {
			found = new(declarations)
			byText[name.Range.Source] = found
		}
		return found
	}
	for _, v := range file.Config {
		d := scopeOf(v.Name)
		d.config = append(d.config, v)
	}
	for _, v := range file.Variables {
		d := scopeOf(v.Name)
		d.variables = append(d.variables, v)
	}
	for _, r := range file.Resources {
		d := scopeOf(r.Name)
		d.resources = append(d.resources, r)
	}
	for _, o := range file.Outputs {
		d := scopeOf(o.Name)
		d.outputs = append(d.outputs, o)
	}
	return byText
}

// sight returns a hash of the kinds of all referenced names. Token kinds depend on nothing else outside of a part.
func (d *declarations) sight(p *check.Program) uint64 {
	const prime = 1099511628211
	sight := uint64(14695981039346656037)
	if d == nil {
		return sight
	}
	unit := func(u *ast.Unit) {
		if u == nil {
			return
		}
		for _, a := range u.Accesses {
			ref := p.Ref(a)
			kind := uint64(ref.Kind) << 8
			if ref.Node != nil {
				kind |= uint64(ref.Node.Kind)
			}
			sight = (sight ^ kind) * prime
		}
	}
	for _, v := range d.config {
		unit(v.Unit)
	}
	for _, v := range d.variables {
		unit(v.Unit)
	}
	for _, r := range d.resources {
		unit(r.Unit)
	}
	for _, o := range d.outputs {
		unit(o.Unit)
	}
	return sight
}

// own adds the tokens of the declarations in a part.
func (c *colors) own(d *declarations) {
	if d == nil {
		return
	}
	c.body(*d)
	exprs(&ast.File{Config: d.config, Variables: d.variables, Resources: d.resources, Outputs: d.outputs}, c.expression)
}

// otherTokens returns, by text, the tokens of all declarations other than a program's own configuration, variables,
// resources and outputs.
func otherTokens(p *Program) map[*diag.Source][]colored {
	c := colors{p: p, end: math.MaxInt}
	c.others()
	rest := *p.File
	rest.Config, rest.Variables, rest.Resources, rest.Outputs = nil, nil, nil, nil
	exprs(&rest, c.expression)
	for _, body := range p.bodies()[1:] {
		exprs(body.File, c.expression)
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
	tokens := make([]Token, count)
	for i := range tokens {
		tokens[i] = found[i].Token
	}
	return tokens
}
