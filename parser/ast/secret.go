package ast

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
)

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
		case *String, *Number, *Bad: // a Bad is a text with a syntax error, or one that does not belong there
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

// HideTexts hides the literals in the properties of a resource whose type is missing or misspelt: no schema says which
// of them are secret.
func (r *Resource) HideTexts() { r.hideTexts(func(string) bool { return true }) }

// HideSounding hides the literals in the properties of a resource whose keys sound secret, for one without a schema.
func (r *Resource) HideSounding() { r.hideTexts(diag.SoundsSecret) }

func (r *Resource) hideTexts(below func(key string) bool) {
	properties := r.Properties
	if r.Get != nil {
		properties = append(slices.Clip(properties), r.Get.State...)
	}
	for _, p := range properties {
		hideBelow(p.Value, below, below(p.Name.Value))
	}
	hideBelow(r.PropertiesExpr, below, below(""))
}

// HideSounding hides the literals in the arguments of a call whose keys sound secret, for a function without a schema.
func HideSounding(arguments Expr) { hideBelow(arguments, diag.SoundsSecret, false) }

// hideBelow hides the literals of an expression: all of them, or those below the keys of maps for which below is true.
func hideBelow(e Expr, below func(key string) bool, all bool) {
	if all {
		HideTexts(e)
		return
	}
	Walk(e, func(e Expr) bool {
		m, isMap := e.(*Map)
		if !isMap {
			return true
		}
		for _, entry := range m.Entries {
			key, _ := entry.Key.(*String)
			hideBelow(entry.Value, below, key != nil && below(key.Value))
		}
		return false
	})
}
