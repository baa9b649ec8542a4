package types

import (
	"fmt"
	"strconv"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// NoteTexts looks for configuration in the arguments of fn::toJSON, in the order of evaluation.
func (b *Body) NoteTexts(report *findings.Reporter, arguments []ast.Expr) {
	notes := textNotes{report: report, program: b.Program, config: b.Options.Config,
		noted: make(map[*program.Node]bool)}
	for _, argument := range arguments {
		notes.noteTexts(argument)
	}
}

// textNotes looks for configuration in the arguments of fn::toJSON. It is a pass of its own, over all arguments in the
// order of evaluation, because a value is reported once and its first use depends on that order.
type textNotes struct {
	report  *findings.Reporter
	program *program.Program
	config  map[string]program.ConfigText
	noted   map[*program.Node]bool // values already reported
}

// noteTexts reports, once for each value, configuration in the argument of fn::toJSON that is declared as text and
// looks like a number or a boolean. Pulumi's own host ignores the declaration if the stack sets the value (L2.30) and
// writes a number instead of a text, so that the documents differ.
func (c *textNotes) noteTexts(argument ast.Expr) {
	ast.Walk(argument, func(e ast.Expr) bool {
		a, ok := e.(*ast.Access)
		if !ok {
			return true
		}
		ref := c.program.Ref(a)
		if ref.Kind != program.RefNode || ref.Node == nil || c.noted[ref.Node] {
			return true
		}
		switch n := ref.Node; n.Kind {
		case program.VariableNode:
			c.noted[n] = true // report its content once
			c.noteTexts(n.Variable.Value)
		case program.ConfigNode:
			c.noteText(n, a)
		case program.ResourceNode:
		}
		return true
	})
}

// noteText reports one configuration value. Pulumi's host parses the text of the stack's file again, whatever the
// declaration says.
func (c *textNotes) noteText(n *program.Node, a *ast.Access) {
	decl := n.Config.Decl
	text, set := c.config[n.Config.Key]
	if decl == nil || decl.Type == nil || decl.Type.Name != "string" || !set || text.Unread || text.Project || text.Structured {
		return
	}
	guessed, kind := guess(text.Text), ""
	switch f, number := guessed.AsNumber(); {
	case number && f == float64(int64(f)):
		kind = "integer"
	case number:
		kind = "number"
	case guessed.Is(value.KindBool):
		kind = "boolean"
	default:
		return
	}
	c.noted[n] = true
	written, _ := value.AppendJSON(nil, guessed)
	ours, theirs := strconv.Quote(text.Text), string(written)
	if text.Secret || decl.Secret.IsTrue() {
		ours, theirs = "in quotes", "without"
	}
	c.report.Add(diag.Diagnostic{Severity: diag.Info, Code: diag.BadNumber, Subject: a.Range(),
		Summary: fmt.Sprintf("config %s is declared as a string: it becomes %s here and %s in Pulumi's own host",
			decl.Name.Value, ours, theirs),
		Detail:  fmt.Sprintf("declare it with `type: %s` to keep the value that Pulumi's host reads", kind),
		Related: []diag.Related{{Range: decl.Type.Range, Message: "declared here"}}})
}
