package types

import (
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// braces match a reference as other tools write it.
var braces = lazyregexp.New(`\{\{\s*([A-Za-z_][\w-]*)((?:\.\w+|\[\w+\])*)\s*\}\}`)

// hintBraces warns of a resource in double braces, which are not interpolated. It is a warning because the text may be
// meant for a tool that replaces them. Helm, Ansible and templates of Go write it so, and their texts are values of
// properties as well.
func (c *typer) hintBraces(e *ast.String) {
	if !strings.Contains(e.Value, "{{") {
		return
	}
	c.decl.volatile = true // the names are not references
	for _, m := range braces().FindAllStringSubmatch(e.Value, -1) {
		n := c.decl.body.Scope.Lookup(m[1])
		if n == nil || n.Kind != program.ResourceNode {
			continue
		}
		reference := "${" + m[1] + m[2] + "}"
		d := diag.Diagnostic{Severity: diag.Warning, Code: diag.BadInterpolation, Subject: e.Range(),
			Summary: findings.Quote(m[0]) + " stays as it is: it is no reference", Detail: "write `" + reference + "` for the resource"}
		if i := strings.Index(d.Subject.Text(), m[0]); i >= 0 {
			start := int(d.Subject.Start) + i
			d.Subject = diag.NewRange(d.Subject.Source, start, start+len(m[0]))
		}
		c.decl.report.Add(d)
	}
}
