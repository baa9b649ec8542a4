package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// DefaultStack is the stack that `run` creates if none is chosen (D3).
const DefaultStack = "dev"

// Stack is a stack in a backend.
type Stack struct {
	Project *project.Project
	Backend *backend.Backend
	Ref     backend.Ref
	Missing bool // the stack does not exist and must not be created
}

// A MissingStackError is returned if a stack does not exist.
type MissingStackError struct {
	Ref  backend.Ref
	near []string
	Lost *backend.LostError // non-nil if the stack exists but has lost its state
}

// Error names the stack and existing stacks with a similar name.
func (e *MissingStackError) Error() string {
	if e.Lost != nil {
		return e.Lost.Error()
	}
	text := fmt.Sprintf("no stack named '%s' found in project %s", e.Ref.Stack, e.Ref.Project)
	if e.Ref.Owner != "" {
		text += " of organization " + e.Ref.Owner
	}
	if len(e.near) > 0 {
		text += fmt.Sprintf("; did you mean %s?", e.near[0])
	}
	name := e.Ref.Stack
	if e.Ref.Owner != "" {
		name = e.Ref.QualifiedName()
	}
	return text + "\nCreate it with: yamlhost stack init " + name
}

var errNoStack = &ExitError{Code: codeNoStack, Cause: errors.New("no stack selected; choose one with --stack, " +
	"`yamlhost stack select` or `yamlhost stack init`")}

// Chosen returns the stack that the flag, the environment or the selection names (D3, F6.15). ok is false if none is
// chosen.
func (a Stacks) Chosen(b *backend.Backend, p *project.Project, flag string) (ref backend.Ref, ok bool,
	err error) {
	name, err := a.Backends().chosen(p, b.URL(), flag)
	if err != nil || name == "" {
		return ref, false, err
	}
	ref, err = b.ParseRef(name, p.Name.Text)
	if err == nil && ref.Project != p.Name.Text {
		err = fmt.Errorf("the stack %s is of another project than this one, which is %s", name, p.Name.Text)
	}
	if err != nil && flag == "" && a.World.Getenv("PULUMI_STACK") == "" {
		err = fmt.Errorf("%w\n`yamlhost stack select` chooses the stack anew", err)
	}
	return ref, err == nil, err
}

// Open opens the chosen stack. If it does not exist, the error has exit code 6 (F7.14). If none is chosen, a person on
// a terminal chooses one.
func (a Stacks) Open(ctx context.Context, p *project.Project, flag string) (*Stack, error) {
	s, err := a.OpenChosen(ctx, p, flag)
	if !errors.Is(err, errNoStack) || !a.Interactive() || a.World.AsPulumi {
		return s, err
	}
	b, failed := a.Backends().Open(p)
	if failed != nil {
		return nil, err
	}
	if s, failed = a.Pick(ctx, p, b, nil); failed != nil && !errors.Is(failed, io.EOF) {
		err = failed
	}
	if failed != nil {
		return nil, err
	}
	return s, nil
}

// Pick has a person choose a stack of a project, or name a new one, which is created with its secrets sealed by
// provider. It selects that stack.
func (a Stacks) Pick(ctx context.Context, p *project.Project, b *backend.Backend, provider *string) (*Stack, error) {
	refs, err := b.Stacks(ctx, p.Name.Text)
	if err != nil {
		return nil, err
	}
	if len(refs) == 0 {
		return nil, errNoStack
	}
	m := view.Menu{Question: "stack", Other: "the name of a new stack", At: -1}
	selected, _ := backend.SelectedStack(a.World.PulumiHome(), p.Name.Text, p.Path, b.URL())
	for i, ref := range refs {
		m.Items = append(m.Items, view.MenuItem{Name: ref.Stack})
		if ref.QualifiedName() == selected {
			m.At, m.Items[i].Note = i, "selected"
		}
	}
	i, name, err := a.Prompt().Choose(m)
	if err != nil {
		return nil, err
	}
	s := &Stack{Project: p, Backend: b}
	if i >= 0 {
		s.Ref = refs[i]
		return s, a.Select(s)
	}
	if s.Ref, err = b.ParseRef(name, p.Name.Text); err != nil {
		return nil, err
	}
	if err := a.Prompt().Confirm(fmt.Sprintf("There is no stack %s of project %s yet. Create it?", s.Ref.Stack,
		p.Name.Text)); err != nil {
		return nil, err
	}
	return s, a.Create(ctx, s, provider, true)
}

