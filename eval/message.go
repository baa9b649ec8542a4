package eval

import (
	"context"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Message is a text of the program for the user (L10.C20). Secrets in it are masked.
type Message struct {
	Severity diag.Severity // Error, Warning or Info
	Debug    bool          // below Info
	Text     string
	URN      urn.URN // the resource concerned; empty for none
	At       diag.Range
}

// messages shows the messages of the program in its order, after all nodes. It leaves out messages that are unknown in
// a preview or depend on a failure. A message of the level error makes the run fail.
func (e *evaluator) messages(ctx context.Context, t *tally) {
	s := &scope{e: e, frame: e.root}
	for _, decl := range e.program.File.Messages {
		m, shown, f := s.message(ctx, decl)
		if f != nil {
			t.add(f)
			continue
		}
		if !shown {
			continue
		}
		if m.Severity == diag.Error {
			t.Failed++
		}
		if e.options.Message != nil {
			e.options.Message(ctx, m)
		}
	}
}

// message returns the text of a declared message, and whether it is shown.
func (s *scope) message(ctx context.Context, decl *ast.Message) (m Message, shown bool, _ *fault) {
	if decl.If != nil {
		if _, holds, f := s.holds(ctx, "if", decl.If); f != nil || !holds {
			return m, false, f
		}
	}
	text, known, f := s.publicText(ctx, decl.Text)
	if f != nil || !known {
		return m, false, f
	}
	m = Message{Severity: diag.Info, Text: text, At: decl.Range}
	switch decl.Level.Text() {
	case "debug":
		m.Debug = true
	case "warning":
		m.Severity = diag.Warning
	case "error":
		m.Severity = diag.Error
	}
	if decl.Resource == nil {
		return m, true, nil
	}
	ref, f := s.resourceIn(ctx, "resource", decl.Resource)
	switch {
	case f != nil && f.later:
		return m, false, nil
	case f != nil:
		return m, false, f
	case ref != nil:
		m.URN = ref.URN
	}
	return m, true, nil
}

// publicText returns the text of an expression with a placeholder for each secret part. known reports whether all of it
// is known.
func (s *scope) publicText(ctx context.Context, e ast.Expr) (text string, known bool, _ *fault) {
	parts := []ast.Expr{e}
	if template, ok := e.(*ast.Template); ok {
		parts = template.Parts
	}
	var b strings.Builder
	for _, part := range parts {
		v, f := s.eval(ctx, part)
		if f != nil {
			return "", false, f
		}
		printed, err := value.Text(v)
		if err != nil {
			return "", false, blame(diag.NotPrintable, part.Range(), "", "%s", err)
		}
		if !printed.IsKnown() {
			return "", false, nil
		}
		if v.ContainsSecret() {
			b.WriteString(value.SecretText)
			continue
		}
		plain, _ := printed.AsString()
		b.WriteString(plain)
	}
	return b.String(), true, nil
}
