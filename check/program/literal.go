package program

import (
	"errors"
	"fmt"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// ParseData reads a text as data, without interpolation or calls. The parser has such a function.
type ParseData func(src *diag.Source) (ast.Expr, diag.Diagnostics)

// Data returns the value of a text that is data. It calls losesDigits for each integer whose digits the value does not
// keep. The error has the place of the fault.
func Data(parse ParseData, text string, losesDigits func()) (value.Value, error) {
	data, findings := parse(diag.NewSource("text", []byte(text)))
	for _, d := range findings {
		if d.Severity == diag.Error {
			pos := d.Subject.StartPosition()
			return value.Null, fmt.Errorf("line %d, column %d: %s", pos.Line, pos.Column, d.Summary)
		}
		if d.Code == diag.BadNumber {
			losesDigits()
		}
	}
	return Literal(data)
}

// Literal evaluates an expression that is plain data. It returns an error for any other expression.
func Literal(e ast.Expr) (value.Value, error) {
	switch e := e.(type) {
	case *ast.Null:
		return value.Null, nil
	case *ast.Bool:
		return value.Bool(e.Value), nil
	case *ast.Number:
		return value.Number(e.Value), nil
	case *ast.String:
		return value.String(e.Value), nil
	case *ast.List:
		items := make([]value.Value, len(e.Items))
		for i, item := range e.Items {
			var err error
			if items[i], err = Literal(item); err != nil {
				return value.Null, err
			}
		}
		return value.List(items...), nil
	case *ast.Map:
		entries := make([]value.Entry, len(e.Entries))
		for i, entry := range e.Entries {
			v, err := Literal(entry.Value)
			if err != nil {
				return value.Null, err
			}
			key, ok := entry.Key.(*ast.String)
			if !ok {
				return value.Null, errors.New("keys must be strings")
			}
			entries[i] = value.Entry{Key: key.Value, Value: v}
		}
		return value.MapOf(entries...), nil
	}
	return value.Null, errors.New("only scalars, lists and maps are allowed")
}
