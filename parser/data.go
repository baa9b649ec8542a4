package parser

import (
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Data reads a text of one YAML document as data, as fn::fromYAML wants it: scalars, lists, maps, aliases and merge
// keys as in a program, but nothing is interpolated or called. A text without content is null. The answer is never nil;
// where the diagnostics hold an error, it is of no use. Data is safe for concurrent use.
func Data(src *diag.Source) (ast.Expr, diag.Diagnostics) {
	t := newText(src)
	nothing := &ast.Null{Place: ast.Place{At: t.at(0, len(t.text))}}
	if !t.screen() {
		return nothing, t.diags
	}
	root, err := readTree(t.text, t.lexed)
	if err != nil {
		t.syntax(err)
		return nothing, t.diags
	}
	if root == nil {
		return nothing, t.diags
	}
	if second := t.lexed.secondDocument; second >= 0 {
		t.fail(diag.WrongKind, t.at(second, second+3), "", "a second document begins here")
		return nothing, t.diags
	}
	x := newExprReader(newNodeReader(&t.passage, &t.findings, &t.repairs), nil)
	return x.read(root, nil, false), t.diags
}
