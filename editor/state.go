package editor

import (
	"context"
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// State is the last recorded state of a stack. It is immutable.
type State struct {
	Stack     string
	Resources map[Recorded]Deployed // resources without a parent
}

// Recorded identifies a resource without a parent in a stack.
type Recorded struct{ Type, Name string }

// Deployed is a resource in the state.
type Deployed struct {
	ID      string
	Inputs  value.Value // the inputs of the last update, a map; only the names of changed properties are shown
	Outputs value.Value // a map; secrets in it are encrypted and shown as secrets
	Protect bool
	Pending string // describes the operation that an interrupted update left pending; empty if there is none
	// Sealed reports whether the resource has secret inputs. Its ID and outputs may contain them, so none of these is
	// shown.
	Sealed bool
	// Because is why the last operation that changed the resource did, as chains with the root first; none if that is
	// not known. Changed describes the operation.
	Because [][]Reason
	Changed string
}

// Reason is one link of a chain of causes, without secrets. Path is set for a changed property of the resource itself.
type Reason struct{ Place, Text, Path string }

// because describes the causes of the last change of a resource as Markdown, with property only those of its changes;
// empty if none are known. Each chain begins with the root cause; indentation shows what followed from it.
func (d Deployed) because(property string) string {
	var b strings.Builder
	for _, chain := range d.Because {
		last := chain[len(chain)-1].Path
		if rest, inside := strings.CutPrefix(last, property); property != "" && (!inside || rest != "" &&
			!strings.ContainsAny(rest[:1], ".[")) {
			continue
		}
		if b.Len() == 0 {
			fmt.Fprintf(&b, "%s changed this because\n", d.Changed)
		}
		for i, r := range chain {
			fmt.Fprintf(&b, "%s- %s", strings.Repeat("  ", i), codeSpan(r.Text))
			if r.Place != "" {
				fmt.Fprintf(&b, " (%s)", r.Place)
			}
			b.WriteByte('\n')
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// state returns the recorded state of the program's selected stack, or nil.
func (p *Program) state(ctx context.Context) *State {
	if p.Project.State == nil {
		return nil
	}
	return p.Project.State(ctx)
}

// deployed returns the recorded state of a resource of the program. It reports false for resources with forEach, other
// nodes, and resources that are not deployed. It compares type and name, the two parts of a URN that the program
// decides by itself; resources with a parent are not in a State.
func (s *State) deployed(n *check.Node) (Deployed, bool) {
	if s == nil || n == nil || n.Resource == nil || n.Resource.Decl.ForEach != nil {
		return Deployed{}, false
	}
	d, ok := s.Resources[Recorded{n.Resource.Token, n.Resource.LogicalName}]
	return d, ok
}

// Lens is a line that an editor shows above a declaration.
type Lens struct {
	At   diag.Range // of the name, in the whole text
	Text string
}

// Lenses describes, for each resource that a file declares, its state in the selected stack. It returns none if no
// stack is selected.
func Lenses(ctx context.Context, s *Snapshot, path string) ([]Lens, error) {
	p, err := s.Program(ctx, path)
	if err != nil || p.Checked == nil {
		return nil, err
	}
	state := p.state(ctx)
	if state == nil {
		return nil, nil
	}
	var lenses []Lens
	for _, n := range p.Checked.Nodes {
		if n.Resource == nil {
			continue
		}
		loc := p.location(n.Range)
		// A program may be several files, and a request is for one.
		if loc.Path != path {
			continue
		}
		text := state.Stack + ": " + state.say(p.bodyOf(n), n)
		if former := state.former(p.Checked, n); len(former) > 0 {
			text += ", looks like a rename of " + strings.Join(former, " or ")
		}
		lenses = append(lenses, Lens{At: loc.At, Text: text})
	}
	return lenses, nil
}

// say returns the text of a lens. The ID of a resource with secret inputs is left out, as it may be made of one. of is
// the program or component that declares the resource.
func (s *State) say(of *check.Program, n *check.Node) string {
	if n.Resource.Decl.ForEach != nil {
		count := 0
		for r := range s.Resources {
			if instanceOf(of, r) == n {
				count++
			}
		}
		return diag.Count(count, "instance")
	}
	d, ok := s.deployed(n)
	if !ok {
		return "not deployed"
	}
	words := []string{"deployed"}
	if d.ID != "" && !d.Sealed {
		words[0] = d.ID
	}
	if d.Protect {
		words = append(words, "protected")
	}
	if d.Pending != "" {
		words = append(words, d.Pending)
	}
	if changed := d.drifted(n); len(changed) > 0 {
		words = append(words, "changed since: "+strings.Join(changed, ", "))
	}
	return strings.Join(words, ", ")
}

// instanceOf returns the declaration of a recorded resource; nil if there is none. An instance is recorded as the
// resource's name, a hyphen and its key. Only the prefix is compared, since the keys are not known before a run: the
// longest name decides, so that `a-b` is no instance of `a` where it is declared itself.
func instanceOf(of *check.Program, r Recorded) (found *check.Node) {
	for _, n := range of.Nodes {
		switch {
		case n.Resource == nil || n.Resource.Token != r.Type:
		case n.Resource.Decl.ForEach == nil:
			if n.Resource.LogicalName == r.Name {
				return n
			}
		case strings.HasPrefix(r.Name, n.Resource.LogicalName+"-") &&
			(found == nil || len(n.Resource.LogicalName) > len(found.Resource.LogicalName)):
			found = n
		}
	}
	return found
}

// drifted returns the properties with another value in the program than in the last update. It does not compare
// computed or secret values.
func (d Deployed) drifted(n *check.Node) (names []string) {
	// Nothing is recorded: every property would seem changed.
	if d.Inputs.Kind() != value.KindMap {
		return nil
	}
	for _, p := range n.Resource.Decl.Properties {
		prior, known := d.Inputs.Lookup(p.Name.Value)
		if differs(p.Value, prior, known) {
			names = append(names, p.Name.Value)
		}
	}
	return names
}

// differs reports whether an expression certainly differs from the recorded value prior. Map entries that only prior
// has may be defaults and are ignored. known reports whether prior exists. Whatever is not certain counts as equal.
func differs(e ast.Expr, prior value.Value, known bool) bool {
	var now value.Value
	switch e := e.(type) {
	case *ast.String:
		now = value.String(e.Value)
	case *ast.Bool:
		now = value.Bool(e.Value)
	case *ast.Number:
		now = value.Number(e.Value)
	case *ast.List:
		if !known || prior.Kind() != value.KindList || prior.IsSecret() {
			return !known
		}
		if prior.Len() != len(e.Items) {
			return true
		}
		for i, item := range e.Items {
			if v, ok := prior.Index(i); differs(item, v, ok) {
				return true
			}
		}
		return false
	case *ast.Map:
		if known && prior.Kind() != value.KindMap || prior.IsSecret() {
			return false
		}
		for _, entry := range e.Entries {
			key, ok := entry.Key.(*ast.String)
			if !ok {
				continue
			}
			v, ok := prior.Lookup(key.Value)
			if differs(entry.Value, v, known && ok) {
				return true
			}
		}
		return false
	default:
		return false
	}
	if !known || prior.ContainsSecret() {
		return !known
	}
	// The state may have the converted form of a literal, such as 3 for "3" (L8.41), so equal texts are equal values.
	text, err := value.Text(now)
	recorded, notText := value.Text(prior)
	return !value.Equal(now, prior) && (err != nil || notText != nil || !value.Equal(text, recorded))
}

// maxShown limits the characters of a value in a hover.
const maxShown = 300

// explainState describes the resource or output at a spot by the selected stack's state, as Markdown; "" if nothing is
// known. The page of a name shows all of the resource, that of a step only the value.
func (p *Program) explainState(ctx context.Context, s spot) string {
	n := p.nodeOf(s)
	// Hovering a property of a resource shows only the causes of that property's change.
	if n == nil && s.resource != nil && len(s.property) == 1 {
		d, _ := p.state(ctx).deployed(s.resource)
		return d.because(s.property[0].Value)
	}
	if n == nil || n.Resource == nil {
		return ""
	}
	state := p.state(ctx)
	if state == nil {
		return ""
	}
	d, ok := state.deployed(n)
	if s.access == nil || s.step < 0 {
		text := "In the stack " + codeSpan(state.Stack) + ": " + codeSpan(state.say(p.bodyOf(n), n))
		if why := d.because(""); why != "" {
			text += "\n\n" + why
		}
		return text
	}
	if !ok {
		return ""
	}
	v, ok := d.step(n, s.access.Steps[:s.step+1])
	if !ok {
		return ""
	}
	return "In the stack " + codeSpan(state.Stack) + ": " + codeSpan(diag.Shorten(v.String(), maxShown))
}

// step returns the value of steps into a resource's outputs, or `[secret]` if the schema or the state marks it secret.
// The schema is asked too, since the state of another host may not have marked what the schema calls secret.
func (d Deployed) step(n *check.Node, steps []ast.Step) (value.Value, bool) {
	if d.Sealed {
		return value.String("[secret]"), true
	}
	if first := steps[0]; !first.IsIndex {
		if first.Name == "id" && len(steps) == 1 && d.ID != "" {
			return value.String(d.ID), true
		}
		if r := n.Resource.Schema; r != nil && r.Outputs != nil {
			if property := r.Outputs.Property(first.Name); property != nil && property.Secret {
				return value.String("[secret]"), true
			}
		}
	}
	// The walk stops at a secret value: its String is a placeholder, and its members would not be marked.
	v := d.Outputs
	for _, step := range steps {
		if v.IsSecret() {
			break
		}
		found := false
		if step.IsIndex {
			v, found = v.Index(step.Index)
		} else {
			v, found = v.Lookup(step.Name)
		}
		if !found {
			return value.Value{}, false
		}
	}
	return v, true
}

// codeSpan formats a text as a Markdown code span on one line. Names and values come from programs and states, so that
// backticks in them must not end the span.
func codeSpan(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return fence + text + fence
}
