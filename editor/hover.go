package editor

import (
	"context"
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Hover describes the name or value at a position.
type Hover struct {
	Text string     // Markdown
	At   diag.Range // in the whole text
}

// HoverAt describes the name or value at an offset. It returns nil if there is nothing to describe. It checks the
// present text, since people point at what they have just written.
func HoverAt(ctx context.Context, s *Snapshot, path string, offset int) (*Hover, error) {
	p, err := s.Program(ctx, path)
	if err == nil && p.SettingsOf != "" {
		// The file is the settings of a stack; p is the program that they configure.
		return s.hoverSettings(ctx, p, path, offset), ctx.Err()
	}
	if err != nil || p.Checked == nil {
		return nil, err
	}
	found := p.at(path, offset)
	text := p.explain(found)
	if text == "" {
		return nil, nil
	}
	if known := p.explainState(ctx, found); known != "" { // above the documentation, which may be long
		head, docs, _ := strings.Cut(text, headEnd)
		text = head + headEnd + "\n\n" + known + docs
	}
	return &Hover{Text: text, At: p.File.Origins.Place(found.at)}, nil
}

// explain describes a spot as Markdown; empty if nothing is known. The cases go from the narrowest to the widest: a
// type and a property lie within a resource, and a step within an access.
func (p *Program) explain(s spot) string {
	switch {
	case s.typed != nil:
		if r := s.resource.Resource.Schema; r != nil {
			return page("resource "+schema.CollapseToken(r.Token), r.Deprecation, r.Description)
		}
		// A component, or a type without a schema, has nothing else to tell.
		return page("resource "+s.typed.Value, "", "")
	case s.option != nil:
		return page("option "+s.option.Key.Value, "", optionDoc(s.option.Key.Value))
	case len(s.property) > 0:
		return explainProperty(s)
	case s.call != nil:
		return p.explainCall(s)
	case s.access != nil && s.step >= 0:
		t, property := p.typeOfSteps(s)
		name := s.access.Root.Value
		for _, step := range s.access.Steps[:s.step+1] {
			if step.IsIndex {
				name += fmt.Sprintf("[%d]", step.Index)
			} else {
				name += "." + step.Name
			}
		}
		if t == nil {
			return ""
		}
		text, deprecated := "", ""
		if property != nil {
			text, deprecated = property.Description, property.Deprecation
		}
		return page(name+": "+schema.TypeName(t), deprecated, text)
	case s.access != nil && p.Checked.Ref(s.access).Kind == check.RefPulumi:
		return page("pulumi", "", "Values about the run: the project, the stack, the organization and the folders.")
	case s.node != nil:
		return explainNode(s.node)
	case s.output != nil:
		for _, o := range p.Checked.Outputs {
			if o.Decl == s.output {
				return page("output "+s.output.Name.Value+": "+schema.TypeName(o.Type), "", "")
			}
		}
	}
	return ""
}

// typeOfSteps returns the type of an access up to the step of a spot, and its property if it has one. The checker keeps
// the type of the whole access only, and so the steps are followed again, up to the one pointed at.
func (p *Program) typeOfSteps(s spot) (schema.Type, *schema.Property) {
	ref := p.Checked.Ref(s.access)
	var t schema.Type
	switch {
	case ref.Node != nil:
		t = ref.Node.Type
	case ref.Kind == check.RefPolicy:
		t = policyName(p.Checked, s.access)
	}
	if t == nil {
		return nil, nil
	}
	var property *schema.Property
	for _, step := range s.access.Steps[:s.step+1] {
		name := step.Name
		if step.IsIndex {
			// All items of a list have one type, whatever the index.
			name = "[0]"
		}
		if t, property = memberType(t, name); t == nil {
			return nil, nil
		}
	}
	return t, property
}

// policyName returns the type of a name that only policies can use. The names are those of one policy: `resource` has
// another type in each.
func policyName(p *check.Program, access *ast.Access) schema.Type {
	unit, _ := access.Unit()
	for _, policy := range p.Policies {
		if policy.Decl.Unit == unit {
			return policy.Names[access.Root.Value]
		}
	}
	return nil
}

// explainNode describes a configuration value, variable or resource by its declaration.
func explainNode(n *check.Node) string {
	switch n.Kind {
	case check.ConfigNode:
		text := ""
		if n.Config.Decl != nil {
			text = n.Config.Decl.Description.Text()
		}
		return page("config "+n.Name+": "+schema.TypeName(n.Type), "", text)
	case check.VariableNode:
		return page("variable "+n.Name+": "+schema.TypeName(n.Type), "", "")
	}
	text, deprecated := "", ""
	if r := n.Resource.Schema; r != nil {
		text, deprecated = r.Description, r.Deprecation
	}
	// The stack knows it by that name, for instance in its outputs.
	if n.Resource.LogicalName != n.Name {
		text = "Its name in the stack is `" + n.Resource.LogicalName + "`.\n\n" + text
	}
	return page("resource "+n.Name+": "+schema.CollapseToken(n.Resource.Token), deprecated, text)
}

// explainProperty describes a property, with what happens if it is left out or changed, which a schema's description
// rarely says.
func explainProperty(s spot) string {
	r := s.resource.Resource.Schema
	if r == nil {
		return ""
	}
	var t schema.Type = r.Inputs
	var property *schema.Property
	for _, key := range s.property {
		if t, property = memberType(t, key.Value); t == nil {
			return ""
		}
	}
	// It is a key of a map, which the schema does not describe.
	if property == nil {
		return ""
	}
	head := property.Name + ": " + schema.TypeName(property.Type)
	var notes []string
	if property.Required {
		notes = append(notes, "required")
	}
	if property.Secret {
		notes = append(notes, "secret")
	}
	if property.ReplaceOn {
		notes = append(notes, "a change replaces the resource")
	}
	if property.Default != nil {
		notes = append(notes, "`"+schema.ScalarText(property.Default)+"` by default")
	}
	text := property.Description
	if len(notes) > 0 {
		text = "_" + strings.Join(notes, "; ") + "_\n\n" + text
	}
	return page(head, property.Deprecation, text)
}

// explainCall describes the function of a call; empty if the checker has not resolved it.
func (p *Program) explainCall(s spot) string {
	call := p.Checked.Call(s.call)
	switch {
	case call == nil:
		return ""
	case call.Invoke != nil && call.Invoke.Schema != nil:
		return page("function "+call.Invoke.Token, call.Invoke.Schema.Deprecation, call.Invoke.Schema.Description)
	case call.Func != nil:
		return explainFunction(call.Func)
	}
	return ""
}

// explainFunction describes a built-in function with its parameters and its example.
func explainFunction(f *builtins.Func) string {
	var b strings.Builder
	b.WriteString(f.Summary)
	for _, param := range f.Params {
		fmt.Fprintf(&b, "\n- `%s`: %s", param.Name, param.Doc)
	}
	if f.Example != "" {
		fmt.Fprintf(&b, "\n\n```yaml\n%s\n```", strings.TrimSpace(f.Example))
	}
	return page(f.Signature(), f.Warning, b.String())
}

// headEnd ends the heading of a page.
const headEnd = "\n```"

// page formats a heading as code, a deprecation notice and a text as Markdown. HoverAt cuts it at headEnd, to put the
// state between heading and text.
func page(head, deprecated, text string) string {
	page := "```\n" + head + headEnd
	if deprecated != "" {
		page += "\n\n**Deprecated**: " + schema.Plain(deprecated)
	}
	if text = strings.TrimSpace(schema.Plain(text)); text != "" {
		page += "\n\n" + text
	}
	return page
}
