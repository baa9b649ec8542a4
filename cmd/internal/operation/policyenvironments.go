package operation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/analyzer"
	"github.com/yamlhost/yamlhost/workspace/environments"
)

// environmentsKey is the member of a pack's configuration that names its environments.
const environmentsKey = "environments"

// environments removes the names of the pack's environments from its configuration and returns them with those that the
// organization requires, which take precedence.
func (pack *policyPack) environments() (names []string, err error) {
	if given, i := entryOf(pack.given, environmentsKey); i >= 0 {
		list, ok := given.Entries[i].Value.(*ast.List)
		for j := 0; ok && j < len(list.Items); j++ {
			var name *ast.String
			if name, ok = list.Items[j].(*ast.String); ok {
				names = append(names, name.Value)
			}
		}
		if !ok {
			return nil, fmt.Errorf("the configuration %s: `environments` has to be a list of names", pack.config)
		}
		rest := *given
		rest.Entries = slices.Delete(slices.Clone(given.Entries), i, i+1)
		pack.given = &rest
	}
	if pack.required != nil {
		names = append(names, pack.required.Environments...)
	}
	return names, nil
}

// openPackEnvironment opens the environments of a pack: the pack gets their policyConfig, and its process the variables
// and files. The files exist until stop.
func (s *packStarter) openPackEnvironment(ctx context.Context, pack *policyPack) (variables []string, err error) {
	names, err := pack.environments()
	if err != nil || len(names) == 0 {
		return nil, err
	}
	fault := func(err error) error {
		return fmt.Errorf("policy pack %s needs the environments %s: %w", pack.path, strings.Join(names, ", "), err)
	}
	o, err := s.run.request.environmentOptions(s.run.Console, s.run.Workspace.Project, s.run.Stack.Ref, s.run.others)
	if err != nil {
		return nil, fault(err)
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	env, found, err := o.Document(ctx, "", diag.NewSource("policies", []byte("imports: ["+strings.Join(quoted, ", ")+"]\n")))
	if err != nil {
		return nil, fault(err)
	}
	if found.HasErrors() {
		for _, d := range found {
			err = errors.Join(err, errors.New(d.Summary))
		}
		return nil, fault(err)
	}
	if err := s.run.Console.Report(found); err != nil {
		return nil, err
	}
	s.run.sink.masker.Learn(env.Values, env.Spelled)
	pack.inherits = env.Part(environments.PolicyConfig).DeepPublic()
	variables, remove, err := console.Export(env)
	s.remove = append(s.remove, remove)
	if err != nil {
		return nil, fmt.Errorf("write the files of the environments of policy pack %s: %w", pack.path, err)
	}
	return variables, nil
}

// inherited merges a configuration over the policyConfig of environments, whose keys may name the pack, as PACK:POLICY.
// Keys of other packs are ignored. Items of the configuration take precedence.
func inherited(info analyzer.Info, inherits, given value.Value) value.Value {
	for i, key := range inherits.Keys() {
		pack, policy, named := strings.Cut(key, ":")
		if !named {
			pack, policy = info.Name, key
		}
		known := func(p analyzer.Policy) bool { return p.Name == policy }
		if pack != info.Name || policy != allPolicies && !slices.ContainsFunc(info.Policies, known) {
			continue
		}
		config := inherits.At(i)
		if own, has := given.Lookup(policy); has {
			config = over(policySettings(config), policySettings(own))
		}
		given = given.With(policy, config)
	}
	return given
}

// policySettings returns a member of a configuration as a map; a text is the level.
func policySettings(v value.Value) value.Value {
	if v.Is(value.KindString) {
		return value.EmptyMap().With(levelKey, v)
	}
	return v
}

// over returns v with the items of below that it lacks.
func over(below, v value.Value) value.Value {
	if !below.Is(value.KindMap) || !v.Is(value.KindMap) {
		return v
	}
	for i, key := range v.Keys() {
		below = below.With(key, over(below.Get(key), v.At(i)))
	}
	return below
}
