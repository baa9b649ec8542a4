package eval

import (
	"context"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/schema"
)

// Policies evaluates the policies of a checked pack. It is safe for concurrent use.
type Policies struct {
	program *check.Program
	options Options
	info    monitor.Info
	pulumi  value.Value
	root    *frame
	budget  *builtins.Budget // of the pack's whole work; each question adds to it what a resource adds
}

// PolicyFinding is one violation of a policy. Secrets in it are masked.
type PolicyFinding struct {
	Message string
	URN     urn.URN // the resource concerned, if the policy names one; else empty
}

// NewPolicies evaluates the variables of a pack for the stack that info describes; tags are those of the stack.
func NewPolicies(ctx context.Context, p *check.Program, info monitor.Info, tags map[string]string, o Options) (
	*Policies, diag.Diagnostics) {
	ps := &Policies{program: p, options: o, info: info, root: newFrame(p, ""), budget: builtins.NewBudget(o.Limits)}
	e, ctx := ps.evaluator(ctx)
	secret := map[string]bool{}
	for _, key := range info.ConfigSecretKeys {
		secret[key] = true
	}
	var config, labels []value.Entry
	for key, text := range info.Config {
		v := value.String(text)
		if secret[key] {
			v = v.Secret()
		}
		config = append(config, value.Entry{Key: key, Value: v})
		if short, own := strings.CutPrefix(key, info.Project+":"); own {
			config = append(config, value.Entry{Key: short, Value: v})
		}
	}
	for key, text := range tags {
		labels = append(labels, value.Entry{Key: key, Value: value.String(text)})
	}
	ps.pulumi = e.pulumiVariable().With("dryRun", value.Bool(info.DryRun)).With("config", value.MapOf(config...)).
		With("tags", value.MapOf(labels...))
	e.pulumi = ps.pulumi
	e.runAll(ctx, ps.root, p.Nodes)
	var t tally
	t.addNodes(ps.root, p.Nodes)
	return ps, t.findings
}

// evaluator makes an evaluator for policies.
func (p *Policies) evaluator(ctx context.Context) (*evaluator, context.Context) {
	e := &evaluator{program: p.program, options: p.options, info: p.info, pulumi: p.pulumi, root: p.root, workers: 1,
		budget: spending{Budget: p.budget}}
	return e, e.budget.paying(ctx)
}

// PolicySubject is the input of policies: one resource, or all of them together. It is not safe for concurrent use.
type PolicySubject struct {
	scope
	ctx context.Context // with the budget of the evaluator
}

// newSubject returns a subject for the policies of a program or a pack.
func newSubject(ctx context.Context, e *evaluator, names map[string]value.Value) *PolicySubject {
	return &PolicySubject{scope: scope{e: e, frame: e.root, names: names, lenient: true}, ctx: ctx}
}

// About returns a subject. names has the values of the names that exist only in policies, except `config`. The subject
// keeps names.
func (p *Policies) About(ctx context.Context, names map[string]value.Value) *PolicySubject {
	e, ctx := p.evaluator(ctx)
	return newSubject(ctx, e, names)
}

// configure prepares the subject for one policy.
func (s *PolicySubject) configure(config value.Value) {
	s.names["config"] = config
	s.e.budget.GrantResource()
}

// Violations returns the violations of a policy with a configuration. decided is false if the policy depends on an
// unknown value.
func (s *PolicySubject) Violations(decl *ast.Policy, config value.Value) (found []PolicyFinding, decided bool,
	_ diag.Diagnostics) {
	s.configure(config)
	found, decided, f := s.violations(decl)
	return found, decided, findingsOf(f)
}

// Remedy returns the inputs of a resource after the changes of a policy with a configuration. decided is false if the
// policy depends on an unknown value; then the inputs are unchanged.
func (s *PolicySubject) Remedy(decl *ast.Policy, config value.Value, typ string, inputs value.Value) (
	changed value.Value, decided bool, _ diag.Diagnostics) {
	s.configure(config)
	applies, decided, f := s.applies(decl)
	if f == nil && applies && decided && decl.Violation != nil {
		var found []PolicyFinding
		found, decided, f = s.violations(decl)
		applies = len(found) > 0
	}
	if f != nil || !applies || !decided {
		return inputs, decided, findingsOf(f)
	}
	t := transformer{scope: s.scope, decl: &ast.Transform{Key: decl.Name.Range, Merge: decl.Remedy},
		role: "the properties of a remedy"}
	changed, _, f = t.merge(s.ctx, s.e.program.InputsOf(typ), value.Bool(true), inputs, decl.Name.Value)
	return changed, true, findingsOf(f)
}

func findingsOf(f *fault) diag.Diagnostics {
	switch {
	case f == nil:
		return nil
	case len(f.findings) == 0:
		return diag.Diagnostics{{Code: diag.OperationFailed, Summary: f.Error()}}
	}
	return f.findings
}

