package parser

import (
	"fmt"
	"os"
	"testing"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

func TestTry(t *testing.T) {
	data, err := os.ReadFile(os.Getenv("TRY"))
	if err != nil {
		t.Skip()
	}
	f, ds := Parse(diag.NewSource("x.yaml", data), Options{})
	ast.Dump(os.Stdout, f)
	for _, d := range ds {
		s, e := d.Subject.StartPosition(), d.Subject.EndPosition()
		fmt.Printf("%d:%d-%d:%d %s %s %s | %s\n", s.Line, s.Column, e.Line, e.Column, d.Severity, d.Code, d.Summary, d.Detail)
	}
}
