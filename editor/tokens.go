package editor

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// TokenKind is the kind of a token.
type TokenKind uint8

// The kinds of tokens.
const (
	KeywordToken  TokenKind = iota // a key of the language
	ConfigToken                    // the name of a configuration value or of an input of a component
	VariableToken                  // the name of a variable, or of a local in an expression
	ResourceToken                  // the name of a resource
	OutputToken
	HookToken
	TypeToken // the type of a resource, component or configuration value
	FunctionToken
	PropertyToken
	OperatorToken // an operator, or a delimiter of ${…}
)

// Token is a word of a program, or one line of it if it spans lines. Large programs have hundreds of thousands of them.
type Token struct {
	Start, End int32 // byte offsets, on one line
	Kind       TokenKind
	Declared   bool // declared here, not used
}

// colored is a token with its source.
type colored struct {
	Token
	src *diag.Source
}

// wholeTokens returns the tokens of a text that is not split into parts. It serves files that are not the program's
// main text, and texts that cannot be divided.
func wholeTokens(p *Program, document *parser.Document, start, end int) []Token {
	c := colors{p: p, src: document.Source(), start: start, end: end}
	c.keys(document.Spans())
	c.body(&p.File.Body)
	c.others()
	for _, body := range p.bodies() {
		body.File.Exprs(c.expression)
	}
	return inOrder(c.tokens)
}

// colors collects the tokens of a file or part. Of two overlapping tokens the first in the text wins, and of two that
// begin at the same offset the one added first. Keys of the language are added first, because only the schema of the
// language knows at which places a word such as `type` is one.
type colors struct {
	p          *Program
	src        *diag.Source // source of the file, to map ranges to; nil for parts, where ranges stay unmapped
	start, end int          // only tokens between these offsets are added
	tokens     []colored
}

// add adds a token for each line of a range, without quotes around it. For a whole text, a range of another source is
// of another file and ignored, except for a text that an editor and the disk have equal.
func (c *colors) add(kind TokenKind, declared bool, r diag.Range) {
	src := r.Source
	if c.src != nil {
		src, r = c.src, c.p.File.Origins.Place(r)
		if r.Source == nil || r.Source != c.src && (r.Source.Name() != c.src.Name() ||
			!bytes.Equal(r.Source.Text(), c.src.Text())) {
			return
		}
	}
	if src == nil {
		return
	}
	start, end := int(r.Start), int(r.End)
	if text := src.Text(); end-start > 1 && (text[start] == '"' || text[start] == '\'') && text[end-1] == text[start] {
		start, end = start+1, end-1
	}
	for start < end {
		line := end
		if n := bytes.IndexAny(src.Text()[start:end], "\r\n"); n >= 0 {
			line = start + n
		}
		// A client may ask for the visible lines only.
		if start < line && start < c.end && c.start < line {
			c.tokens = append(c.tokens, colored{Token{int32(start), int32(line), kind, declared}, src})
		}
		// The break and the indentation of the next line belong to no token.
		for start = line; start < end && white(src.Text()[start]); start++ {
		}
	}
}

// others adds the declarations of components, hooks and dynamic types.
func (c *colors) others() {
	for _, component := range c.p.File.Components {
		c.add(TypeToken, true, component.Name.Range)
		c.body(&component.Body)
	}
	for _, h := range c.p.File.Hooks {
		c.add(HookToken, true, h.Name.Range)
	}
	for _, d := range c.p.File.Dynamic {
		c.add(TypeToken, true, d.Name.Range)
	}
}

// body adds the names, types and properties that declarations write.
func (c *colors) body(b *ast.Body) {
	for _, v := range b.Config {
		c.add(ConfigToken, true, v.Name.Range)
		if v.Type != nil {
			c.add(TypeToken, false, v.Type.Range)
		}
	}
	for _, v := range b.Variables {
		c.add(VariableToken, true, v.Name.Range)
	}
	for _, r := range b.Resources {
		c.add(ResourceToken, true, r.Name.Range)
		if r.Type != nil {
			c.add(TypeToken, false, r.Type.Range)
		}
		properties := r.Properties
		if r.Get != nil {
			properties = append(slices.Clip(properties), r.Get.State...)
		}
		for _, property := range properties {
			c.add(PropertyToken, false, property.Name.Range)
		}
	}
	for _, o := range b.Outputs {
		c.add(OutputToken, true, o.Name.Range)
	}
}

