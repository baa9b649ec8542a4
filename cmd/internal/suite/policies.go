package suite

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/langhost/policy"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/analyzer"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/schema"
)

// packUse is a YAML policy pack that a case runs with.
type packUse struct {
	path   string   // absolute path of the pack
	config ast.Expr // configuration of the pack; nil if there is none
	place  diag.Range
}

// packOf reads an item of `policies`: the folder of a pack, or a map with the keys path and config.
func packOf(f *File, item ast.Expr) packUse {
	use := packUse{place: item.Range()}
	path := item
	if _, ok := item.(*ast.Map); ok {
		l := f.layer(item, "a policy pack", packKeys)
		path, use.config = l["path"].value, l["config"].value
	}
	if text, ok := path.(*ast.String); ok {
		use.path = filepath.Join(f.Dir, pathOf(text.Value))
	}
	return use
}

// startPacks opens the policy packs of a run. It returns the errors in packs as findings; the program is then not run.
func (r *Runner) startPacks(ctx context.Context, s situation, o *engine.Options) (broken diag.Diagnostics, _ error) {
	for _, use := range s.packs {
		pack, found, err := policy.Open(ctx, use.path, policy.Options{Shown: r.Console.Short,
			Schemas: func() (schema.Loader, func() bool) { return s.program.schemas, s.program.damaged }})
		if err != nil {
			return nil, err
		}
		if found.HasErrors() {
			broken.Add(found...)
			continue
		}
		running := engine.PolicyPack{Analyzer: pack}
		err = operation.ConfigurePack(ctx, &running, use.config, value.EmptyMap(), analyzer.Stack{Project: o.Project,
			Stack: o.Stack, Organization: o.Organization, DryRun: o.DryRun, Config: o.Config,
			SecretKeys: o.ConfigSecretKeys})
		if err != nil {
			place, ok := operation.ConfigPlace(err, use.config)
			if !ok {
				place = use.place
			}
			broken.Add(diag.Diagnostic{Subject: place, Summary: err.Error()})
			continue
		}
		o.Policies = append(o.Policies, running)
	}
	return broken, nil
}

// violations compares policy violations with the expected ones, and returns the other findings. A case that expects any
// violation must list all of them. A case that expects none may have no violation that is an error.
func (t *trial) violations(findings []finding) (rest []finding, ok bool) {
	expected := t.innermost("violations").value != nil
	var found []finding
	for _, f := range findings {
		if f.policy == nil || !expected {
			rest = append(rest, f)
		} else {
			found = append(found, f)
		}
	}
	found, ok = t.without(found, "violation", violationKeys, violated, func(f finding) (string, map[string]string) {
		return f.policy.Message, map[string]string{"policy": f.policy.Policy, "level": f.policy.Level.String(),
			"resource": f.resource.Name()}
	})
	if len(found) > 0 {
		t.fail(t.innermost("violations").at, "there are violations that are not expected",
			strings.TrimPrefix(violated(found), "\n"))
		ok = false
	}
	return rest, ok
}

func violated(found []finding) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "\n+ {policy: %s, resource: %s, level: %s}: %s", f.policy.Policy, f.resource.Name(), f.policy.Level,
			strings.ReplaceAll(f.policy.Message, "\n", ": "))
	}
	return b.String()
}
