package cli

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	convertcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/convert"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
	"github.com/yamlhost/yamlhost/cmd/internal/templates"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/runtime/plugin/install"
	"github.com/yamlhost/yamlhost/runtime/secrets/keyservice"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace"
)

// A completer completes arguments and flag values. It only reads files: it starts no plugin and opens no socket, so it
// offers nothing from a backend that is not a local folder, nor from a file that cannot be read. Every method returns
// nothing after an error: the shell shows what a completion prints in the middle of the line that is being typed.
type completer struct{ console *console.Console }

// offer returns the possible words for an argument or the value of a flag. args are the arguments before it.
type offer func(cmd *cobra.Command, args []string) []string

// attach sets the completions of all commands below root.
func (c completer) attach(root *cobra.Command) {
	// The maps are by the path of a command, and by the name of a flag whatever its command is.
	secretsProviders := orURLs(keyservice.Known(), "default", "passphrase")
	arguments := map[string]offer{
		"stack select": first(c.stacks), "stack rm": first(c.stacks), "cancel": first(c.stacks),
		"stack output": first(c.outputs), "stack tag get": first(c.tags), "stack tag set": first(c.tags),
		"stack tag rm": first(c.tags), "config get": first(c.keys), "config set": first(c.keys), "config rm": c.keys,
		"state delete": c.urns, "state protect": c.urns, "state unprotect": c.urns, "state taint": c.urns,
		"state untaint": c.urns, "state move": c.urns, "state rename": first(c.urns),
		"new": first(words(templates.Names()...)), "login": first(orURLs(console.Stores(), "file://")),
		"plugin install": first(words("resource")), "plugin rm": first(words("resource")),
		"stack change-secrets-provider": first(secretsProviders),
	}
	flags := map[string]offer{
		"stack": c.stacks, "source": c.stacks, "dest": c.stacks,
		"target": c.urns, "exclude": c.urns, "replace": c.urns, "target-replace": c.urns,
		"config": assigned(c.keys), "config-from": assigned(c.keys), "plaintext": assigned(c.keys),
		"secret": assigned(c.keys), "out": assigned(words(report.Kinds()...)), "ci": words(ciSystems()...),
		"color": words("auto", "always", "never", "raw"), "refresh": words("true", "false"),
		"secrets-provider": secretsProviders, "settle-pending": words("read", "forget", "retry"), "from": c.formats,
	}
	formats := map[string][]string{"check": report.Kinds(), "graph": {"dot", "mermaid", "json", "svg"},
		"plan show": {"text", "json", "markdown", "html"}}
	folders := map[string]bool{"run": true, "preview": true, "refresh": true, "destroy": true, "drift": true, "mcp": true,
		"shim": true}
	files := map[string]bool{"check": true, "fmt": true, "graph": true, "plan show": true, "stack graph": true,
		"schema": true}
	// Commands without an entry get no file names, which the shell would offer by default: most arguments are names of
	// stacks, keys or URNs.
	visit(root, "", func(cmd *cobra.Command, path string) {
		switch offered := arguments[path]; {
		// These two take tokens of packages, which need the whole word and not only the words before it.
		case path == "schema" || path == "import":
			cmd.ValidArgsFunction = c.types(path == "schema")
		case offered != nil:
			cmd.ValidArgsFunction = c.function(offered)
		case folders[path]:
			cmd.ValidArgsFunction = completeFolders
		case cmd.ValidArgsFunction == nil && !files[path]:
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		// Local flags only: those of all commands are attached where the root defines them, as visit begins there.
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { c.attachFlag(cmd, f, flags[f.Name], formats[path]) })
	})
}

// completeFolders lets the shell complete the name of a folder.
func completeFolders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// attachFlag sets the completion of a flag. An unlisted flag takes either a free text or a file.
func (c completer) attachFlag(cmd *cobra.Command, f *pflag.Flag, offered offer, formats []string) {
	var complete cobra.CompletionFunc
	switch {
	case f.Value.Type() == "bool" || f.Hidden:
		return
	// The formats depend on the command, unlike the values of every other flag.
	case f.Name == "format":
		complete = c.function(words(formats...))
	// `config set --secret` takes no value, and `config set-all --secret` takes several.
	case f.Name == "secret" && f.Value.Type() != "stringArray":
		return
	// The value of these, behind the "=", is no file.
	case offered != nil && slices.Contains([]string{"config", "plaintext", "secret"}, f.Name):
		complete = c.beginning(offered, cobra.ShellCompDirectiveNoFileComp)
	case offered != nil:
		complete = c.function(offered)
	case f.Name == "cwd" || f.Name == "dir" || f.Name == "schema-dir":
		complete = completeFolders
	case isFile(f.Name):
		return
	default:
		complete = cobra.NoFileCompletions
	}
	_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // an error means that the flag already has a completion
}

