package operation

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/schema"
)

// versionAdvice warns if the program names no version of a package and the newest installed one has another major
// version than the provider in the state: otherwise a stack from elsewhere, or a plugin installed for another project,
// would change the version silently.
func versionAdvice(ctx context.Context, program *check.Program, providers *Providers,
	base *state.Snapshot) diag.Diagnostics {
	var advice diag.Diagnostics
	for _, d := range program.Packages {
		old := versionInState(base, d.Name)
		if d.Version != "" || d.Parameterization != nil || old == "" {
			continue
		}
		pkg, err := providers.openSchema(ctx, d)
		if err != nil || pkg.Version == "" || majorOf(pkg.Version) == majorOf(old) {
			continue
		}
		advice.Add(diag.Diagnostic{Severity: diag.Warning, Subject: firstUse(program, d),
			Summary: fmt.Sprintf("the stack was made with %s %s, and no version is named: this run uses %s", d.Name, old,
				pkg.Version),
			Detail: fmt.Sprintf("to stay, add to the options of one resource of the package: version: %s", old)})
	}
	return advice
}

// versionInState returns the version of a package's default provider in a state; empty if there is none or it is
// unknown.
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

// majorOf returns the first number of a version, or -1 if it has none.
func majorOf(version string) int {
	first, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	n, err := strconv.Atoi(first)
	if err != nil {
		return -1
	}
	return n
}

// firstUse returns the place of the program's first resource of a package.
func firstUse(program *check.Program, d schema.Descriptor) diag.Range {
	for _, n := range program.Nodes {
		if n.Resource != nil && n.Resource.Decl.Type != nil && n.Resource.Package.Key() == d.Key() {
			return n.Resource.Decl.Type.Range
		}
	}
	return diag.Range{}
}

// aliasAdvice names the alias that keeps a resource which had no forEach when the state was written: its instances
// have other names, so that it would be deleted (decision D6).
func aliasAdvice(program *check.Program, base *state.Snapshot) diag.Diagnostics {
	type identity struct{ token, name string }
	looped := make(map[identity]*check.Node)
	for _, n := range program.Nodes {
		if n.Resource != nil && n.Resource.Decl.ForEach != nil && n.Resource.Decl.Options.Aliases == nil {
			looped[identity{n.Resource.Token, n.Resource.LogicalName}] = n
		}
	}
	if len(looped) == 0 {
		return nil
	}
	var advice diag.Diagnostics
	for _, r := range base.Resources {
		n := looped[identity{r.URN.Type(), r.URN.Name()}]
		if n == nil || r.Delete || !makesMany(n) {
			continue
		}
		advice.Add(diag.Diagnostic{Severity: diag.Warning, Subject: n.Range,
			Summary: fmt.Sprintf("`%s` exists as one resource; with `forEach` its instances are called `%s-…`", n.Name,
				n.Resource.LogicalName),
			Detail: "to keep it as one of them, add to its options: " + aliasFor(n, r.URN)})
	}
	return advice
}

// makesMany reports whether the instances have names of their own. The instance of a boolean condition has none.
func makesMany(n *check.Node) bool {
	switch schema.Required(n.Type).(type) {
	case *schema.Array, *schema.Map, *schema.Object:
		return true
	}
	return false
}

// aliasFor returns the option that keeps a resource as one of the instances.
func aliasFor(n *check.Node, u urn.URN) string {
	key := "0"
	switch t := schema.Required(n.Type).(type) {
	case *schema.Map:
		key = `"KEY"`
	case *schema.Object:
		key = `"KEY"`
		if members := t.Properties(); len(members) > 0 {
			key = fmt.Sprintf("%q", members[0].Name)
		}
	}
	return fmt.Sprintf(`aliases: '${each.key == %s ? ["%s"] : []}'`, key, u)
}
