package operation

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/dynamic"
	"github.com/yamlhost/yamlhost/runtime/plugin/install"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// distrust restricts the options for an untrusted program (D13).
func (o *Options) distrust() {
	if !o.Untrusted {
		return
	}
	if o.MaxValue == 0 {
		o.MaxValue = builtins.UntrustedLimits.Value >> 20
	}
	if o.MaxSteps == 0 {
		o.MaxSteps = builtins.UntrustedLimits.Steps
	}
}

// limits returns the limits for the evaluation of a program and of each policy.
func (o *ProgramOptions) limits() builtins.Limits {
	return builtins.Limits{Value: o.MaxValue << 20, Steps: o.MaxSteps}
}

// opening returns the options that open a project for an operation. say receives the messages of the program's
// compiler; it is nil if the operation runs no program.
func (o *Options) opening(a *console.Console, say func(diag.Severity, string)) workspace.Options {
	if say != nil && !o.Untrusted {
		return a.Trusting(say)
	}
	w := a.Looking()
	w.Confined = o.Untrusted
	return w
}

// variables looks up environment variables that a program may read; nil for none.
func (o *Options) variables(w *console.World) func(name string) (string, bool) {
	if o.Untrusted {
		return nil
	}
	return w.Lookup
}

// guardProject returns an error if an untrusted project chooses the backend.
func (o *Options) guardProject(w *console.World, p *project.Project) error {
	if o.Untrusted && p.BackendURL != "" && w.Getenv("PULUMI_BACKEND_URL") == "" {
		return console.WithCode(console.CodeError,
			"an untrusted project may not choose the backend; set PULUMI_BACKEND_URL")
	}
	return nil
}

// guardSettings returns an error if an untrusted project's settings file is outside of the project.
func (o *Options) guardSettings(a *console.Console, p *project.Project, path string) error {
	if !o.Untrusted || o.ConfigFile != "" {
		return nil
	}
	if err := confine.Path(p.Dir, path); err != nil {
		return fmt.Errorf("%s may not be read: %w", a.Short(path), err)
	}
	return nil
}

// AllowStackHelp is the help of --allow-stack.
const AllowStackHelp = "with --untrusted, let the program read the outputs of this stack too; may be repeated"

// guardKey reports a key service in an untrusted settings file: a call would open a connection to an address in the
// file, with the user's credentials.
func (o *Options) guardKey(w *console.World, p *project.Project, s *project.Settings) diag.Diagnostics {
	if !o.Untrusted || !secrets.IsKeyURL(s.SecretsProvider) || w.Getenv("PULUMI_CLOUD_SECRET_OVERRIDE") != "" ||
		confine.Path(p.Dir, s.Path) != nil {
		return nil
	}
	return diag.Diagnostics{{Code: diag.OperationFailed, Subject: s.ProviderPlace,
		Summary: "an untrusted project may not choose the key service: its settings name " + s.SecretsProvider,
		Detail:  "name settings from outside of the project with --config-file, or the key in PULUMI_CLOUD_SECRET_OVERRIDE"}}
}

// UntrustedStacks returns a function that decides which stacks' outputs an untrusted program of a project may read: its
// own and those that --allow-stack names. own is its stack; empty if there is none.
func UntrustedStacks(allowed []string, name, own string) func(stack string) error {
	return func(stack string) error {
		ref, err := backend.ParseName(stack, name)
		if err != nil || ref == (backend.Ref{Project: name, Stack: own}) {
			return nil // an invalid name is reported where the stack is read
		}
		for _, text := range allowed {
			if other, err := backend.ParseName(text, name); err == nil && other == ref {
				return nil
			}
		}
		return fmt.Errorf("an untrusted program may not read the outputs of the stack %s (--untrusted)\n"+
			"if it may, name the stack: --allow-stack %s", ref, ref)
	}
}

// outside returns the folders of PATH outside of a project: they belong to the user.
func outside(path []string, root string) []string {
	var kept []string
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		real = root
	}
	for _, dir := range path {
		target, err := filepath.EvalSymlinks(dir)
		if err != nil || !filepath.IsAbs(dir) || root != "" && (confine.Within(root, dir) || confine.Within(real, target)) {
			continue
		}
		kept = append(kept, dir)
	}
	return kept
}

// asLocked returns a check of installed plugins against the lock file in a folder. It returns an error for a plugin
// from another archive and, with only, for a plugin that is not in the lock file.
func asLocked(dir string, only bool) func(install.Plugin) error {
	return func(p install.Plugin) error {
		lock, err := install.ReadLockFile(dir)
		if err != nil {
			return err
		}
		name, version, want := p.Name, p.Version, ""
		if locked := lock.Find(name, version); locked != nil {
			want = locked.Checksum(install.Platform())
		}
		if got := install.Receipt(p.Path); want != "" && got != "" && !strings.EqualFold(want, got) {
			return fmt.Errorf(
				"the plugin %[1]s %[2]s that is installed came from an archive with the SHA-256 %[3]s, and %[4]s has %[5]s\n"+
					"install the locked one with: yamlhost plugin install resource %[1]s %[2]s --reinstall", name, version, got,
				install.LockName, want)
		}
		if only && want == "" {
			return fmt.Errorf("the plugin %[1]s %[2]s is not in %[3]s, and an untrusted program may start no other "+
				"(--untrusted)\n"+
				"if you trust the plugin, add it with: yamlhost plugin install resource %[1]s %[2]s --reinstall --lock", name,
				version, install.LockName)
		}
		return nil
	}
}

// refuse returns an error for a package whose code belongs to the project, if such code must not be started.
func (p *Providers) refuse(name string) error {
	switch {
	case p.trust == Trusted:
		return nil
	case name == dynamic.Package:
		return errors.New("dynamic types run code of the project, which is not trusted here (--untrusted)")
	case name == "command" && p.trust == Untrusted:
		return errors.New("the package command runs commands, which an untrusted program may not (--untrusted)")
	case p.Paths.has(name):
		return fmt.Errorf("the plugin %s is in the project, which is not trusted here (--untrusted)", name)
	}
	return nil
}