// isFile reports whether a flag takes a file name, which the shell itself completes.
func isFile(name string) bool {
	switch name {
	case "file", "plan", "save-plan", "import-file", "query", "config-file", "schema", "profile", "event-log":
		return true
	}
	return false
}

// function returns a completion function that offers the words beginning with the word under the cursor. If the word
// ends in "=", the shell adds no space after it.
func (c completer) function(offered offer) cobra.CompletionFunc {
	return c.beginning(offered, cobra.ShellCompDirectiveDefault)
}

// beginning is function for words such as key=value: follows is the directive for what comes after the "=".
func (c completer) beginning(offered offer, follows cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		// A completion runs without PersistentPreRunE, so the folder of -C is entered here.
		if err := c.console.Enter(); err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		directive := cobra.ShellCompDirectiveNoFileComp
		var found []string
		for _, text := range offered(cmd, args) {
			// A URN or key that stands on the line already would only be refused twice.
			if strings.HasPrefix(text, word) && !slices.Contains(args, text) {
				found = append(found, text)
			}
			if strings.HasSuffix(text, "=") {
				directive |= cobra.ShellCompDirectiveNoSpace
				if strings.HasPrefix(word, text) { // what follows the text is completed by the shell, or not at all
					return nil, follows
				}
			}
		}
		return found, directive
	}
}