// OpenChosen is Open without a question.
func (a Stacks) OpenChosen(ctx context.Context, p *project.Project, flag string) (*Stack, error) {
	b, err := a.Backends().Open(p)
	if err != nil {
		return nil, err
	}
	ref, ok, err := a.Chosen(b, p, flag)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errNoStack
	}
	return existing(ctx, p, b, ref)
}

// existing returns a stack that must exist.
func existing(ctx context.Context, p *project.Project, b *backend.Backend, ref backend.Ref) (*Stack, error) {
	exists, err := b.Exists(ref)
	if err != nil {
		return nil, err
	}
	if !exists {
		return nil, NoSuchStack(ctx, b, ref)
	}
	return &Stack{Project: p, Backend: b, Ref: ref}, nil
}

// OpenOrOffer is like Open, but on a terminal it offers to create a missing stack: the chosen one, or the first one of
// a project that has none.
func (a Stacks) OpenOrOffer(ctx context.Context, p *project.Project, flag string) (*Stack, error) {
	s, err := a.Open(ctx, p, flag)
	if err == nil || !a.Interactive() || a.World.AsPulumi {
		return s, err
	}
	var missing *MissingStackError
	switch named := errors.As(err, &missing); {
	case named && missing.Lost == nil:
	case errors.Is(err, errNoStack):
		if b, failed := a.Backends().Open(p); failed != nil || hasStacks(ctx, b, p) {
			return nil, err
		}
	default:
		return nil, err
	}
	next, chosen, failed := a.OpenOrPlaceholder(p, flag)
	if failed != nil {
		return nil, err
	}
	question := fmt.Sprintf("There is no stack %s of project %s yet. Create it?", next.Ref.Stack, p.Name.Text)
	if missing != nil && len(missing.near) > 0 {
		question = fmt.Sprintf("There is no stack %s of project %s, but there is %s. Create %[1]s?", next.Ref.Stack,
			p.Name.Text, missing.near[0])
	}
	if a.Prompt().Confirm(question) != nil {
		return nil, err
	}
	return next, a.CreateMissing(ctx, next, chosen)
}

func hasStacks(ctx context.Context, b *backend.Backend, p *project.Project) bool {
	refs, err := b.Stacks(ctx, p.Name.Text)
	return err != nil || len(refs) > 0
}

// NoSuchStack returns the error for a stack that does not exist, with exit code 6 (F7.14) and similar names.
func NoSuchStack(ctx context.Context, b *backend.Backend, ref backend.Ref) error {
	missing := &MissingStackError{Ref: ref}
	if past, err := backend.PastOf(b, ref); err == nil {
		missing.Lost = past.Lost()
	}
	if refs, err := b.Stacks(ctx, ref.Project); err == nil {
		var names []string
		for _, r := range refs {
			names = append(names, r.Stack)
		}
		missing.near = diag.Suggest(ref.Stack, names)
	}
	return &ExitError{Code: codeNoStack, Cause: missing}
}

// OpenOrPlaceholder opens the chosen stack or, by default, the one named dev, which need not exist. chosen reports
// whether one was chosen.
func (a Stacks) OpenOrPlaceholder(p *project.Project, flag string) (s *Stack, chosen bool, err error) {
	b, err := a.Backends().Open(p)
	if err != nil {
		return nil, false, err
	}
	ref, chosen, err := a.Chosen(b, p, flag)
	if err == nil && !chosen {
		ref, err = b.ParseRef(DefaultStack, p.Name.Text)
	}
	if err != nil {
		return nil, false, err
	}
	exists, err := b.Exists(ref)
	return &Stack{Project: p, Backend: b, Ref: ref, Missing: !exists}, chosen, err
}

