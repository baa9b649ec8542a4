package parser

import (
	"strings"

	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// A program may contain secrets in plain text, as in `fn::secret: hunter2`, and findings show lines of programs, also
// in logs. The source therefore hides the literal text of secrets, but not references such as `${password}`.

// hideSecrets hides the literals in the arguments of a call of secret.
func hideSecrets(call *ast.Call) {
	if !strings.EqualFold(call.Name.Value, "secret") {
		return
	}
	HideTexts(call.Argument)
	for _, argument := range call.Args {
		HideTexts(argument)
	}
}

// HideTexts hides the strings and numbers in an expression, except the keys of maps.
func HideTexts(e ast.Expr) {
	ast.Walk(e, func(e ast.Expr) bool {
		switch e := e.(type) {
		case *ast.String, *ast.Number:
			if rng := e.Range(); rng.Source != nil {
				rng.Source.Hide(rng)
			}
		case *ast.Map:
			for _, entry := range e.Entries {
				HideTexts(entry.Value) // but not the keys
			}
			return false
		}
		return true
	})
}

// hideMeant hides the value of a key `fn::secret`, or a similar one, in a map that is not a call.
func hideMeant(p *yamlnode.Text, entries []entry) {
	for _, e := range entries {
		if name, ok := strings.CutPrefix(strings.ToLower(e.name), "fn:"); ok && strings.TrimPrefix(name, ":") == "secret" {
			p.Source.Hide(p.Span(e.value))
		}
	}
}
