package engine

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/analyzer"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/apply"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// PolicyPack is a running policy pack with the name that violations show.
type PolicyPack struct {
	analyzer.Analyzer
	Name, Version string
	// Excepts reports whether a violation by a resource is reduced to a warning; nil means no exceptions.
	Excepts func(policy string, resource urn.URN) bool
}

// PolicyNote describes the policy behind a Message.
type PolicyNote struct {
	Policy, Pack, Version string
	Message               string // the policy's description and its finding, on separate lines
	Level                 analyzer.Level
	// Remediation reports whether the policy changed inputs, from Before to After.
	Remediation   bool
	Before, After value.Value
}

// policies runs policy packs on resources. Without packs it does nothing. It is safe for concurrent use.
type policies struct {
	*core
	packs []PolicyPack
}

// inspect runs remediation and then analysis on the inputs of a resource, and returns the remediated inputs. In a
// second check it only remediates: the first check reported everything.
func (p *policies) inspect(s *record, inputs value.Value, second bool) (value.Value, error) {
	inputs, err := p.remediate(s, inputs, second)
	if err != nil || second {
		return inputs, err
	}
	return inputs, p.analyze(s, inputs)
}

// remediate returns the inputs after the remediations of all packs, which run one after the other on the result of the
// previous one. quiet suppresses the reports in a second check.
func (p *policies) remediate(s *record, inputs value.Value, quiet bool) (value.Value, error) {
	for _, pack := range p.packs {
		changes, err := pack.Remediate(p.calls, p.resource(s, inputs))
		if err != nil {
			return inputs, p.broken(s, pack, err)
		}
		for _, c := range changes {
			note := &PolicyNote{Policy: c.Policy, Pack: pack.Name, Version: pack.Version, Level: analyzer.Remediate}
			if c.Diagnostic != "" {
				note.Message = policyText(c.Description, c.Diagnostic)
				if !quiet {
					p.report.message(s.message(Message{Severity: diag.Warning, Policy: note,
						Text: note.text()}))
				}
				continue
			}
			if !c.Properties.Is(value.KindMap) || value.Identical(c.Properties, inputs) {
				continue
			}
			note.Remediation, note.Before, note.After = true, inputs, c.Properties
			inputs = c.Properties
			if !quiet {
				note.Message = policyText(c.Description, "the policy changed the inputs")
				p.report.message(s.message(Message{Severity: diag.Info, Policy: note, Text: note.text()}))
			}
		}
	}
	return inputs, nil
}

// analyze runs all packs on a resource concurrently. A preview reports violations and goes on; in an update, a
// violation of a mandatory policy fails the resource.
func (p *policies) analyze(s *record, inputs value.Value) error {
	answers, errs := make([][]analyzer.Violation, len(p.packs)), make([]error, len(p.packs))
	asked := p.resource(s, inputs)
	var wait sync.WaitGroup
	for i := range p.packs {
		wait.Go(func() {
			defer p.guard()
			answers[i], errs[i] = p.packs[i].Analyze(p.calls, asked)
		})
	}
	wait.Wait()
	violated := false
	for i, pack := range p.packs {
		if errs[i] != nil {
			return p.broken(s, pack, errs[i])
		}
		for _, v := range answers[i] {
			violated = p.violation(pack, v, s.message(Message{})) || violated
		}
	}
	if violated && !p.opts.DryRun {
		return apply.ErrFailed
	}
	return nil
}

// mayDestroy asks the packs about the resources that steps with one of the given operations destroy, before any step
// runs. A preview reports violations and goes on; in an update, a violation of a mandatory policy fails all steps.
func (p *policies) mayDestroy(steps []Step, kind analyzer.Destruction, ops ...Op) error {
	if len(p.packs) == 0 {
		return nil
	}
	violated, asked := false, map[urn.URN]bool{}
	for i := range steps {
		old := steps[i].Old
		if !slices.Contains(ops, steps[i].Op) || old == nil || old.Delete || old.External || old.RetainOnDelete ||
			old.PendingReplacement || asked[old.URN] {
			continue
		}
		asked[old.URN] = true
		res := p.describe(old, nil)
		res.Properties = old.Inputs.MapOrEmpty()
		for _, pack := range p.packs {
			analysis, ok := pack.Analyzer.(analyzer.DestroyAnalyzer)
			if !ok {
				continue
			}
			found, err := analysis.AnalyzeDestroy(p.calls, res, kind)
			if err != nil {
				return p.broken(nil, pack, err)
			}
			for _, v := range found {
				m := Message{URN: old.URN, Position: plan.PositionOf(old), Recorded: true}
				violated = p.violation(pack, v, m) || violated
			}
		}
	}
	if violated && !p.opts.DryRun {
		return apply.ErrFailed
	}
	return nil
}

