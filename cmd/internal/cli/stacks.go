package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/backend/bucket"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// defaultStack is the stack that `run` creates when none is chosen (D3).
const defaultStack = "dev"

// defaultBackend is where state goes when nobody says (D3).
const defaultBackend = "file://~"

// stack is a stack in a backend.
type stack struct {
	project *project.Project
	backend *backend.Backend
	ref     backend.Ref
	missing bool // it does not exist, and is not to be created
}

// pulumiHome is the folder that holds plugins, schemas and what is selected.
func (a *app) pulumiHome() string {
	if home := a.world.env("PULUMI_HOME"); home != "" {
		return a.path(home)
	}
	if a.world.Home == "" {
		return ""
	}
	return filepath.Join(a.world.Home, ".pulumi")
}

// credentialsHome is the folder of credentials.json (F6.16).
func (a *app) credentialsHome() string {
	if dir := a.world.env("PULUMI_CREDENTIALS_PATH"); dir != "" {
		return a.path(dir)
	}
	return a.pulumiHome()
}

// backendURL is where state lives, and what relative paths in it are relative to (F6.1, D3). p may be nil.
func (a *app) backendURL(p *project.Project) (url, workDir string, err error) {
	if url := a.world.env("PULUMI_BACKEND_URL"); url != "" {
		return url, a.world.Dir, nil
	}
	if p != nil && p.BackendURL != "" {
		return p.BackendURL, p.Dir, nil
	}
	url, err = backend.CurrentLogin(a.credentialsHome())
	if err != nil {
		return "", "", err
	}
	if url == "" {
		url = defaultBackend
	}
	return url, a.world.Dir, nil
}

// openBackend opens the backend of a project; p may be nil.
func (a *app) openBackend(p *project.Project) (*backend.Backend, error) {
	url, workDir, err := a.backendURL(p)
	if err != nil {
		return nil, err
	}
	return a.openBackendAt(url, workDir)
}

func (a *app) openBackendAt(url, workDir string) (*backend.Backend, error) {
	o := backend.Options{
		Home: a.world.Home, WorkDir: workDir, Version: "yamlhost/" + a.version(), Now: a.world.Now,
		RetainCheckpoints: a.diyTrue("RETAIN_CHECKPOINTS"), DisableBackups: a.diyTrue("DISABLE_CHECKPOINT_BACKUPS"),
		Fault: a.world.Fault, OpenObjects: openObjects, Lease: a.world.Lease,
		Note: func(text string) { fmt.Fprintln(a.streams.Err, text) },
	}
	if a.world.Process != nil {
		o.Process = a.world.Process()
	}
	switch gzip, zstd := a.diyTrue("GZIP"), a.diyTrue("ZSTD"); {
	case gzip && zstd:
		return nil, withCode(codeUsage, "PULUMI_DIY_BACKEND_GZIP and PULUMI_DIY_BACKEND_ZSTD exclude each other")
	case gzip:
		o.Compression = backend.Gzip
	case zstd:
		o.Compression = backend.Zstd
	}
	return backend.Open(url, o)
}

// openObjects opens a store of objects. What is behind it outlives the command that asked: it renews credentials, say.
func openObjects(rawURL string) (backend.Objects, error) {
	return bucket.Open(context.Background(), rawURL)
}

// diyTrue is a boolean setting of the backend, under its name of today or the old one (F7.18).
func (a *app) diyTrue(name string) bool {
	return a.world.envTrue("PULUMI_DIY_BACKEND_"+name) || a.world.envTrue("PULUMI_SELF_MANAGED_STATE_"+name)
}

// missingStackError says that a stack does not exist; near names come with it.
type missingStackError struct {
	ref  backend.Ref
	near []string
	lost *backend.LostError // nil unless it has lost its state
}

func (e *missingStackError) Error() string {
	if e.lost != nil {
		return e.lost.Error()
	}
	text := fmt.Sprintf("no stack named '%s' found in project %s", e.ref.Stack, e.ref.Project)
	if len(e.near) > 0 {
		text += fmt.Sprintf("; did you mean %s?", e.near[0])
	}
	return text + fmt.Sprintf("\nCreate it with: yamlhost stack init %s", e.ref.Stack)
}

var errNoStack = &exitError{code: codeNoStack, cause: errors.New("no stack selected; choose one with --stack, " +
	"`yamlhost stack select` or `yamlhost stack init`")}

