package about

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/internal/environ"
	"github.com/yamlhost/yamlhost/runtime/embedded"
	"github.com/yamlhost/yamlhost/runtime/plugin/install"
)

// aboutOptions are the flags of about. They are a struct, as in every package here, so that the run function takes one
// argument and tests can call it without a command line.
type aboutOptions struct {
	stack string
	json  bool
}

// NewAbout returns the command about.
func NewAbout(a *console.Console) *cobra.Command {
	o := &aboutOptions{}
	cmd := &cobra.Command{
		Use: "about", Short: "Show versions, backend, stack and providers", Args: console.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return about(cmd.Context(), a, o) },
	}
	cmd.Flags().StringVarP(&o.stack, "stack", "s", "", "the stack; by default the selected one")
	cmd.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
	cmd.Flags().BoolP("transitive", "t", false, "accepted for compatibility: YAML has no dependencies to follow")
	console.Hide(cmd.Flags(), "transitive")
	cmd.AddCommand(&cobra.Command{Use: "env", Short: "Show the variables that are set for this program",
		Args: console.NoArguments, RunE: func(*cobra.Command, []string) error {
			return console.Table(a.Streams.Out, func(table io.Writer) { listVariables(table, a.World.Env) })
		}})
	return cmd
}

// listVariables writes the variables whose names begin with PULUMI_, by name. The values of those that may hold secrets
// are hidden.
func listVariables(table io.Writer, env environ.List) {
	// What plugins do not inherit because it may be a secret is hidden here as well: one rule for both.
	shown := env.ForChildren()
	fmt.Fprintln(table, "VARIABLE\tVALUE")
	for _, variable := range slices.Sorted(slices.Values(env)) {
		// Names cannot contain an equals sign; values can.
		name, _, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, "PULUMI_") {
			continue
		}
		text, public := shown.Lookup(name)
		if !public {
			text = console.HiddenSecret
		}
		fmt.Fprintf(table, "%s\t%s\n", name, text)
	}
}

// The document that `about --json` writes (F7.12).
type (
	aboutRecord struct {
		Plugins      []aboutPlugin     `json:"plugins"`
		Host         aboutHost         `json:"host"`
		Backend      *aboutBackend     `json:"backend"`
		CurrentStack *aboutStack       `json:"currentStack"`
		CLI          aboutCLI          `json:"cliAbout"`
		Runtime      map[string]string `json:"runtime"`
		Dependencies []string          `json:"dependencies"` // always empty: YAML has none
		Errors       []string          `json:"errors"`
	}
	aboutPlugin struct {
		Name    string `json:"name"`
		Version string `json:"version"`
		Kind    string `json:"kind"`
		BuiltIn bool   `json:"builtIn,omitempty"`
	}
	aboutHost struct {
		OS      string `json:"os"` // the distribution of Linux, such as debian, if it is known
		Version string `json:"version"`
		Arch    string `json:"arch"`
	}
	aboutBackend struct {
		Name string `json:"name"`
		URL  string `json:"url"`
		User string `json:"user"`
	}
	aboutStack struct {
		Name               string          `json:"name"`
		FullyQualifiedName string          `json:"fullyQualifiedName"`
		Resources          []aboutResource `json:"resources"`
		PendingOps         []string        `json:"pendingOps"`
	}
	aboutResource struct {
		Type string `json:"type"`
		URN  string `json:"urn"`
	}
	aboutCLI struct {
		Version       string `json:"version"`
		GoVersion     string `json:"goVersion"`
		GoCompiler    string `json:"goCompiler"`
		PulumiVersion string `json:"pulumiVersion"`
	}
)