// CreateMissing creates a stack that does not exist yet. It selects the stack unless chosen is set.
func (a Stacks) CreateMissing(ctx context.Context, s *Stack, chosen bool) error {
	if !s.Missing {
		return nil
	}
	if err := a.Create(ctx, s, nil, !chosen); err != nil {
		return err
	}
	s.Missing = false
	fmt.Fprintf(a.Streams.Err, "Created stack '%s'\n", s.Ref.Stack)
	return nil
}

// Select stores a stack as the one that later commands act on.
func (a Stacks) Select(s *Stack) error { return a.choose(s.Project, s.Backend, s.Ref.QualifiedName()) }

// Unselect forgets which stack of a project is selected. The stack itself need not exist any more.
func (a Stacks) Unselect(p *project.Project, b *backend.Backend) error { return a.choose(p, b, "") }

func (a Stacks) choose(p *project.Project, b *backend.Backend, name string) error {
	return backend.SelectStack(a.World.PulumiHome(), p.Name.Text, p.Path, b.URL(), name)
}

// LoadSettings reads a stack's settings file, or the one that --config-file names.
func (a *Console) LoadSettings(p *project.Project, stack, file string) (*project.Settings, diag.Diagnostics, error) {
	path := a.Stacks().SettingsPath(p, stack, file)
	door := p.Door
	if file != "" { // the user named it
		door = confine.Door{}
	}
	settings, diags, err := project.LoadSettings(door, path, a.Short(path), p.Name.Text)
	if errors.Is(err, confine.ErrOutside) {
		err = fmt.Errorf("%s may not be read: %w", a.Short(path), confine.ErrOutside)
	}
	if err != nil {
		return nil, nil, err
	}
	if i := slices.IndexFunc(diags, func(d diag.Diagnostic) bool { return d.Code == diag.Syntax }); i >= 0 {
		if _, found := parser.Data(settings.Source); len(found) > 0 { // it has the position and the cause
			diags = slices.Replace(diags, i, i+1, found[0])
		}
	}
	return settings, diags, nil
}

// Config returns the configuration of a stack in plain text, for commands that open no connection: secrets that a key
// service keeps stay sealed.
func (a Stacks) Config(p *project.Project, name string) (map[project.Key]project.Text, diag.Diagnostics, error) {
	ref, err := backend.ParseName(name, p.Name.Text)
	if err != nil {
		return nil, nil, err
	}
	settings, diags, err := a.LoadSettings(p, ref.Stack, "")
	if err != nil || diags.HasErrors() {
		return nil, diags, err
	}
	open := &lenient{by: project.Unread{}, failed: map[string]error{}}
	if !secrets.IsKeyURL(settings.SecretsProvider) && (settings.EncryptionSalt != "" || !a.Backends().Hosted(p)) {
		if open.by, err = a.Secrets().Manager(settings, ref.Stack); err != nil {
			summary := strings.TrimPrefix(err.Error(), a.Short(settings.Path)+": ")
			diags.Add(diag.Diagnostic{Code: diag.ConfigMissing, Subject: settings.SecretsPlace, Summary: summary})
			open.by = project.Unread{}
		}
	}
	opened := a.Inherit(p, settings, name)
	if diags.Add(opened...); opened.HasErrors() {
		return nil, diags, nil
	}
	config, found, err := project.Merge(p, settings, ref.Stack, open)
	if err != nil {
		return nil, nil, err
	}
	return config, slices.Concat(diags, open.findings(settings, ref.Stack), found), nil
}

// lenient is an opener that notes the secrets that cannot be opened, and leaves them sealed.
type lenient struct {
	by     project.Opener
	failed map[string]error // by ciphertext
}

