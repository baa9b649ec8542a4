package console

import (
	"context"
	"os"

	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/workspace/environments"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// Environments returns the options for environments of a project. They may read variables and start commands.
func (a *Console) Environments(p *project.Project) environments.Options {
	return environments.Options{Dir: p.Dir, Shown: a.Short, Lookup: a.World.Lookup,
		Command: eval.RunCommand(a.ChildEnv(), a.World.Supervisor())}
}

// Inherit adds to the settings of a stack the keys that it has from its environments, with the values that are in the
// documents: nothing else is opened.
func (a *Console) Inherit(p *project.Project, s *project.Settings) diag.Diagnostics {
	o := a.Environments(p)
	o.Check = true
	_, diags := a.InheritBy(context.Background(), o, p, s)
	return diags
}

// InheritBy adds to the settings of a stack the configuration that it has from its environments, and returns what they
// hold; nil for a stack without any.
func (a *Console) InheritBy(ctx context.Context, o environments.Options, p *project.Project, s *project.Settings) (
	*environments.Environment, diag.Diagnostics) {
	if s.Environment == nil {
		return nil, nil
	}
	if environments.Lean != "" {
		return nil, diag.Diagnostics{{Code: diag.BadEnvironment, Subject: *s.Environment, Summary: environments.Lean,
			Detail: "use the default edition, or remove the key `environment`"}}
	}
	if a.Backends().Hosted(p) {
		return nil, diag.Diagnostics{{Code: diag.BadEnvironment, Subject: *s.Environment,
			Summary: "environments that a service keeps are not supported yet",
			Detail:  "remove the key `environment`, or keep the stack in a folder, a bucket or a database"}}
	}
	env, diags := o.Section(ctx, s.Source)
	return env, append(diags, s.Inherit(env.Part("pulumiConfig"))...)
}

// Export returns the environment variables of an environment as name=value. Its files are written to a new folder, and
// a variable has the path of each. remove removes that folder.
func Export(env *environments.Environment) (variables []string, remove func(), err error) {
	remove = func() {}
	for name, text := range env.Texts("environmentVariables") {
		variables = append(variables, name+"="+text)
	}
	dir := ""
	for name, text := range env.Texts("files") {
		if dir == "" {
			if dir, err = os.MkdirTemp("", "yamlhost-files-"); err != nil {
				return nil, remove, err
			}
			remove = func() { _ = os.RemoveAll(dir) }
		}
		f, err := os.CreateTemp(dir, "file-*")
		if err == nil {
			_, err = f.WriteString(text)
		}
		if f != nil {
			if closing := f.Close(); err == nil {
				err = closing
			}
		}
		if err != nil {
			return nil, remove, err
		}
		variables = append(variables, name+"="+f.Name())
	}
	return variables, remove, nil
}
