package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/analyzer"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace"
)

// Options are the inputs of Open besides the folder.
type Options struct {
	// Schemas is as workspace.CheckOptions.Schemas.
	Schemas func() (loader schema.Loader, damaged func() bool)
	// Shown returns the form of a path used in messages; nil for the path itself.
	Shown func(path string) string
	// Limits bound the whole work of the pack, together with what each question about a resource adds; 0 means the
	// limit in builtins.DefaultLimits.
	Limits builtins.Limits
}

var _ analyzer.DestroyAnalyzer = (*Pack)(nil)

// Pack is a policy pack written in YAML. It is safe for concurrent use, but Configure and ConfigureStack must not be
// called while resources are analyzed.
type Pack struct {
	dir     string
	options Options
	program *check.Program
	info    analyzer.Info
	rules   []*rule

	mu     sync.RWMutex       // guards the fields below and rules
	dryRun bool               // set by ConfigureStack
	run    *eval.Policies     // nil before ConfigureStack
	byType map[target][]*rule // cache of matching, without regard to names; nil after Configure
}

// target holds what rules match besides the name.
type target struct {
	typ    string
	custom bool
}

// rule is a policy with its configuration.
type rule struct {
	*check.Policy
	level  analyzer.Level
	config value.Value // a map
}

// Open reads and checks the pack in a folder. The pack is nil if the findings have errors. An error is returned only if
// reading fails or ctx is done.
func Open(ctx context.Context, dir string, o Options) (*Pack, diag.Diagnostics, error) {
	w, err := workspace.OpenPack(dir, workspace.Options{Shown: o.Shown})
	if err != nil {
		return nil, nil, err
	}
	program, found := w.Check(ctx, workspace.CheckOptions{Schemas: o.Schemas,
		Options: check.Options{ConfigKnown: true}})
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if program == nil || found.HasErrors() {
		return nil, found, nil
	}
	p := &Pack{dir: w.Dir(), options: o, program: program}
	describe(p, &found)
	if found.HasErrors() {
		return nil, found, nil
	}
	return p, found, nil
}

// describe sets the rules of a pack and its info.
func describe(p *Pack, found *diag.Diagnostics) {
	file := p.program.File
	p.info = analyzer.Info{Name: file.Name.Text(), Version: schema.PlainVersion(file.Version.Text()),
		SupportsConfig: true, Initial: map[string]analyzer.Config{}}
	usual, _ := analyzer.ParseLevel(file.Enforcement.Text())
	for _, policy := range p.program.Policies {
		decl := policy.Decl
		r := &rule{Policy: policy, level: usual, config: value.EmptyMap()}
		if decl.Enforcement != nil {
			r.level, _ = analyzer.ParseLevel(decl.Enforcement.Value)
		}
		if r.level == analyzer.Remediate && decl.Remedy == nil {
			r.level = analyzer.Mandatory
		}
		about := analyzer.Policy{Name: decl.Name.Value, Description: decl.Description.Text(), Level: r.level,
			Stack: decl.OfStack() || decl.OfOutputs(), Properties: value.Null}
		for _, c := range decl.Config {
			s, fallback, err := schemaOf(c)
			if err != nil {
				found.Add(diag.Diagnostic{Code: diag.ConfigDefault, Subject: c.Name.Range,
					Summary: fmt.Sprintf("the configuration value `%s`: %s", c.Name.Value, err)})
				continue
			}
			about.Properties = about.Properties.MapOrEmpty().With(c.Name.Value, s)
			if fallback != nil {
				r.config = r.config.With(c.Name.Value, *fallback)
			} else if !c.Optional.IsTrue() {
				about.Required = append(about.Required, c.Name.Value)
			}
		}
		p.info.Policies = append(p.info.Policies, about)
		p.rules = append(p.rules, r)
	}
}

// Info describes the pack.
func (p *Pack) Info(context.Context) (analyzer.Info, error) { return p.info, nil }

