package operation

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/schema"
)

// advise says, once, what is likely to surprise in an operation of the program on a state. base may be nil.
func (p *Pipeline) advise(ctx context.Context, base *state.Snapshot) error {
	if p.advised || base == nil || p.Program == nil {
		return nil
	}
	p.advised = true
	return errors.Join(p.Console.Report(aliasAdvice(p.Program, base)),
		p.Console.Report(versionAdvice(ctx, p.Program, p.Providers, base)))
}

// versionAdvice warns where the program names no version of a package and the newest that is there has another
// major version than the provider that the state was made with: a stack that was taken over, or a plugin that was
// installed for another project, would jump in silence.
func versionAdvice(ctx context.Context, program *check.Program, providers *Providers,
	base *state.Snapshot) diag.Diagnostics {
	var advice diag.Diagnostics
	for _, d := range program.Packages {
		was := versionInState(base, d.Name)
		if d.Version != "" || d.Parameterization != nil || was == "" {
			continue
		}
		pkg, err := providers.openSchema(ctx, d)
		if err != nil || pkg.Version == "" || majorOf(pkg.Version) == majorOf(was) {
			continue
		}
		advice.Add(diag.Diagnostic{Severity: diag.Warning, Subject: firstUse(program, d),
			Summary: fmt.Sprintf("the stack was made with %s %s, and no version is named: this run uses %s", d.Name, was,
				pkg.Version),
			Detail: fmt.Sprintf("to stay, add to the options of one resource of the package: version: %s", was)})
	}
	return advice
}

// versionInState is the version of a package's default provider in a state; empty when there is none, or none is known.
func versionInState(base *state.Snapshot, pkg string) string {
	for _, r := range base.Resources {
		if r.Delete || r.Type != urn.ProviderType(pkg) || !r.URN.IsDefaultProvider() {
			continue
		}
		if version, ok := r.Inputs.Get("version").AsString(); ok {
			return version
		}
	}
	return ""
}

// majorOf is the first number of a version, -1 when it has none.
func majorOf(version string) int {
	first, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	n, err := strconv.Atoi(first)
	if err != nil {
		return -1
	}
	return n
}

// firstUse is where the program first has a resource of a package.
func firstUse(program *check.Program, d schema.Descriptor) diag.Range {
	for _, n := range program.Nodes {
		if n.Resource != nil && n.Resource.Decl.Type != nil && n.Resource.Package.Key() == d.Key() {
			return n.Resource.Decl.Type.Range
		}
	}
	return diag.Range{}
}
