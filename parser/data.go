package parser

import (
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Data reads a text of one YAML document as data, as fn::fromYAML wants it: scalars, lists, maps, aliases and merge
// keys as in a program, but nothing is interpolated or called. A text without content is null. The answer is never nil;
// where the diagnostics hold an error, it is of no use. Data is safe for concurrent use.
func Data(src *diag.Source) (ast.Expr, diag.Diagnostics) {
	p := &parser{src: src, text: src.Text()}
	nothing := &ast.Null{Place: ast.Place{At: p.at(0, len(p.text))}}
	if !p.screen() {
		return nothing, p.diags
	}
	var document node
	if err := p.unmarshal(&document); err != nil {
		p.syntax(err)
		return nothing, p.diags
	}
	if document.Kind == 0 || len(document.Content) == 0 {
		return nothing, p.diags
	}
	if second := p.lexed.secondDocument; second >= 0 {
		p.fail(diag.WrongKind, p.at(second, second+3), "", "a second document begins here")
		return nothing, p.diags
	}
	p.yamlRoot = document.Content[0]
	return p.read(document.Content[0], nil, false), p.diags
}