// analyzeStack runs all packs on all registered resources.
func (p *policies) analyzeStack() {
	if len(p.packs) == 0 {
		return
	}
	var all []analyzer.Resource
	for _, reg := range p.table.Registered() {
		now := reg.State()
		if now == nil || reg.Goal == nil {
			continue
		}
		r := p.describe(now, reg.Goal.DeleteBeforeReplace)
		r.Properties = now.Outputs.MapOrEmpty()
		r.Parent, r.Dependencies, r.PropertyDependencies = now.Parent, now.Dependencies, now.PropertyDependencies
		all = append(all, r)
	}
	for _, pack := range p.packs {
		found, err := pack.AnalyzeStack(p.calls, all)
		if err != nil {
			_ = p.broken(nil, pack, err)
			return
		}
		for _, v := range found {
			m := Message{URN: v.URN}
			if reg := p.table.Get(v.URN); reg != nil && reg.Goal != nil {
				m.Position = reg.Goal.Position
			}
			if p.violation(pack, v, m) && !p.opts.DryRun {
				p.stop()
			}
		}
	}
}

// violation reports a violation. It returns true if the violation is an error.
func (p *policies) violation(pack PolicyPack, v analyzer.Violation, m Message) bool {
	m.Severity = diag.Warning
	if v.URN != "" {
		m.URN = v.URN
	}
	if pack.Excepts != nil && pack.Excepts(v.Policy, m.URN) {
		v.Level = analyzer.Advisory
	}
	mandatory := v.Level == analyzer.Mandatory || v.Level == analyzer.Remediate
	if mandatory {
		m.Severity = diag.Error
	}
	m.Policy = &PolicyNote{Policy: v.Policy, Pack: pack.Name, Version: pack.Version, Level: v.Level,
		Message: policyText(v.Description, v.Message)}
	m.Text = m.Policy.text()
	p.report.message(m)
	return mandatory
}

// text returns the text of the message.
func (n *PolicyNote) text() string {
	return fmt.Sprintf("policy %s of pack %s (%s): %s", n.Policy, n.Pack, n.Level, n.Message)
}

func policyText(description, message string) string {
	switch {
	case description == "" || message == "":
		return description + message
	case strings.HasPrefix(message, description+"\n"): // the policy libraries do that
		return message
	}
	return description + "\n" + message
}

// broken reports a pack that failed, and aborts the operation whatever the pack's levels: its policies were not
// checked.
func (p *policies) broken(s *record, pack PolicyPack, err error) error {
	if p.terminated.Load() {
		return monitor.ErrShutdown
	}
	m := operationFailed("", "", fmt.Sprintf("policy pack %s could not check this operation: %s", pack.Name, err))
	if s != nil {
		m = s.message(m)
	}
	p.report.message(m)
	return p.abort()
}

// resource describes a registration with the given inputs.
func (p *policies) resource(s *record, inputs value.Value) analyzer.Resource {
	r := p.describe(s.desired, s.reg.Goal.DeleteBeforeReplace)
	r.Properties = inputs
	return r
}

// describe describes a resource, except for its properties.
func (p *policies) describe(r *state.Resource, deleteFirst *bool) analyzer.Resource {
	d := analyzer.Resource{Reference: analyzer.Reference{URN: r.URN, Type: r.Type, Name: r.URN.Name()},
		Options: analyzer.Options{Protect: r.Protect, IgnoreChanges: r.IgnoreChanges, DeleteBeforeReplace: deleteFirst,
			AdditionalSecretOutputs: r.AdditionalSecretOutputs, Aliases: r.Aliases, Parent: r.Parent}}
	t := r.CustomTimeouts
	d.Options.Create, d.Options.Update, d.Options.Delete = seconds(t.Create), seconds(t.Update), seconds(t.Delete)
	if provider := p.table.Prior.Provider(r.Provider); provider != nil {
		d.Provider = referenceTo(provider)
	} else if ref, err := urn.ParseReference(r.Provider); err == nil {
		if reg := p.table.Get(ref.URN); reg != nil && reg.State() != nil {
			d.Provider = referenceTo(reg.State())
		}
	}
	return d
}

func referenceTo(r *state.Resource) *analyzer.Reference {
	return &analyzer.Reference{URN: r.URN, Type: r.Type, Name: r.URN.Name(), Properties: r.Inputs.MapOrEmpty()}
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
