package newproject

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/cmd/internal/templates"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/environ"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// open finds the template and the project's folder.
func (m *maker) open(ctx context.Context) (err error) {
	// The folder need not exist, and nothing is written before all answers are there.
	m.dir = m.World.Dir
	if m.options.dir != "" {
		m.dir = m.Path(m.options.dir)
	}
	if info, err := confine.Anywhere().Stat(m.dir); err == nil && !info.IsDir() {
		return console.WithCode(console.CodeUsage, "--dir: %s is not a folder", m.options.dir)
	}
	name := m.options.template
	if name == "" {
		// The question for a template is the only one without a default.
		if !m.asks {
			return console.WithCode(console.CodeUsage,
				"which template? Name one, as in `yamlhost new hello`: %s, "+
					"a folder such as ./template, or a repository",
				strings.Join(templates.Names(), ", "))
		}
		return m.chooseTemplate(ctx)
	}
	m.template, err = m.openTemplate(ctx, name)
	return err
}

// chooseTemplate asks for the template until the answer is one.
func (m *maker) chooseTemplate(ctx context.Context) error {
	menu := view.Menu{Question: "template", Other: "a folder or a repository"}
	for _, name := range templates.Names() {
		t, err := templates.Embedded(name)
		if err != nil {
			return err
		}
		menu.Items = append(menu.Items, view.MenuItem{Name: t.Name, Note: t.Description})
	}
	for {
		_, name, err := m.Prompt().Choose(menu)
		if err != nil {
			return err
		}
		if m.template, err = m.openTemplate(ctx, name); err == nil {
			return nil
		}
		// A misspelt path is no reason to lose the answers that follow.
		m.SayError(err.Error())
	}
}

// openTemplate reads a built-in template, a folder or a repository. A name without a slash names a folder only if there
// is no built-in template of that name.
func (m *maker) openTemplate(ctx context.Context, name string) (*templates.Template, error) {
	if slices.Contains(templates.Names(), name) {
		return templates.Embedded(name)
	}
	var t *templates.Template
	repository, ok, err := templates.ParseRepository(name)
	switch {
	case err != nil:
		return nil, console.WithCode(console.CodeUsage, "%w", err)
	// The address is printed before git runs, which may take long or ask for a password.
	case ok:
		fmt.Fprintf(m.Streams.Err, "Fetching %s\n", repository.URL)
		t, err = templates.FromRepository(ctx, repository, name, environ.List(m.World.Env).ForChildren())
	default:
		t, err = m.openFolder(name)
	}
	// Findings have positions in the template's files.
	if faulty, ok := err.(*templates.FaultyError); ok {
		return nil, m.Report(faulty.Found)
	}
	return t, err
}

// openFolder reads the template in a folder.
func (m *maker) openFolder(name string) (*templates.Template, error) {
	path := m.Path(name)
	if info, err := confine.Anywhere().Stat(path); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("there is no template %q and no such folder%s\nTemplates are %s.", name,
			diag.DidYouMean(name, templates.Names()), strings.Join(templates.Names(), ", "))
	}
	return templates.FromFolder(path, name)
}

// gather determines the project's properties from flags, from the user's answers, or from defaults.
func (m *maker) gather() (err error) {
	o := m.options
	if m.values, err = configOf(o.config); err != nil {
		return err
	}
	// The checks run with each answer, so that a person can correct it at once.
	goodName := func(name string) error {
		if err := project.CheckName(name); err != nil {
			return err
		}
		// Without a stack, whose name is asked for later: some names of projects are refused whatever it is.
		return m.checkNew(backend.Ref{Project: name})
	}
	if m.name, err = m.value("name", "project name", o.name, templates.NameFor(m.dir), goodName); err != nil {
		return err
	}
	anything := func(string) error { return nil }
	if m.description, err = m.value("description", "description", o.description, m.template.Description,
		anything); err != nil {
		return err
	}
	goodStack := func(stack string) error {
		// The name may have an organization in front, which only a service knows.
		ref, err := backend.ParseName(stack, m.name)
		if err != nil {
			return err
		}
		return m.checkNew(ref)
	}
	if m.stackName, err = m.value("stack", "stack name", o.stack, console.DefaultStack, goodStack); err != nil {
		return err
	}
	return m.gatherConfig()
}

// checkNew returns an error if there can be no new stack of that name. With --force the stack may exist.
func (m *maker) checkNew(r backend.Ref) error {
	if m.options.force {
		return nil
	}
	return r.CheckNew()
}