// Decrypt opens a sealed text, or returns project.ErrUnread.
func (l *lenient) Decrypt(ciphertext string) (string, error) {
	text, err := l.by.Decrypt(ciphertext)
	if err != nil && !errors.Is(err, project.ErrUnread) {
		l.failed[ciphertext], err = err, project.ErrUnread
	}
	return text, err
}

// findings returns a finding for each reason why secrets could not be opened, at the first of them.
func (l *lenient) findings(settings *project.Settings, stack string) (diags diag.Diagnostics) {
	told := map[string]bool{}
	for _, e := range settings.Entries() {
		_, _ = project.MapSecure(e.Data(), func(s project.Secure) (any, error) {
			if err := l.failed[string(s)]; err != nil && !told[err.Error()] {
				told[err.Error()] = true
				reason, detail, _ := strings.Cut(ExplainSecret(err, stack).Error(), "\n")
				diags.Add(diag.Diagnostic{Code: diag.ConfigMissing, Subject: e.Range, Confidential: true,
					Summary: "the secret " + e.Key.String() + " cannot be opened: " + reason, Detail: detail})
			}
			return s, nil
		})
	}
	return diags
}

// ConfigRecord is the JSON form of a configuration value (F7.12).
type ConfigRecord struct {
	Value       *string `json:"value,omitempty"`
	ObjectValue any     `json:"objectValue,omitempty"`
	Secret      bool    `json:"secret"`
}

// RecordOf returns the record of a value, given its plain data.
func RecordOf(data any, secret bool) ConfigRecord {
	text := project.TextOf(data)
	r := ConfigRecord{Value: &text, Secret: secret}
	switch data.(type) {
	case map[string]any, []any:
		r.ObjectValue = data
	}
	return r
}

// HiddenSecret replaces a secret that is not shown.
const HiddenSecret = "[secret]"

// ParseKey parses the key of a configuration value; namespace is used if the key has none. With isPath, the key may
// lead to a part of the value.
func ParseKey(isPath bool, namespace, text string) (project.KeyPath, error) {
	if isPath {
		return project.ParseKeyPath(text, namespace)
	}
	key, err := project.ParseKey(text, namespace)
	return project.KeyPath{Key: key}, err
}

// Stacks opens, creates and selects the stacks of projects.
type Stacks struct{ *Console }

// Stacks returns access to stacks for this console.
func (a *Console) Stacks() Stacks { return Stacks{a} }

// ProjectAndBackend opens the project in the working directory and its backend.
func (a Stacks) ProjectAndBackend() (*project.Project, *backend.Backend, error) {
	p, err := a.SoundProject(a.World.Dir)
	if err != nil {
		return nil, nil, err
	}
	b, err := a.Backends().Open(p)
	return p, b, err
}

// Current opens the chosen stack of the project in the working directory.
func (a Stacks) Current(ctx context.Context, flag string) (*Stack, error) {
	p, err := a.SoundProject(a.World.Dir)
	if err != nil {
		return nil, err
	}
	return a.Open(ctx, p, flag)
}

// OfAnyProject is Current for a name that may be that of a stack of another project in the same backend.
func (a Stacks) OfAnyProject(ctx context.Context, name string) (*Stack, error) {
	p, b, err := a.ProjectAndBackend()
	if err != nil {
		return nil, err
	}
	ref, err := b.ParseRef(name, p.Name.Text)
	if name == "" || err != nil || ref.Project == p.Name.Text {
		return a.Open(ctx, p, name)
	}
	return existing(ctx, p, b, ref)
}

// Create creates a stack in its backend, and selects it if selected is set. If provider requires a passphrase or a key,
// Create asks for it now and stores the result in the stack's settings file and state; otherwise that waits for the
// first secret (D3, F4.15).
func (a Stacks) Create(ctx context.Context, s *Stack, provider *string, selected bool) error {
	if err := s.Ref.CheckNew(); err != nil {
		return err
	}
	kept, err := a.providerToCreate(s, provider)
	if err != nil {
		return err
	}
	if err := s.Backend.Create(ctx, s.Ref, kept); err != nil {
		return err
	}
	if !selected {
		return nil
	}
	return a.Select(s)
}

