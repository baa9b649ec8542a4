package console

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/backend/bucket"
	"github.com/yamlhost/yamlhost/runtime/backend/postgres"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// DefaultStack is the stack that `run` creates when none is chosen (D3).
const DefaultStack = "dev"

// DefaultBackend is where state goes when nobody says (D3).
const DefaultBackend = "file://~"

// Stack is a stack in a backend.
type Stack struct {
	Project *project.Project
	Backend *backend.Backend
	Ref     backend.Ref
	Missing bool // it does not exist, and is not to be created
}

// PulumiHome is the folder that holds plugins, schemas and what is selected.
func (a *Console) PulumiHome() string {
	if home := a.World.Getenv("PULUMI_HOME"); home != "" {
		return a.Path(home)
	}
	if a.World.Home == "" {
		return ""
	}
	return filepath.Join(a.World.Home, ".pulumi")
}

// CredentialsHome is the folder of credentials.json (F6.16).
func (a *Console) CredentialsHome() string {
	if dir := a.World.Getenv("PULUMI_CREDENTIALS_PATH"); dir != "" {
		return a.Path(dir)
	}
	return a.PulumiHome()
}

// backendURL is where state lives, and what relative paths in it are relative to (F6.1, D3). p may be nil.
func (a *Console) backendURL(p *project.Project) (url, workDir string, err error) {
	if url := a.World.Getenv("PULUMI_BACKEND_URL"); url != "" {
		return url, a.World.Dir, nil
	}
	if p != nil && p.BackendURL != "" {
		return p.BackendURL, p.Dir, nil
	}
	url, err = backend.CurrentLogin(a.CredentialsHome())
	if err != nil {
		return "", "", err
	}
	if url == "" {
		url = DefaultBackend
	}
	return url, a.World.Dir, nil
}

// OpenBackend opens the backend of a project; p may be nil.
func (a *Console) OpenBackend(p *project.Project) (*backend.Backend, error) {
	url, workDir, err := a.backendURL(p)
	if err != nil {
		return nil, err
	}
	return a.OpenBackendAt(url, workDir)
}

// LocalBackend opens the backend of a project if it is a folder of this machine; else, or if that fails, it returns
// nil.
func (a *Console) LocalBackend(p *project.Project) *backend.Backend {
	url, workDir, err := a.backendURL(p)
	if err != nil || !strings.HasPrefix(url, "file://") {
		return nil
	}
	b, err := a.OpenBackendAt(url, workDir)
	if err != nil {
		return nil
	}
	return b
}

func (a *Console) OpenBackendAt(url, workDir string) (*backend.Backend, error) {
	o := backend.Options{
		Home: a.World.Home, WorkDir: workDir, Version: "yamlhost/" + a.Version(), Now: a.World.Now,
		RetainCheckpoints: a.diyTrue("RETAIN_CHECKPOINTS"), DisableBackups: a.diyTrue("DISABLE_CHECKPOINT_BACKUPS"),
		Fault: a.World.Fault, OpenObjects: a.openObjects, Lease: a.World.Lease,
		Note: func(text string) { fmt.Fprintln(a.Streams.Err, text) },
	}
	if a.World.Process != nil {
		o.Process = a.World.Process()
	}
	switch gzip, zstd := a.diyTrue("GZIP"), a.diyTrue("ZSTD"); {
	case gzip && zstd:
		return nil, WithCode(CodeUsage, "PULUMI_DIY_BACKEND_GZIP and PULUMI_DIY_BACKEND_ZSTD exclude each other")
	case gzip:
		o.Compression = backend.Gzip
	case zstd:
		o.Compression = backend.Zstd
	}
	return backend.Open(url, o)
}

// openObjects opens a store of objects. What is behind it outlives the command that asked: it renews credentials, say.
func (a *Console) openObjects(rawURL string) (backend.Objects, error) {
	if postgres.Handles(rawURL) {
		return postgres.Open(context.Background(), rawURL, a.World.Lookup)
	}
	return bucket.Open(context.Background(), rawURL, a.World.Lookup)
}

// Stores returns the schemes of the stores that this build can open.
func Stores() []string { return append(bucket.Known(), postgres.Known()...) }

// diyTrue is a boolean setting of the backend, under its name of today or the old one (F7.18).
func (a *Console) diyTrue(name string) bool {
	return a.World.Enabled("PULUMI_DIY_BACKEND_"+name) || a.World.Enabled("PULUMI_SELF_MANAGED_STATE_"+name)
}

// MissingStackError says that a stack does not exist; near names come with it.
type MissingStackError struct {
	Ref  backend.Ref
	near []string
	Lost *backend.LostError // nil unless it has lost its state
}

func (e *MissingStackError) Error() string {
	if e.Lost != nil {
		return e.Lost.Error()
	}
	text := fmt.Sprintf("no stack named '%s' found in project %s", e.Ref.Stack, e.Ref.Project)
	if len(e.near) > 0 {
		text += fmt.Sprintf("; did you mean %s?", e.near[0])
	}
	return text + fmt.Sprintf("\nCreate it with: yamlhost stack init %s", e.Ref.Stack)
}