// chosenStack is the stack that the flag, the environment or the selection names (D3, F6.15); ok is false when there is
// none.
func (a *app) chosenStack(b *backend.Backend, p *project.Project, flag string) (ref backend.Ref, ok bool, err error) {
	name := flag
	if name == "" {
		name = a.world.env("PULUMI_STACK")
	}
	if name == "" {
		if name, err = backend.SelectedStack(a.pulumiHome(), p.Name.Text, p.Path, b.URL()); err != nil {
			return ref, false, err
		}
	}
	if name == "" {
		return ref, false, nil
	}
	ref, err = backend.ParseRef(name, p.Name.Text)
	if err == nil && ref.Project != p.Name.Text {
		err = fmt.Errorf("the stack %s is of another project than this one, which is %s", name, p.Name.Text)
	}
	return ref, err == nil, err
}

// openStack opens the chosen stack, which has to exist: else the error has exit code 6 (F7.14).
func (a *app) openStack(ctx context.Context, p *project.Project, flag string) (*stack, error) {
	b, err := a.openBackend(p)
	if err != nil {
		return nil, err
	}
	ref, ok, err := a.chosenStack(b, p, flag)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errNoStack
	}
	exists, err := b.Exists(ref)
	if err != nil {
		return nil, err
	}
	if !exists {
		return nil, a.noSuchStack(ctx, b, ref)
	}
	return &stack{project: p, backend: b, ref: ref}, nil
}

func (a *app) noSuchStack(ctx context.Context, b *backend.Backend, ref backend.Ref) error {
	missing := &missingStackError{ref: ref, lost: b.Lost(ref)}
	if refs, err := b.Stacks(ctx, ref.Project); err == nil {
		var names []string
		for _, r := range refs {
			names = append(names, r.Stack)
		}
		missing.near = diag.Suggest(ref.Stack, names)
	}
	return &exitError{code: codeNoStack, cause: missing}
}

// openOrImagine opens the chosen stack or, by default, the one named dev, which need not exist.
func (a *app) openOrImagine(p *project.Project, flag string) (s *stack, chosen bool, err error) {
	b, err := a.openBackend(p)
	if err != nil {
		return nil, false, err
	}
	ref, chosen, err := a.chosenStack(b, p, flag)
	if err == nil && !chosen {
		ref, err = backend.ParseRef(defaultStack, p.Name.Text)
	}
	if err != nil {
		return nil, false, err
	}
	exists, err := b.Exists(ref)
	return &stack{project: p, backend: b, ref: ref, missing: !exists}, chosen, err
}

// realize creates a stack that is missing so far, and selects it unless another one was chosen.
func (a *app) realize(ctx context.Context, s *stack, chosen bool) error {
	if !s.missing {
		return nil
	}
	if err := a.createStack(ctx, s, nil, !chosen); err != nil {
		return err
	}
	s.missing = false
	fmt.Fprintf(a.streams.Err, "Created stack '%s'\n", s.ref.Stack)
	return nil
}

// selectStack remembers a stack as the one that commands act on.
func (a *app) selectStack(s *stack) error {
	return backend.SelectStack(a.pulumiHome(), s.project.Name.Text, s.project.Path, s.backend.URL(), s.ref.QualifiedName())
}

// loadSettings reads a stack's settings file, or the one that --config-file names.
func (a *app) loadSettings(p *project.Project, stack, file string) (*project.Settings, diag.Diagnostics, error) {
	path := a.settingsPath(p, stack, file)
	settings, diags, err := project.LoadSettings(path, a.short(path), p.Name.Text)
	if err != nil {
		return nil, nil, err
	}
	if i := slices.IndexFunc(diags, func(d diag.Diagnostic) bool { return d.Code == diag.Syntax }); i >= 0 {
		if _, found := parser.Data(settings.Source); len(found) > 0 { // it tells the place and the cause
			diags = slices.Replace(diags, i, i+1, found[0])
		}
	}
	if settings.Environment != nil {
		diags.Add(diag.Diagnostic{Code: diag.WrongKind, Subject: *settings.Environment,
			Summary: "environments are a part of Pulumi Cloud, which this backend does not support", Detail: "Remove the key `environment`."})
	}
	return settings, diags, nil
}

// stackConfig is the whole configuration of a stack in plain text.
func (a *app) stackConfig(p *project.Project, name string) (map[project.Key]project.Text, diag.Diagnostics, error) {
	ref, err := backend.ParseRef(name, p.Name.Text)
	if err != nil {
		return nil, nil, err
	}
	settings, diags, err := a.loadSettings(p, ref.Stack, "")
	if err != nil || diags.HasErrors() {
		return nil, diags, err
	}
	manager, err := a.manager(settings, ref.Stack)
	if err != nil {
		return nil, nil, err
	}
	config, found, err := project.Merge(p, settings, ref.Stack, manager)
	if err != nil {
		return nil, nil, a.explainSecret(err, ref.Stack)
	}
	return config, append(diags, found...), nil
}