// providerToCreate determines how the secrets of a new stack are sealed, and writes that to its settings file. It
// returns nil if provider is nil, which leaves the choice open.
func (a Stacks) providerToCreate(s *Stack, provider *string) (*state.SecretsProvider, error) {
	if provider == nil {
		return nil, nil
	}
	release, err := a.Hold(a.SettingsPath(s.Project, s.Ref.Stack, ""))
	if err != nil {
		return nil, err
	}
	defer release()
	settings, err := a.Settings(s)
	if err != nil {
		return nil, err
	}
	keyed := secrets.IsKeyURL(*provider)
	if !keyed && *provider != secrets.TypePassphrase && !a.sealsNewStack(s, settings) {
		return nil, nil
	}
	exists, err := s.Backend.Exists(s.Ref) // before its settings are touched
	if err == nil && exists {
		err = &backend.ExistsError{Ref: s.Ref}
	}
	if err != nil {
		return nil, err
	}
	if keyed && settings.SecretsProvider != *provider {
		settings.SecretsProvider, settings.EncryptedKey, settings.EncryptionSalt = *provider, "", ""
	}
	manager, err := a.Secrets().Of(s.Backend, s.Ref).HeldManager(settings, s.Ref.Stack)
	if err != nil {
		return nil, err
	}
	if _, err := manager.Encrypt("pulumi"); err != nil { // makes the salt, or proves the passphrase
		return nil, ExplainSecret(err, s.Ref.Stack)
	}
	return &state.SecretsProvider{Type: manager.Type(), State: manager.State()}, nil
}

// sealsNewStack reports whether a new stack has its passphrase from the beginning. The Pulumi CLI writes it to the
// settings file, which clients of that program read at once; otherwise it is not needed before the first secret.
func (a Stacks) sealsNewStack(s *Stack, settings *project.Settings) bool {
	own := a.Secrets().Of(s.Backend, s.Ref)
	return a.World.AsPulumi && own.passphraseIsSet() && !own.isHosted(settings) &&
		!secrets.IsKeyURL(settings.SecretsProvider)
}

// Load reads a stack's state. Secrets stay sealed unless open is set (F4.16).
func (a Stacks) Load(ctx context.Context, s *Stack, open bool) (*backend.Loaded, error) {
	var opener state.Opener
	if open {
		manager, err := a.Manager(s)
		if err != nil {
			return nil, err
		}
		opener = manager.Opener
	}
	loaded, err := s.Backend.Load(ctx, s.Ref, opener)
	if err != nil {
		return nil, ExplainSecret(err, s.Ref.Stack)
	}
	return loaded, nil
}

// Settings reads a stack's settings file and reports its diagnostics.
func (a Stacks) Settings(s *Stack) (*project.Settings, error) {
	settings, diags, err := a.LoadSettings(s.Project, s.Ref.Stack, "")
	if err != nil {
		return nil, err
	}
	return settings, a.Report(diags)
}

// Manager makes the secrets manager of a stack for a command that does not use the stack's settings otherwise: of their
// diagnostics, it reports only errors.
//
// The settings of a stack of another project cannot be read from here, so its manager is the one that its state names.
func (a Stacks) Manager(s *Stack) (*StackSecrets, error) {
	if s.Ref.Project != s.Project.Name.Text {
		return a.Secrets().Of(s.Backend, s.Ref).elsewhere(s.Ref)
	}
	settings, diags, err := a.LoadSettings(s.Project, s.Ref.Stack, "")
	if err == nil && diags.HasErrors() {
		err = a.Report(diags)
	}
	if err != nil {
		return nil, err
	}
	return a.Secrets().Of(s.Backend, s.Ref).Manager(settings, s.Ref.Stack)
}