// applies evaluates the condition of a policy.
func (s *PolicySubject) applies(decl *ast.Policy) (applies, decided bool, _ *fault) {
	if decl.When == nil {
		return true, true, nil
	}
	v, holds, f := s.holds(s.ctx, "when", decl.When)
	return holds, f == nil && v.IsKnown(), f
}

// violations evaluates a policy.
func (s *PolicySubject) violations(decl *ast.Policy) (found []PolicyFinding, decided bool, _ *fault) {
	applies, decided, f := s.applies(decl)
	if f != nil || !applies || !decided || decl.Violation == nil {
		return nil, decided, f
	}
	if found, decided, f = s.messagesOf(decl.Violation); f != nil || !decided {
		return nil, decided, f
	}
	if len(found) > 0 {
		known := make([]value.Value, 0, len(s.names))
		for _, v := range s.names {
			known = append(known, v)
		}
		secrets := mask.New(value.List(known...))
		for i := range found {
			found[i].Message = secrets.Hide(found[i].Message)
		}
	}
	return found, true, nil
}

// messagesOf returns the messages that an expression gives. A condition in it may be secret: its message is not.
func (s *PolicySubject) messagesOf(e ast.Expr) (found []PolicyFinding, decided bool, _ *fault) {
	switch e := e.(type) {
	case *ast.Conditional:
		v, f := s.eval(s.ctx, e.Condition)
		if f != nil || !v.IsKnown() {
			return nil, false, f
		}
		yes, ok := s.truth(v)
		if !ok {
			return nil, true, wrongOperand("?", e.Condition, v)
		}
		if yes {
			return s.messagesOf(e.Then)
		}
		return s.messagesOf(e.Else)
	case *ast.Template:
		text, known, f := s.publicText(s.ctx, e)
		if f != nil || !known {
			return nil, false, f
		}
		return []PolicyFinding{{Message: text}}, true, nil
	case *ast.List:
		return joined(e.Items, s.messagesOf)
	}
	v, f := s.eval(s.ctx, e)
	if f != nil {
		return nil, false, f
	}
	if _, loop := e.(*ast.For); loop && v.Is(value.KindList) { // its own marks come from conditions
		items, _ := v.AsList()
		return joined(items, func(item value.Value) ([]PolicyFinding, bool, *fault) { return messagesIn(item, e) })
	}
	return messagesIn(v, e)
}

// joined returns the messages of all parts of a list.
func joined[T any](parts []T, messages func(T) ([]PolicyFinding, bool, *fault)) (found []PolicyFinding, decided bool,
	_ *fault) {
	decided = true
	for _, part := range parts {
		more, known, f := messages(part)
		if f != nil {
			return nil, false, f
		}
		found, decided = append(found, more...), decided && known
	}
	return found, decided, nil
}

// messagesIn returns the messages that a value holds.
func messagesIn(v value.Value, e ast.Expr) (found []PolicyFinding, decided bool, _ *fault) {
	if !v.IsKnown() {
		return nil, false, nil
	}
	switch v.Kind() {
	case value.KindNull:
		return nil, true, nil
	case value.KindString:
		text, _ := v.AsString()
		if v.IsSecret() {
			text = value.SecretText
		}
		if text == "" {
			return nil, true, blame(diag.FunctionFailed, e.Range(), "give null where the resource is in order",
				"this violation has no message")
		}
		return []PolicyFinding{{Message: text}}, true, nil
	case value.KindList:
		items, _ := v.AsList()
		return joined(items, func(item value.Value) ([]PolicyFinding, bool, *fault) {
			return messagesIn(item.WithMarksOf(v), e)
		})
	case value.KindMap:
		if !v.Has("message") {
			break
		}
		found, decided, f := messagesIn(v.Get("message"), e)
		if about, ok := v.Get("urn").AsString(); ok {
			for i := range found {
				found[i].URN = urn.URN(about)
			}
		}
		return found, decided, f
	}
	return nil, true, blame(diag.NotAssignable, e.Range(),
		"a violation is a text, {message, urn}, a list of these, or null where the resource is in order",
		"a violation cannot be %s", kindOf(v))
}

// holds evaluates the condition in a field; it is not fulfilled while it is unknown.
func (s *scope) holds(ctx context.Context, field string, e ast.Expr) (v value.Value, yes bool, _ *fault) {
	v, f := s.eval(ctx, e)
	if f != nil || !v.IsKnown() {
		return v, false, f
	}
	yes, ok := s.truth(v)
	if !ok {
		f = blame(diag.NotAssignable, e.Range(), "", "`%s` must be a boolean, not %s", field, kindOf(v))
	}
	return v, yes, f
}

// truth returns a condition. In a policy, what a resource does not have counts as false.
func (s *scope) truth(v value.Value) (yes, ok bool) {
	if s.lenient && v.IsNull() {
		return false, true
	}
	return v.AsBool()
}

