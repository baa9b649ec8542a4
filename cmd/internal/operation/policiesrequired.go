package operation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/analyzer"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/runtime/plugin/install"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// meets records the organization's requirement that a pack of the run meets. It returns an error if the pack has
// another version.
func (pack *policyPack) meets(info analyzer.Info, required []backend.Policy) error {
	i := slices.IndexFunc(required, func(r backend.Policy) bool { return r.Name == info.Name })
	if i < 0 {
		return nil
	}
	if pack.required = &required[i]; info.Version != pack.required.Version {
		return fmt.Errorf("%s requires version %s of policy pack %s, and %s has version %s\nleave out this pack: the required "+
			"one is downloaded", pack.required.Owner, pack.required.Version, info.Name, pack.path, info.Version)
	}
	return nil
}

// demanded returns the configuration of the pack merged with the organization's, policy by policy.
func (pack *policyPack) demanded(given ast.Expr) (ast.Expr, error) {
	text, err := json.Marshal(pack.required.Config)
	if err != nil {
		return nil, err
	}
	demanded, found := parser.Data(diag.NewSource("the configuration that "+pack.required.Owner+" demands", text))
	whole, ok := demanded.(*ast.Map)
	if !ok || found.HasErrors() {
		return given, nil // none
	}
	own, _ := given.(*ast.Map)
	for i := 0; own != nil && i < len(own.Entries); i++ {
		if key, ok := own.Entries[i].Key.(*ast.String); ok && pack.required.Config[key.Value] == nil {
			whole.Entries = append(whole.Entries, own.Entries[i])
		}
	}
	return whole, nil
}

// excepts reports whether the organization allows a resource to violate a policy of the pack.
func (pack *policyPack) excepts(policy string, resource urn.URN) bool {
	return slices.ContainsFunc(pack.required.Exceptions, func(e backend.PolicyException) bool {
		for _, m := range e.Match {
			if slices.Contains(m.Policies, policy) && slices.Contains(m.Targets, string(resource)) {
				return true
			}
		}
		return false
	})
}

// missing installs and returns the required packs that have not started.
func (s *packStarter) missing(ctx context.Context) (packs []policyPack, err error) {
	var missing []string
	for i := range s.required {
		r := &s.required[i]
		if own, has := s.started[r.Name]; has && own.required != nil {
			continue
		}
		dir, err := s.install(ctx, r)
		if err != nil && ctx.Err() != nil {
			return nil, err
		}
		if err != nil {
			missing = append(missing, fmt.Sprintf("policy pack %s %s, which %s requires, cannot be run: %v", r.Name, r.Version,
				r.Owner, err))
		}
		packs = append(packs, policyPack{path: dir, required: r})
	}
	if len(missing) > 0 {
		return nil, errors.New(strings.Join(missing, "\n") + "\ngive the folder of such a pack with --policy-pack, or declare " +
			"it under policyPacks in the project file")
	}
	return packs, nil
}

// install returns the folder of a required pack.
func (s *packStarter) install(ctx context.Context, r *backend.Policy) (dir string, err error) {
	a := s.run.Console
	host := s.run.Providers.finder.Host
	pack := install.Pack{Owner: r.Owner, Name: r.Name, Version: r.Version, Location: r.Location,
		Forbidden: console.DownloadsForbidden(a), Client: a.World.HTTP, Pause: a.World.ServicePause,
		Tell: func(text string) { fmt.Fprintln(a.Streams.Err, text) },
		Finish: func(dir string) error {
			path := filepath.Join(dir, workspace.PackFile)
			script, err := project.ReadPluginProgram(confine.Door{Folder: dir}, path)
			switch {
			case err == nil && s.run.options.Untrusted && script.Language != "yaml":
				err = errors.New("it is a program, and the run is --untrusted")
			case err == nil && script.Language == "python" && script.Options["virtualenv"] == nil:
				// Its dependencies must not go to the system's folders; the Pulumi CLI does the same.
				if err = project.SetRuntimeOption(path, "virtualenv", "venv"); err == nil {
					script, err = project.ReadPluginProgram(confine.Door{Folder: dir}, path)
				}
			}
			if err != nil {
				return err
			}
			return host.InstallScriptDependencies(ctx, r.Name, dir, plugin.Script(script))
		}}
	return pack.Install(ctx, a.World.PulumiHome())
}
