package console

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/workspace/environments"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// Environments returns the options for opening the environments of a stack; an empty name means the chosen stack.
// Opening environments with them may read variables and start commands.
func (a *Console) Environments(p *project.Project, stack string) (environments.Options, error) {
	hosted, err := a.Backends().environments(p, stack, false)
	return environments.Options{Dir: p.Dir, Door: p.Door, Shown: a.Short, Lookup: a.World.Lookup,
		Command: eval.RunCommand(a.ChildEnv(), a.World.Supervisor()), Hosted: hosted}, err
}

// looksPatience limits how long a read-only command waits for a service. Answers are reused for looksAgain before the
// service is asked again.
const (
	looksPatience = 10 * time.Second
	looksAgain    = time.Minute
)

// Inherit adds the keys that a stack inherits from its environments to its settings, with the values that the documents
// contain; it does not open secrets or providers. An empty stack name means the chosen stack. A service that does not
// answer results in a warning.
func (a *Console) Inherit(p *project.Project, s *project.Settings, stack string) diag.Diagnostics {
	if s.Environment == nil {
		return nil
	}
	hosted, err := a.Backends().environments(p, stack, true)
	if err != nil {
		return unasked(s, err)
	}
	o := environments.Options{Dir: p.Dir, Door: p.Door, Shown: a.Short, Check: true, Hosted: hosted}
	if hosted == nil {
		_, diags := InheritBy(context.Background(), o, s)
		return diags
	}
	key := hosted.Client.URL() + "\n" + hosted.Owner + "\n" + string(s.Source.Text())
	kept := shared(a)
	kept.lookedMu.Lock()
	defer kept.lookedMu.Unlock()
	known, has := kept.looked[key]
	if !has || a.Now().Sub(known.at) > looksAgain {
		ctx, cancel := context.WithTimeout(context.Background(), looksPatience)
		defer cancel()
		known.at = a.Now()
		known.env, known.diags, known.err = evaluate(ctx, o, s)
		if kept.looked == nil {
			kept.looked = map[string]looked{}
		}
		kept.looked[key] = known
	}
	if known.err != nil {
		return unasked(s, known.err)
	}
	return append(placed(s, known.diags), inherit(s, known.env, !known.diags.HasErrors())...)
}

// looked is a cached answer of a service to a read-only command.
type looked struct {
	at    time.Time
	env   *environments.Environment
	diags diag.Diagnostics
	err   error
}

// unasked returns the warning for a service that could not be asked or did not answer.
func unasked(s *project.Settings, err error) diag.Diagnostics {
	return diag.Diagnostics{{Code: diag.BadEnvironment, Severity: diag.Warning, Subject: *s.Environment,
		Summary: "the keys that the stack has from its environments are not known here", Detail: err.Error()}}
}

// placed returns the service's findings, moved to the key of the settings file whose value the service evaluated.
func placed(s *project.Settings, diags diag.Diagnostics) diag.Diagnostics {
	list := slices.Clone(diags)
	for i := range list {
		if path, _, _ := strings.Cut(list[i].Subject.Text(), "\n"); path != "" {
			list[i].Detail = strings.TrimSpace("at: " + path + "\n" + list[i].Detail)
		}
		list[i].Subject = *s.Environment
	}
	return list
}

// inherit adds the configuration in an environment to the settings of a stack. If whole is false, there may be more.
func inherit(s *project.Settings, env *environments.Environment, whole bool) diag.Diagnostics {
	return s.Inherit(env.Part(environments.Config), whole, func(name string) diag.Range {
		if place, found := env.Places[name]; found {
			return place
		}
		return *s.Environment
	})
}

// evaluate opens the environments of a stack.
func evaluate(ctx context.Context, o environments.Options, s *project.Settings) (*environments.Environment,
	diag.Diagnostics, error) {
	if o.Hosted == nil {
		env, diags := o.Section(ctx, s.Source)
		return env, diags, nil
	}
	text, err := s.EnvironmentText()
	if err != nil || text == nil {
		return nil, nil, err
	}
	return o.Document(ctx, "", diag.NewSource(s.Source.Name(), text))
}

// InheritBy adds the configuration from a stack's environments to its settings, and returns the opened environment. It
// returns nil if the settings name no environment.
func InheritBy(ctx context.Context, o environments.Options, s *project.Settings) (*environments.Environment,
	diag.Diagnostics) {
	if s.Environment == nil {
		return nil, nil
	}
	if environments.Lean != "" && o.Hosted == nil {
		return nil, diag.Diagnostics{{Code: diag.BadEnvironment, Subject: *s.Environment, Summary: environments.Lean,
			Detail: "use the default edition, or remove the key `environment`"}}
	}
	env, diags, err := evaluate(ctx, o, s)
	if err != nil {
		return nil, diag.Diagnostics{{Code: diag.BadEnvironment, Subject: *s.Environment, Summary: err.Error()}}
	}
	if o.Hosted != nil {
		diags = placed(s, diags)
	}
	return env, append(diags, inherit(s, env, !diags.HasErrors())...)
}

// Export returns the environment variables that env defines, as name=value. It writes the files of env to a new
// temporary folder and sets a variable to the path of each. The caller must call remove, which deletes the folder, even
// after an error.
func Export(env *environments.Environment) (variables []string, remove func(), err error) {
	remove = func() {}
	for name, text := range env.Texts(environments.Variables) {
		variables = append(variables, name+"="+text)
	}
	dir := ""
	for name, text := range env.Texts(environments.Files) {
		if dir == "" {
			if dir, err = os.MkdirTemp("", "yamlhost-files-"); err != nil {
				return nil, remove, err
			}
			remove = func() { _ = osfile.RemoveAll(dir) }
		}
		f, err := os.CreateTemp(dir, "file-*")
		if err != nil {
			return nil, remove, err
		}
		_, err = f.WriteString(text)
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, remove, err
		}
		variables = append(variables, name+"="+f.Name())
	}
	return variables, remove, nil
}
