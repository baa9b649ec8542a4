package parser

import (
	"bytes"
	"strings"

	"github.com/yamlhost/yamlhost/parser/ast"
)

// Programs may hold secrets in plain text, `fn::secret: hunter2`, and findings show lines of programs, in logs too.
// Findings hide the literal text of a secret, but not references in it, `${password}`.

// hideSecrets hides what a call that makes a secret is given.
func hideSecrets(call *ast.Call) {
	if !strings.EqualFold(call.Name.Value, "secret") {
		return
	}
	hideTexts(call.Argument)
	for _, argument := range call.Args {
		hideTexts(argument)
	}
}

// hideTexts hides the literals of an expression.
func hideTexts(e ast.Expr) {
	ast.Walk(e, func(e ast.Expr) bool {
		switch e := e.(type) {
		case *ast.String, *ast.Number:
			if rng := e.Range(); rng.Source != nil {
				rng.Source.Hide(rng)
			}
		case *ast.Map:
			for _, entry := range e.Entries {
				hideTexts(entry.Value) // and not the keys
			}
			return false
		}
		return true
	})
}

// hideMeant hides the argument of a key `fn::secret` in a map that is not a call.
func (p *passage) hideMeant(entries []entry) {
	for _, e := range entries {
		if name, ok := strings.CutPrefix(strings.ToLower(e.name), "fn:"); ok && strings.TrimPrefix(name, ":") == "secret" {
			p.src.Hide(p.span(e.value))
		}
	}
}

// hideBroken hides what follows `fn::secret` in each line of a text that cannot be read as a whole, to the end of the
// line.
func (p *passage) hideBroken() {
	const call = "fn::secret"
	start := 0
	for line := range bytes.Lines(p.text) {
		if i := bytes.Index(bytes.ToLower(line), []byte(call)); i >= 0 {
			from := start + i + len(call)
			if from < start+len(line) && line[i+len(call)] == ':' {
				from++
			}
			p.src.Hide(p.at(from, start+len(line)))
		}
		start += len(line)
	}
}