var errNoStack = &ExitError{Code: codeNoStack, Cause: errors.New("no stack selected; choose one with --stack, " +
	"`yamlhost stack select` or `yamlhost stack init`")}

// ChosenStack is the stack that the flag, the environment or the selection names (D3, F6.15); ok is false when there is
// none.
func (a *Console) ChosenStack(b *backend.Backend, p *project.Project, flag string) (ref backend.Ref, ok bool,
	err error) {
	name := flag
	if name == "" {
		name = a.World.Getenv("PULUMI_STACK")
	}
	if name == "" {
		if name, err = backend.SelectedStack(a.PulumiHome(), p.Name.Text, p.Path, b.URL()); err != nil {
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

// OpenStack opens the chosen stack, which has to exist: else the error has exit code 6 (F7.14).
func (a *Console) OpenStack(ctx context.Context, p *project.Project, flag string) (*Stack, error) {
	b, err := a.OpenBackend(p)
	if err != nil {
		return nil, err
	}
	ref, ok, err := a.ChosenStack(b, p, flag)
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
		return nil, a.NoSuchStack(ctx, b, ref)
	}
	return &Stack{Project: p, Backend: b, Ref: ref}, nil
}

func (a *Console) NoSuchStack(ctx context.Context, b *backend.Backend, ref backend.Ref) error {
	missing := &MissingStackError{Ref: ref, Lost: b.Lost(ref)}
	if refs, err := b.Stacks(ctx, ref.Project); err == nil {
		var names []string
		for _, r := range refs {
			names = append(names, r.Stack)
		}
		missing.near = diag.Suggest(ref.Stack, names)
	}
	return &ExitError{Code: codeNoStack, Cause: missing}
}

// OpenOrImagine opens the chosen stack or, by default, the one named dev, which need not exist.
func (a *Console) OpenOrImagine(p *project.Project, flag string) (s *Stack, chosen bool, err error) {
	b, err := a.OpenBackend(p)
	if err != nil {
		return nil, false, err
	}
	ref, chosen, err := a.ChosenStack(b, p, flag)
	if err == nil && !chosen {
		ref, err = backend.ParseRef(DefaultStack, p.Name.Text)
	}
	if err != nil {
		return nil, false, err
	}
	exists, err := b.Exists(ref)
	return &Stack{Project: p, Backend: b, Ref: ref, Missing: !exists}, chosen, err
}

// Realize creates a stack that is missing so far, and selects it unless another one was chosen.
func (a *Console) Realize(ctx context.Context, s *Stack, chosen bool) error {
	if !s.Missing {
		return nil
	}
	if err := a.CreateStack(ctx, s, nil, !chosen); err != nil {
		return err
	}
	s.Missing = false
	fmt.Fprintf(a.Streams.Err, "Created stack '%s'\n", s.Ref.Stack)
	return nil
}

// SelectStack remembers a stack as the one that commands act on.
func (a *Console) SelectStack(s *Stack) error {
	return backend.SelectStack(a.PulumiHome(), s.Project.Name.Text, s.Project.Path, s.Backend.URL(), s.Ref.QualifiedName())
}

// LoadSettings reads a stack's settings file, or the one that --config-file names.
func (a *Console) LoadSettings(p *project.Project, stack, file string) (*project.Settings, diag.Diagnostics, error) {
	path := a.SettingsPath(p, stack, file)
	settings, diags, err := project.LoadSettings(path, a.Short(path), p.Name.Text)
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
			Summary: "environments are a part of Pulumi Cloud, which this backend does not support",
			Detail:  "Remove the key `environment`."})
	}
	return settings, diags, nil
}

// noKeyService opens nothing.
type noKeyService struct{}

func (noKeyService) Decrypt(string) (string, error) { return "", project.ErrUnread }

// StackConfig is the configuration of a stack in plain text for commands that open no connection: secrets that a key
// service keeps stay unread.
func (a *Console) StackConfig(p *project.Project, name string) (map[project.Key]project.Text, diag.Diagnostics, error) {
	ref, err := backend.ParseRef(name, p.Name.Text)
	if err != nil {
		return nil, nil, err
	}
	settings, diags, err := a.LoadSettings(p, ref.Stack, "")
	if err != nil || diags.HasErrors() {
		return nil, diags, err
	}
	manager, err := a.Manager(settings, ref.Stack)
	if err != nil {
		return nil, nil, err
	}
	var open project.Opener = manager
	if secrets.IsKeyURL(settings.SecretsProvider) {
		open = noKeyService{}
	}
	config, found, err := project.Merge(p, settings, ref.Stack, open)
	if err != nil {
		return nil, nil, ExplainSecret(err, ref.Stack)
	}
	return config, append(diags, found...), nil
}