// Configure gives each policy its level and configuration. The error names the first value that does not fit.
func (p *Pack) Configure(_ context.Context, config map[string]analyzer.Config) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, r := range p.rules {
		c, given := config[r.Decl.Name.Value]
		if !given {
			continue
		}
		configured := *r
		configured.level = c.Level
		for j, key := range c.Properties.Keys() {
			configured.config = configured.config.With(key, c.Properties.At(j))
		}
		if c.Level != analyzer.Disabled {
			if err := fits(r.Decl, configured.config); err != nil {
				return fmt.Errorf("policy pack %s: validating policy config: %w", p.info.Name, err)
			}
		}
		p.rules[i] = &configured
	}
	p.byType = nil
	return nil
}

// ConfigureStack evaluates the variables of the pack for a stack.
func (p *Pack) ConfigureStack(ctx context.Context, s analyzer.Stack) error {
	run, found := eval.NewPolicies(ctx, p.program, monitor.Info{Project: s.Project, Stack: s.Stack,
		Organization: s.Organization, Config: s.Config, ConfigSecretKeys: s.SecretKeys, DryRun: s.DryRun}, s.Tags,
		eval.Options{Cwd: p.dir, ParseData: parser.Data, Limits: p.options.Limits, Confined: true})
	if found.HasErrors() {
		return p.fault(found)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.run, p.dryRun = run, s.DryRun
	return nil
}

// Close does nothing.
func (p *Pack) Close() error { return nil }

// fault returns the first finding as an error.
func (p *Pack) fault(found diag.Diagnostics) error {
	d := found.Sorted()[0]
	text := d.Summary
	if !d.Subject.IsZero() {
		pos := d.Subject.StartPosition()
		text = fmt.Sprintf("%s:%d:%d: %s", d.Subject.Source.Name(), pos.Line, pos.Column, text)
	}
	if d.Detail != "" {
		text += "; " + d.Detail
	}
	return errors.New(text)
}

// matching returns the rules that are not disabled and match a resource.
func (p *Pack) matching(r *analyzer.Resource) []*rule {
	key := target{r.Type, r.Provider != nil}
	p.mu.RLock()
	rules, known := p.byType[key]
	p.mu.RUnlock()
	if !known {
		p.mu.Lock()
		for _, rule := range p.rules {
			anyName := *rule.Decl
			anyName.Match.Names = nil
			if rule.level != analyzer.Disabled && program.MatchesPolicy(&anyName, r.Type, "", key.custom) {
				rules = append(rules, rule)
			}
		}
		if p.byType == nil {
			p.byType = map[target][]*rule{}
		}
		p.byType[key] = rules
		p.mu.Unlock()
	}
	if !slices.ContainsFunc(rules, func(rule *rule) bool { return len(rule.Decl.Match.Names) > 0 }) {
		return rules
	}
	return slices.DeleteFunc(slices.Clone(rules), func(rule *rule) bool {
		return !program.MatchesPolicy(rule.Decl, r.Type, r.Name, key.custom)
	})
}

func (p *Pack) running() (run *eval.Policies, dryRun bool, err error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.run == nil {
		return nil, false, errors.New("the pack has not been told about the stack")
	}
	return p.run, p.dryRun, nil
}

// Remediate returns the changes of the policies at the level remediate. Each policy sees the earlier changes.
func (p *Pack) Remediate(ctx context.Context, r analyzer.Resource) ([]analyzer.Remediation, error) {
	run, _, err := p.running()
	if err != nil {
		return nil, err
	}
	var list []analyzer.Remediation
	var subject *eval.PolicySubject // for the current inputs; nil after a change
	for _, rule := range p.matching(&r) {
		if rule.level != analyzer.Remediate || rule.Decl.Remedy == nil {
			continue
		}
		if subject == nil {
			subject = run.About(ctx, names(&r))
		}
		changed, _, found := subject.Remedy(rule.Decl, rule.config, r.Type, r.Properties)
		if len(found) > 0 {
			return nil, p.fault(found)
		}
		if !value.Identical(changed, r.Properties) {
			list = append(list, analyzer.Remediation{Policy: rule.Decl.Name.Value,
				Description: rule.Decl.Description.Text(), Properties: changed})
			r.Properties, subject = changed, nil
		}
	}
	return list, nil
}

// Analyze returns the violations of one resource.
func (p *Pack) Analyze(ctx context.Context, r analyzer.Resource) ([]analyzer.Violation, error) {
	return p.analyze(ctx, &r, "")
}

// AnalyzeDestroy returns the violations of the policies about destroyed resources.
func (p *Pack) AnalyzeDestroy(ctx context.Context, r analyzer.Resource, operation analyzer.Destruction) (
	[]analyzer.Violation, error) {
	return p.analyze(ctx, &r, operation)
}

// analyze applies the policies to one resource: with an operation those about destroyed resources, else the others.
func (p *Pack) analyze(ctx context.Context, r *analyzer.Resource, operation analyzer.Destruction) (
	list []analyzer.Violation, _ error) {
	run, dryRun, err := p.running()
	if err != nil {
		return nil, err
	}
	var subject *eval.PolicySubject
	for _, rule := range p.matching(r) {
		decl := rule.Decl
		if decl.OfDestroyed() != (operation != "") || operation == "" && (decl.OfStack() || decl.OfOutputs()) {
			continue
		}
		if subject == nil {
			about := names(r)
			if operation != "" {
				about["args"] = about["args"].With("operation", value.String(string(operation)))
			}
			subject = run.About(ctx, about)
		}
		if list, err = p.ask(subject, dryRun, rule, nil, list); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Destroys returns the name of an enabled policy about destroyed resources; empty if there is none. Engines that do not
// call AnalyzeDestroy must not run a pack with such a policy.
func (p *Pack) Destroys() string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for _, rule := range p.rules {
		if rule.Decl.OfDestroyed() && rule.level != analyzer.Disabled {
			return rule.Decl.Name.Value
		}
	}
	return ""
}

// AnalyzeStack returns the violations of the policies about outputs and of those about all resources.
func (p *Pack) AnalyzeStack(ctx context.Context, all []analyzer.Resource) (list []analyzer.Violation, _ error) {
	run, dryRun, err := p.running()
	if err != nil {
		return nil, err
	}
	together := map[*rule][]value.Value{}
	for i := range all {
		r := &all[i]
		var args value.Value // of r
		var subject *eval.PolicySubject
		for _, rule := range p.matching(r) {
			switch {
			case rule.Decl.OfStack():
				if args.IsNull() {
					args = stackArgs(r)
				}
				together[rule] = append(together[rule], args)
			case rule.Decl.OfOutputs():
				if subject == nil || dryRun { // awaited depends on the rule
					about := *r
					if dryRun {
						about.Properties = rule.awaited(r)
					}
					subject = run.About(ctx, names(&about))
				}
				if list, err = p.ask(subject, dryRun, rule, r, list); err != nil {
					return nil, err
				}
			}
		}
	}
	p.mu.RLock()
	rules := slices.Clone(p.rules)
	p.mu.RUnlock()
	for _, rule := range rules {
		if !rule.Decl.OfStack() || rule.level == analyzer.Disabled {
			continue
		}
		subject := run.About(ctx, map[string]value.Value{"resources": value.List(together[rule]...)})
		if list, err = p.ask(subject, dryRun, rule, nil, list); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// undecided is the message of a policy that depends on a value unknown in a preview.
const undecided = "not decided in this preview: the policy depends on a value that is known in the update only"

// ask appends the violations of a rule to list. about is the resource of the violations; nil if the caller knows it.
func (p *Pack) ask(subject *eval.PolicySubject, dryRun bool, rule *rule, about *analyzer.Resource,
	list []analyzer.Violation) ([]analyzer.Violation, error) {
	found, decided, faults := subject.Violations(rule.Decl, rule.config)
	if len(faults) > 0 {
		return nil, p.fault(faults)
	}
	v := analyzer.Violation{Policy: rule.Decl.Name.Value, Description: rule.Decl.Description.Text(), Level: rule.level}
	if about != nil {
		v.URN = about.URN
	}
	switch {
	case !decided && dryRun:
		v.Message, v.Level = undecided, analyzer.Advisory
		return append(list, v), nil
	case !decided:
		return nil, fmt.Errorf("the policy %s depends on a value that is not known in the update either", v.Policy)
	}
	for _, f := range found {
		v := v
		v.Message = f.Message
		if f.URN != "" {
			v.URN = f.URN
		}
		list = append(list, v)
	}
	return list, nil
}