// about collects the information and shows it. What it cannot find out becomes a line in Errors.
func about(ctx context.Context, a *console.Console, o *aboutOptions) error {
	r := aboutRecord{
		// Lists are empty and not nil: the Pulumi CLI writes [], and readers may not expect null.
		Plugins: []aboutPlugin{}, Host: thisHost(),
		Runtime: map[string]string{"language": "yaml"}, Dependencies: []string{}, Errors: []string{},
		CLI: aboutCLI{a.Version(), runtime.Version(), runtime.Compiler, operation.PulumiVersion},
	}
	for _, name := range embedded.Names() {
		version, _ := embedded.Version(name)
		r.Plugins = append(r.Plugins, aboutPlugin{name, version, "resource", true})
	}
	for _, p := range install.Resources(a.World.PulumiHome()) {
		r.Plugins = append(r.Plugins, aboutPlugin{p.Name, p.Version, "resource", false})
	}
	// The command is for finding out what is wrong, so a fault is a part of its answer.
	if err := readStack(ctx, a, o, &r); err != nil {
		_, text := console.CodeOf(a, err)
		r.Errors = append(r.Errors, text)
	}
	return a.Show(o.json, r, func(table io.Writer) {
		fmt.Fprintf(table, "yamlhost\t%s\nPulumi\tcompatible with %s\nGo\t%s %s\nHost\t%s %s\n", r.CLI.Version,
			r.CLI.PulumiVersion, r.CLI.GoVersion, r.CLI.GoCompiler, r.Host.OS, r.Host.Arch)
		// A record may have the backend and no stack: see readStack.
		if r.Backend != nil {
			fmt.Fprintf(table, "Backend\t%s\nUser\t%s\n", r.Backend.URL, r.Backend.User)
		}
		if s := r.CurrentStack; s != nil {
			fmt.Fprintf(table, "Stack\t%s\nResources\t%d\nPending\t%d\n", s.FullyQualifiedName, len(s.Resources),
				len(s.PendingOps))
		}
		for _, p := range r.Plugins {
			origin := "installed"
			if p.BuiltIn {
				origin = "built in"
			}
			fmt.Fprintf(table, "Provider\t%s %s (%s)\n", p.Name, p.Version, origin)
		}
		for _, text := range r.Errors {
			fmt.Fprintf(table, "Not known\t%s\n", text)
		}
	})
}

// thisHost describes the machine: on Linux, by the file in which distributions name themselves.
func thisHost() aboutHost {
	host := aboutHost{OS: runtime.GOOS, Arch: runtime.GOARCH}
	if arch, found := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]; found &&
		runtime.GOOS == "linux" { // as the system calls them
		host.Arch = arch
	}
	// The Pulumi CLI names the distribution, where one is known, and not the kernel.
	text, err := os.ReadFile("/etc/os-release")
	if err != nil || runtime.GOOS != "linux" {
		return host
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch value = strings.Trim(value, `"'`); name {
		case "ID":
			host.OS = value
		case "VERSION_ID":
			host.Version = value
		}
	}
	return host
}

// readStack adds the backend and the stack to a record. With an error, what was found before stays in it: the backend
// is known without a project.
func readStack(ctx context.Context, a *console.Console, o *aboutOptions, r *aboutRecord) error {
	// The error is kept for later: a backend can be chosen without a project.
	p, _, projectErr := a.OpenProject(a.World.Dir)
	if projectErr != nil {
		p = nil
	}
	b, err := a.Backends().Open(p)
	if err != nil {
		return err
	}
	// The name is that of the machine, as in the Pulumi CLI, which has it for local backends.
	r.Backend = &aboutBackend{Name: "file", URL: b.PublicURL()}
	if a.World.Process != nil {
		r.Backend.User, r.Backend.Name = a.World.Process().User, a.World.Process().Host
	}
	if projectErr != nil {
		return projectErr
	}
	s, err := a.Stacks().OpenChosen(ctx, p, o.stack)
	if err != nil {
		return err
	}
	// Secrets stay sealed; only types and URNs are shown.
	loaded, err := b.Load(ctx, s.Ref, nil)
	if err != nil {
		return err
	}
	shown := &aboutStack{Name: s.Ref.Stack, FullyQualifiedName: s.Ref.QualifiedName(), Resources: []aboutResource{},
		PendingOps: []string{}}
	for _, res := range loaded.Snapshot.Resources {
		shown.Resources = append(shown.Resources, aboutResource{res.Type, string(res.URN)})
	}
	for _, op := range loaded.Snapshot.Pending {
		shown.PendingOps = append(shown.PendingOps, string(op.Resource.URN))
	}
	r.CurrentStack = shown
	return nil
}

// Contracts lists the JSON forms that this package writes.
var Contracts = []contract.Contract{
	contract.Of[aboutRecord]("about", "the program, the machine, the backend and the stack", "`about --json`"),
}