// configOf parses configuration given by flags.
func configOf(pairs []string) (map[string]string, error) {
	values := map[string]string{}
	for _, pair := range pairs {
		key, v, found := strings.Cut(pair, "=")
		if !found || key == "" {
			return nil, console.WithCode(console.CodeUsage, "--config takes key=value, not %q", pair)
		}
		values[key] = v
	}
	return values, nil
}

// gatherConfig adds the configuration values that the template asks for.
func (m *maker) gatherConfig() error {
	// Keys are compared as keys: `region` and `project:region` are the same one.
	given, declared := map[project.Key]bool{}, m.declarations()
	for text, value := range m.values {
		key, err := project.ParseKey(text, m.name)
		if err != nil {
			return console.WithCode(console.CodeUsage, "--config: %w", err)
		}
		given[key] = true
		if d := declared[key]; d != nil {
			if err := d.Check(value); err != nil {
				return console.WithCode(console.CodeUsage, "--config: %w", err)
			}
		}
	}
	for _, v := range m.template.Config {
		key, err := project.ParseKey(v.Key, m.name)
		if err != nil {
			return fmt.Errorf("template %s: %w", m.template.Name, err)
		}
		if given[key] {
			continue
		}
		// Without a person the default is taken, and a value without one is left for later.
		text := v.Default
		if m.asks {
			if text, err = m.askConfig(v, declared[key]); err != nil {
				return err
			}
		}
		if text == "" {
			m.unset = append(m.unset, v)
			continue
		}
		m.values[v.Key] = text
	}
	return nil
}

// declarations returns the configuration that the template's program declares, by key. It is empty if the project file
// has faults, which are reported before anything is written.
func (m *maker) declarations() map[project.Key]*project.Declaration {
	declared := map[project.Key]*project.Declaration{}
	// Filled in memory only: a declared key has the name of the project in it.
	files, err := m.template.Fill(m.name, m.description)
	if err != nil {
		return declared
	}
	for _, f := range files {
		if f.Path != m.template.ProjectFile {
			continue
		}
		p, found := project.Parse(diag.NewSource(f.Path, project.StripBOM(f.Text)))
		if found.HasErrors() {
			continue
		}
		for _, d := range p.Config {
			declared[d.Key] = d
		}
	}
	return declared
}

// askConfig asks for a configuration value until the answer is of the declared type; declared may be nil. An empty
// answer leaves the value out.
func (m *maker) askConfig(v project.TemplateValue, declared *project.Declaration) (string, error) {
	check := func(text string) error {
		// Nothing is not a value of another type, but none.
		if text == "" || declared == nil {
			return nil
		}
		return declared.Check(text)
	}
	question := v.Key
	if v.Description != "" {
		question += ": " + v.Description
	}
	// Its default is not shown either, since it may be a secret of the template.
	if v.Secret && m.Streams.ReadPassword != nil {
		for {
			text, err := m.Prompt().Hidden(question + ": ")
			if text == "" {
				text = v.Default
			}
			if err != nil {
				return text, err
			}
			fault := check(text)
			if fault == nil {
				return text, nil
			}
			m.SayError(fault.Error())
		}
	}
	return m.ask(question, v.Default, check)
}

// value returns the value of a flag, or else the user's answer, the value from the environment, or the default.
func (m *maker) value(flag, question, given, otherwise string, check func(string) error) (string, error) {
	switch {
	case m.options.set(flag):
		if err := check(given); err != nil {
			return "", console.WithCode(console.CodeUsage, "--%s: %w", flag, err)
		}
		return given, nil
	case m.asks:
		return m.ask(question, otherwise, check)
	// --stack has a default, so given is set also when nobody gave it.
	case given != "": // set by the environment
		otherwise = given
	}
	return otherwise, check(otherwise)
}

// ask repeats a question until check accepts the answer. An empty answer means the default.
func (m *maker) ask(question, otherwise string, check func(string) error) (string, error) {
	for {
		if otherwise == "" {
			fmt.Fprintf(m.Streams.Err, "%s: ", question)
		} else {
			fmt.Fprintf(m.Streams.Err, "%s (%s): ", question, otherwise)
		}
		answer, err := m.Prompt().Answer()
		// The last line of an input may end without a line break, and counts.
		if err != nil && answer == "" { // end of input, or an interrupt
			return "", fmt.Errorf("%s: no answer: %w", question, err)
		}
		if answer = strings.TrimSpace(answer); answer == "" {
			answer = otherwise
		}
		fault := check(answer)
		if fault == nil {
			return answer, nil
		}
		m.SayError(fault.Error())
	}
}
