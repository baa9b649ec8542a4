package types

import (
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// braces match a reference as other tools write it: Helm and Ansible, Ruby, Terraform's directives, ERB, and shells,
// whose `$name` is meant only where it is the whole text.
var braces = lazyregexp.New(`\{\{-?\s*` + dotted + `\s*-?\}\}|[#%@!]\{\s*` + dotted + `\s*\}|<%[=-]?\s*` + dotted +
	`\s*-?%>|\$\[\s*` + dotted + `\s*\]|^\$` + dotted + `$`)

// dotted matches a name with members, in two groups.
const dotted = `([A-Za-z_][\w-]*)((?:\.\w+|\[\w+\])*)`

// hintBraces warns of a resource in double braces, which are not interpolated. It is a warning because the text may be
// meant for a tool that replaces them: their texts are values of properties as well. A resource cannot refer to itself,
// so its own name in it is meant for such a tool.
func (c *typer) hintBraces(e *ast.String) {
	if !strings.ContainsAny(e.Value, "{%$") {
		return
	}
	c.decl.volatile = true // the names are not references
	for _, m := range braces().FindAllStringSubmatch(e.Value, -1) {
		name, steps := "", ""
		for i := 1; i < len(m) && name == ""; i += 2 {
			name, steps = m[i], m[i+1]
		}
		n := c.decl.body.Scope.Lookup(name)
		if n == nil || n.Kind != program.ResourceNode || n.Unit() == c.decl.unit ||
			m[0][0] == '$' && strings.Contains(e.Range().Text(), "$$") { // a dollar sign on purpose
			continue
		}
		d := diag.Diagnostic{Severity: diag.Warning, Code: diag.BadInterpolation, Subject: e.Range(),
			Summary: findings.Quote(m[0]) + " stays as it is: it is no reference",
			Detail:  "write `${" + name + steps + "}` for the resource"}
		if i := strings.Index(d.Subject.Text(), m[0]); i >= 0 {
			start := int(d.Subject.Start) + i
			d.Subject = diag.NewRange(d.Subject.Source, start, start+len(m[0]))
		}
		c.decl.report.Add(d)
	}
}
