package editor

import (
	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/parser"
)

// Signature is the function that a place is an argument of.
type Signature struct {
	Label      string
	Docs       string
	Parameters []Parameter
	Active     int // 0-based; -1 where there are more arguments than parameters
}

// Parameter is one parameter of a function.
type Parameter struct{ Name, Docs string }

// SignatureAt is the function whose arguments are being written at a place inside of ${…}; nil where there is none.
func SignatureAt(s *Snapshot, path string, offset int) *Signature {
	document := s.Text(path)
	if document == nil {
		return nil
	}
	text, shift := document.Near(offset)
	c := parser.Cursor(text, offset-shift)
	f, found := builtins.Lookup(c.Function)
	if !found {
		return nil
	}
	signature := &Signature{Label: f.Signature(), Docs: f.Summary, Active: c.Argument}
	for i, p := range f.Params {
		signature.Parameters = append(signature.Parameters, Parameter{Name: f.ParamName(i), Docs: p.Doc})
	}
	if n := len(f.Params); signature.Active >= n {
		signature.Active = n - 1
		if !f.Variadic {
			signature.Active = -1
		}
	}
	return signature
}
