package ast

import "strings"

// A program may contain secrets in plain text, as in `fn::secret: hunter2`, and findings show lines of programs, also
// in logs. The source therefore hides the literal text of secrets, but not references such as `${password}`. What
// stands below a key `fn::secret` the reader of YAML hides too, whether a program is made of it or not.

// HideSecrets hides the literals in the arguments of a call of secret, whose name may be misspelt at the end: no other
// function begins like it.
func HideSecrets(call *Call) {
	const name = "sec"
	if len(call.Name.Value) < len(name) || !strings.EqualFold(call.Name.Value[:len(name)], name) {
		return
	}
	HideTexts(call.Argument)
	for _, argument := range call.Args {
		HideTexts(argument)
	}
}

// HideTexts hides the strings and numbers in an expression, except the keys of maps.
func HideTexts(e Expr) {
	Walk(e, func(e Expr) bool {
		switch e := e.(type) {
		case *String, *Number:
			if rng := e.Range(); rng.Source != nil {
				rng.Source.Hide(rng)
			}
		case *Map:
			for _, entry := range e.Entries {
				HideTexts(entry.Value) // but not the keys
			}
			return false
		}
		return true
	})
}