// guards returns the policies of a program itself (L10.C22): each is asked about every resource that it matches, before
// the resource is registered or after that. A violation of a mandatory policy fails the resource, so that nothing that
// depends on it happens.
func (s *instance) guards(ctx context.Context, r *monitor.RegisterRequest, u urn.URN, properties value.Value,
	after bool) *fault {
	var failed *fault
	var subject *PolicySubject
	for _, p := range s.e.program.Policies {
		if p.Decl.OfStack() || p.Decl.OfOutputs() != after || p.Decl.Enforcement.Text() == "disabled" ||
			!program.MatchesPolicy(p.Decl, r.Type, r.Name, r.Custom) {
			continue
		}
		if subject == nil {
			subject = newSubject(ctx, s.e, map[string]value.Value{"resource": properties, "args": guardArgs(r, u, properties)})
		}
		failed = failed.and(subject.judge(p.Decl, s.resource.Decl.Name))
	}
	if after && slices.ContainsFunc(s.e.program.Policies, func(p *check.Policy) bool { return p.Decl.OfStack() }) {
		s.e.registered.add(guardArgs(r, u, properties))
	}
	return failed
}

// judge evaluates a policy of the program. lit is the name of the resource concerned.
func (s *PolicySubject) judge(decl *ast.Policy, lit ast.Literal) *fault {
	found, decided, f := s.violations(decl)
	if f != nil {
		return f
	}
	about := decl.Name.Value
	if text := decl.Description.Text(); text != "" {
		about += " (" + text + ")"
	}
	if !decided {
		s.e.notes.notef(lit.Range, "the update decides", "policy %s is not decided for %s in this preview: it depends on a value "+
			"that is known in the update only", decl.Name.Value, lit.Value)
		return nil
	}
	var failed *fault
	for _, v := range found {
		d := diag.Diagnostic{Code: diag.PolicyViolated, Subject: lit.Range, Summary: lit.Value + " violates policy " + about +
			": " + v.Message, Related: []diag.Related{{Range: decl.Name.Range, Message: "the policy"}}}
		if decl.Enforcement.Text() == "advisory" {
			d.Severity = diag.Warning
			s.e.notes.add(d)
			continue
		}
		failed = failed.and(&fault{findings: diag.Diagnostics{d}})
	}
	return failed
}

// judgeStack evaluates the policies about all resources together, after all nodes.
func (e *evaluator) judgeStack(ctx context.Context, t *tally) {
	for _, p := range e.program.Policies {
		if !p.Decl.OfStack() || p.Decl.Enforcement.Text() == "disabled" {
			continue
		}
		if t.Failed > 0 {
			return // some resources are missing
		}
		var matching []value.Value
		for _, args := range e.registered.list() {
			typ, _ := args.Get("type").AsString()
			name, _ := args.Get("name").AsString()
			if program.MatchesPolicy(p.Decl, typ, name, true) {
				matching = append(matching, args)
			}
		}
		names := map[string]value.Value{"resources": value.List(matching...)}
		stack := ast.Literal{Value: "the stack", Range: p.Decl.Name.Range}
		if f := newSubject(ctx, e, names).judge(p.Decl, stack); f != nil {
			t.add(f)
		}
	}
}

// guardArgs returns the value `args` of a policy of the program.
func guardArgs(r *monitor.RegisterRequest, u urn.URN, properties value.Value) value.Value {
	options := []value.Entry{{Key: "protect", Value: value.Bool(r.Protect != nil && *r.Protect)},
		{Key: "ignoreChanges", Value: value.Strings(r.IgnoreChanges)},
		{Key: "additionalSecretOutputs", Value: value.Strings(r.AdditionalSecretOutputs)},
		{Key: "parent", Value: value.String(string(r.Parent))}}
	deps := make(map[string]value.Value, r.PropertyDependencies.Len())
	for key, urns := range r.PropertyDependencies.All() {
		deps[key] = value.Strings(urns)
	}
	return value.MapOf(
		value.Entry{Key: "urn", Value: value.String(string(u))},
		value.Entry{Key: "type", Value: value.String(r.Type)},
		value.Entry{Key: "name", Value: value.String(r.Name)},
		value.Entry{Key: "parent", Value: value.String(string(r.Parent))},
		value.Entry{Key: "properties", Value: properties},
		value.Entry{Key: "options", Value: value.MapOf(options...)},
		value.Entry{Key: "dependencies", Value: value.Strings(r.Dependencies)},
		value.Entry{Key: "propertyDependencies", Value: value.Map(deps)},
	)
}

// outputsNow returns the outputs of a resource. In a preview, a missing output is unknown.
func outputsNow(r *check.Resource, outputs value.Value, known bool) value.Value {
	outputs = outputs.MapOrEmpty()
	if known || r.Schema == nil || r.Schema.Outputs == nil {
		return outputs
	}
	for _, p := range r.Schema.Outputs.Properties() {
		if !outputs.Has(p.Name) {
			outputs = outputs.With(p.Name, value.Unknown(schema.ExpectedKind(p.Type)))
		}
	}
	return outputs
}