// expression adds the tokens of an expression. Literals get no tokens: the colors of texts and numbers are the editor's
// own.
func (c *colors) expression(e ast.Expr) {
	ast.Walk(e, func(e ast.Expr) bool {
		switch e.(type) {
		// The braces in a template are those of its parts, which Walk visits by themselves.
		case *ast.String, *ast.List, *ast.Map, *ast.Template, *ast.Null, *ast.Bool, *ast.Number:
		default:
			if opening, closing, ok := braces(e.Range()); ok {
				c.add(OperatorToken, false, opening)
				c.add(OperatorToken, false, closing)
			}
		}
		switch e := e.(type) {
		case *ast.Map:
			for _, entry := range e.Entries {
				if key, ok := entry.Key.(*ast.String); ok {
					c.add(PropertyToken, false, key.Range())
				}
			}
		case *ast.Access:
			c.access(e)
		case *ast.Call:
			c.call(e)
		case *ast.Unary:
			c.add(OperatorToken, false, e.OpRange)
		case *ast.Binary:
			c.add(OperatorToken, false, e.OpRange)
		case *ast.Member:
			c.add(PropertyToken, false, bare(e.Name.Range))
		case *ast.For:
			for _, local := range []*ast.Local{e.KeyName, e.ValueName} {
				if local != nil {
					c.add(VariableToken, true, local.Range)
				}
			}
		case *ast.LocalRef:
			if e.Range().Text() == e.Local.Name { // a splat has no name for its items
				c.add(VariableToken, false, e.Range())
			}
		}
		return true
	})
}

// bare returns the range of a member without its leading dot.
func bare(r diag.Range) diag.Range {
	if strings.HasPrefix(r.Text(), ".") {
		r.Start++
	}
	return r
}

// access adds the root of an access by its meaning, and its named steps. A name without a meaning has no token, only a
// finding.
func (c *colors) access(a *ast.Access) {
	kind := VariableToken
	switch ref := c.p.Checked.Ref(a); ref.Kind {
	case check.RefNode, check.RefEach:
		kind = nodeToken(ref.Node)
	case check.RefPulumi, check.RefArgs, check.RefPolicy:
		kind = KeywordToken
	case check.RefBad:
		return
	}
	c.add(kind, false, a.Root.Range)
	for _, step := range a.Steps {
		if !step.IsIndex && !step.Quoted {
			c.add(PropertyToken, false, bare(step.Range))
		}
	}
}

// nodeToken returns the kind of a name that refers to a node.
func nodeToken(n *check.Node) TokenKind {
	switch n.Kind {
	case check.ConfigNode:
		return ConfigToken
	case check.ResourceNode:
		return ResourceToken
	}
	return VariableToken
}

// call adds the name of a function with its fn:: prefix, and the keys and function name of an invoke. The names of the
// arguments are keys of the language, and those within `arguments` properties of the function.
func (c *colors) call(call *ast.Call) {
	r := call.Name.Range
	if prefix := int(r.Start) - len("fn::"); r.Source != nil && prefix >= 0 && call.Argument != nil &&
		strings.EqualFold(string(r.Source.Text()[prefix:r.Start]), "fn::") {
		r.Start = int32(prefix)
	}
	c.add(FunctionToken, false, r)
	argument, _ := call.Argument.(*ast.Map)
	// Other functions have no keys of their own: their arguments are data.
	if argument == nil || !strings.EqualFold(call.Name.Value, "invoke") {
		return
	}
	// The first form is the map; the schema is part of this program, so that the assertion cannot fail.
	known := alternatives(refTo("invoke"))[0]["properties"].(jsonNode)
	for _, entry := range argument.Entries {
		key, ok := entry.Key.(*ast.String)
		if !ok || known[strings.ToLower(key.Value)] == nil {
			continue
		}
		c.add(KeywordToken, false, key.Range())
		if strings.EqualFold(key.Value, "function") {
			c.add(FunctionToken, false, entry.Value.Range())
		}
	}
}

// grammar returns the schema of the language's keys without the parts that depend on a program. It includes the
// definitions of environments.
var grammar = sync.OnceValue(func() jsonNode {
	// An empty program has no types, and so nothing is loaded that a context could end.
	node := newSchemaWriter(context.Background(), &check.Program{}).language()
	definitions := node["definitions"].(jsonNode)
	if err := json.Unmarshal(environmentText, &definitions); err != nil {
		panic("editor: environment.json: " + err.Error())
	}
	return node
})

// environmentText holds the definitions for environments, the documents of Pulumi ESC.
//
//go:embed environment.json
var environmentText []byte

// keys adds the keys of the language, and the properties that dynamic types declare.
func (c *colors) keys(spans []parser.Span) {
	c.known(spans, []jsonNode{grammar()})
	for _, section := range spans {
		if !strings.EqualFold(section.Name, "dynamic") {
			continue
		}
		for _, entry := range section.Children {
			for _, part := range entry.Children {
				if strings.EqualFold(part.Name, "inputs") || strings.EqualFold(part.Name, "outputs") {
					for _, property := range part.Children {
						c.add(PropertyToken, true, property.Key)
					}
				}
			}
		}
	}
}

// known adds the keys of entries that a schema in nodes defines, and the keys below them. Keys match in any case
// (L1.20).
func (c *colors) known(entries []parser.Span, nodes []jsonNode) {
	for _, entry := range entries {
		step := stepOf(entry)
		named := false
		for _, node := range nodes {
			properties, _ := node["properties"].(jsonNode)
			if _, exact := properties[step]; exact {
				named = true
				break
			}
			for name := range properties {
				if strings.EqualFold(name, step) {
					step, named = name, true
				}
			}
		}
		if named {
			c.add(KeywordToken, false, entry.Key)
		}
		if next := under(nodes, step); len(next) > 0 && len(entry.Children) > 0 {
			c.known(entry.Children, next)
		}
	}
}