// formats offers what convert and import can read: the formats that they know, and the installed converters.
func (c completer) formats(cmd *cobra.Command, _ []string) []string {
	var list []string
	switch cmd.Name() {
	case "convert":
		list = convertcmd.Formats()
	case "import":
	default: // --from of another command is no format
		return nil
	}
	for p := range install.All(c.console.World.PulumiHome(), "converter", "") {
		list = append(list, p.Name)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// types returns a completion of types, and of functions if those are wanted: first the packages, each with a colon, and
// behind a colon the members of that package. It knows the packages whose schemas need no plugin.
func (c completer) types(functions bool) cobra.CompletionFunc {
	const quiet = cobra.ShellCompDirectiveNoFileComp
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		// With this flag, the argument of schema is a file.
		if f := cmd.Flag("json-schema"); f != nil && f.Changed {
			return nil, cobra.ShellCompDirectiveDefault
		}
		if err := c.console.Enter(); err != nil || len(args) > 0 {
			return nil, quiet
		}
		name, _, isToken := strings.Cut(word, ":")
		var found []string
		if !isToken {
			// Without a colon nothing is loaded: the names of packages are known from their folders.
			for _, pkg := range operation.PackageNames(c.console.World.PulumiHome(), nil) {
				if strings.HasPrefix(pkg, word) {
					found = append(found, pkg+":")
				}
			}
			return found, quiet | cobra.ShellCompDirectiveNoSpace
		}
		// The compiler of a project is not started, and its messages would end in the line that is typed.
		ws, err := workspace.Open(c.console.World.Dir, c.console.Trusting(func(diag.Severity, string) {}))
		// Outside of a project, built-in and installed packages are still known.
		if err != nil {
			ws = workspace.Empty(c.console.World.Dir)
		}
		providers := operation.NewProviders(c.console, ws, nil, operation.Careful)
		defer providers.Close()
		pkg, err := providers.KeptSchema(name)
		if err != nil {
			return nil, quiet
		}
		tokens := pkg.ResourceTokens()
		if functions {
			tokens = slices.Concat(tokens, pkg.FunctionTokens())
		}
		for _, token := range tokens {
			if token = schema.CollapseToken(token); strings.HasPrefix(token, word) {
				found = append(found, token)
			}
		}
		slices.Sort(found)
		return found, quiet
	}
}

// words returns an offer of fixed words.
func words(list ...string) offer { return func(*cobra.Command, []string) []string { return list } }

// first returns an offer for the first argument only.
func first(o offer) offer {
	return func(cmd *cobra.Command, args []string) []string {
		if len(args) > 0 {
			return nil
		}
		return o(cmd, args)
	}
}

// assigned returns an offer of the words of o, each with "=" appended.
func assigned(o offer) offer {
	return func(cmd *cobra.Command, args []string) []string {
		var list []string
		for _, text := range o(cmd, args) {
			list = append(list, text+"=")
		}
		return list
	}
}

// ciSystems returns the values of --ci.
func ciSystems() []string {
	list := []string{"auto", "none"}
	for _, s := range report.Systems {
		list = append(list, string(s))
	}
	return list
}

// orURLs returns an offer of words and of the beginnings of URLs.
func orURLs(schemes []string, list ...string) offer {
	for _, scheme := range schemes {
		list = append(list, scheme+"://")
	}
	return words(list...)
}

// stack returns the stack that the command line has chosen so far, if the backend is a local folder; otherwise nil.
func (c completer) stack(cmd *cobra.Command) *console.Stack {
	p, diags, err := c.console.OpenProject(c.console.World.Dir)
	if err != nil || diags.HasErrors() {
		return nil
	}
	// Only a local folder answers without a network, and a completion must not make the shell wait for one.
	b := c.console.Backends().Local(p)
	if b == nil {
		return nil
	}
	flag := ""
	if f := cmd.Flag("stack"); f != nil {
		flag = f.Value.String()
	}
	// A stack that does not exist yet is returned, too, as Missing: its project declares keys that can be completed.
	ref, ok, err := c.console.Stacks().Chosen(b, p, flag)
	if err != nil {
		return nil
	}
	return &console.Stack{Project: p, Backend: b, Ref: ref, Missing: !ok}
}

// snapshot returns the state of the chosen stack with its secrets sealed, or nil if it has none.
func (c completer) snapshot(cmd *cobra.Command) *state.Snapshot {
	s := c.stack(cmd)
	if s == nil || s.Missing {
		return nil
	}
	// No opener is passed, so secrets stay sealed and no passphrase is asked for in the middle of a line.
	loaded, err := s.Backend.Load(context.Background(), s.Ref, nil)
	if err != nil {
		return nil
	}
	return loaded.Snapshot
}

// stacks returns the names of the project's stacks.
func (c completer) stacks(cmd *cobra.Command, _ []string) []string {
	s := c.stack(cmd)
	if s == nil {
		return nil
	}
	refs, err := s.Backend.Stacks(context.Background(), s.Project.Name.Text)
	if err != nil {
		return nil
	}
	var names []string
	for _, ref := range refs {
		names = append(names, ref.Stack)
	}
	return names
}

// urns returns the URNs in the state of the chosen stack, without those that are pending delete.
func (c completer) urns(cmd *cobra.Command, _ []string) []string {
	s := c.snapshot(cmd)
	if s == nil {
		return nil
	}
	var list []string
	for _, r := range s.Resources {
		if !r.Delete && !slices.Contains(list, string(r.URN)) {
			list = append(list, string(r.URN))
		}
	}
	return list
}

// outputs returns the names of the stack's outputs.
func (c completer) outputs(cmd *cobra.Command, _ []string) []string {
	s := c.snapshot(cmd)
	if s == nil {
		return nil
	}
	return operation.StackOutputs(s).Keys()
}

// tags returns the names of the chosen stack's tags.
func (c completer) tags(cmd *cobra.Command, _ []string) []string {
	s := c.stack(cmd)
	if s == nil || s.Missing {
		return nil
	}
	tags, err := s.Backend.Tags(s.Ref)
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(tags))
}

// keys returns the keys in the chosen stack's settings and the keys that the project declares. The project's own
// namespace is left out.
func (c completer) keys(cmd *cobra.Command, _ []string) []string {
	s := c.stack(cmd)
	if s == nil {
		return nil
	}
	var list []string
	add := func(key string) {
		// `config` writes keys of the project without its name, and takes them so.
		key = strings.TrimPrefix(key, s.Project.Name.Text+":")
		if !slices.Contains(list, key) {
			list = append(list, key)
		}
	}
	for _, d := range s.Project.Config {
		add(d.Key.String())
	}
	if !s.Missing {
		if settings, _, err := c.console.LoadSettings(s.Project, s.Ref.Stack, ""); err == nil {
			for _, e := range settings.Entries() {
				add(e.Key.String())
			}
		}
	}
	slices.Sort(list)
	return list
}
