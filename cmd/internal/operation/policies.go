package operation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/langhost/policy"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/analyzer"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// policyPack is a pack of the command line or the project.
type policyPack struct {
	path   string       // absolute
	config string       // absolute path of its configuration; empty for none
	at     diag.Range   // its place in the project file; zero for others
	door   confine.Door // for the folder of the pack and its configuration
	// required is the organization's requirement that the pack meets; nil for none.
	required *backend.Policy
	given    ast.Expr    // its configuration; nil for none
	inherits value.Value // more of its configuration, from environments
}

// policyPacks returns the packs of the command line and of the project file.
func (p *Checked) policyPacks() []policyPack {
	var packs []policyPack
	o := p.options
	for i, path := range o.PolicyPacks {
		pack := policyPack{path: p.Console.Path(path)}
		if len(o.PolicyConfigs) > 0 {
			pack.config = p.Console.Path(o.PolicyConfigs[i])
		}
		packs = append(packs, pack)
	}
	for _, declared := range p.Workspace.Project.PolicyPacks {
		pack := policyPack{path: p.Workspace.Project.Resolve(declared.Path.Text),
			config: p.Workspace.Project.Resolve(declared.Config), at: declared.Path.Range,
			door: p.Workspace.Project.Door}
		if o.RestrictPaths && !filepath.IsAbs(declared.Config) {
			pack.door.Folder = p.Workspace.Project.Dir
		}
		packs = append(packs, pack)
	}
	return packs
}

// packStarter starts and configures the packs of an operation.
type packStarter struct {
	run      *Checked
	stack    analyzer.Stack
	destroys bool             // packs check only what the operation destroys
	required []backend.Policy // by the organization
	started  map[string]policyPack
	running  []engine.PolicyPack
	remove   []func() // removes the files of their environments
}

// load starts the pack at a path. A pack in YAML runs in this process; if the error is an ExitError, its faults have
// been shown. The result is nil for a pack that cannot check what the operation destroys, if it has to.
func (s *packStarter) load(ctx context.Context, path string) (analyzer.Analyzer, error) {
	p := s.run
	script, err := project.ReadPluginProgram(confine.Door{Folder: path}, filepath.Join(path, workspace.PackFile))
	if osfile.IsAbsent(err) || err == nil && script.Language != "yaml" {
		if s.destroys {
			return nil, nil
		}
		if p.options.Untrusted {
			return nil, fmt.Errorf("the policy pack %s is a program, and the run is --untrusted, which starts nothing from the "+
				"project; leave out the pack, or write it in YAML", path)
		}
		return p.Providers.finder.Host.LoadPack(ctx, path, s.stack)
	}
	pack, found, err := policy.Open(ctx, path, policy.Options{Schemas: p.Providers.WatchedSchemas,
		Shown: workspace.Relative(p.Workspace.Project.Dir), Limits: p.options.limits()})
	if err != nil {
		return nil, fmt.Errorf("policy pack %s: %w", path, err)
	}
	if err := p.Console.Report(found); err != nil {
		return nil, err
	}
	if s.destroys {
		return analyzer.DestroyOnly{DestroyAnalyzer: pack}, nil
	}
	return pack, nil
}

// startPolicies starts and configures the packs of an operation, and those that the organization requires. Every fault
// of a pack is an error before the operation begins, whatever the levels of its policies. The caller calls stop.
func (p *execution) startPolicies(ctx context.Context) (stop func(), err error) {
	o := &p.engine
	packs, required := p.on.policyPacks(), p.watched.Facts().Policies
	if len(packs)+len(required) == 0 {
		return func() {}, nil
	}
	s := &packStarter{run: p.on, destroys: p.on.op.destroys, required: required, started: map[string]policyPack{},
		stack: analyzer.Stack{Project: o.Project, Stack: o.Stack, Organization: o.Organization, DryRun: o.DryRun,
			Config: o.Config, SecretKeys: o.ConfigSecretKeys, Tags: map[string]string{}}}
	err = s.startAll(ctx, packs)
	if err == nil {
		packs, err = s.missing(ctx)
	}
	if err == nil {
		err = s.startAll(ctx, packs)
	}
	if err == nil {
		o.Policies = s.running
		return s.stop, nil
	}
	s.stop()
	if _, shown := errors.AsType[*console.ExitError](err); shown {
		fmt.Fprintln(p.on.Console.Streams.Err, "nothing was done")
		return nil, &console.ExitError{Code: console.CodeProgram}
	}
	return nil, nothingDone(err)
}

func (s *packStarter) stop() {
	for _, pack := range s.running {
		_ = pack.Close() // a pack that does not end is killed: no error to report
	}
	for _, remove := range s.remove {
		remove()
	}
}

func (s *packStarter) startAll(ctx context.Context, packs []policyPack) error {
	for _, pack := range packs {
		if err := s.start(ctx, pack); err != nil {
			return err
		}
	}
	return nil
}

// start starts and configures one pack, and adds it to the started ones.
func (s *packStarter) start(ctx context.Context, pack policyPack) error {
	a := s.run.Console
	err := a.Report(pack.missing(s.run.Workspace.Project.Dir))
	if err == nil {
		err = pack.read(a)
	}
	if err == nil {
		s.stack.Environ, err = s.openPackEnvironment(ctx, &pack)
	}
	if err != nil {
		return err
	}
	opened := pack.required
	running, err := s.load(ctx, pack.path)
	if err != nil || running == nil {
		return err
	}
	s.running = append(s.running, engine.PolicyPack{Analyzer: running})
	loaded := &s.running[len(s.running)-1]
	info, err := running.Info(ctx)
	if err != nil {
		return err
	}
	if other, twice := s.started[info.Name]; twice {
		return fmt.Errorf("the policy packs %s and %s have the same name, %s", other.path, pack.path, info.Name)
	}
	if pack.required == nil {
		if err := pack.meets(info, s.required); err != nil {
			return err
		}
	}
	if pack.required != opened && len(pack.required.Environments) > 0 { // start it again with their variables
		s.running = s.running[:len(s.running)-1]
		_ = running.Close() // a pack that does not end is killed
		return s.start(ctx, pack)
	}
	if pack.required != nil {
		loaded.Excepts = pack.excepts
	}
	s.started[info.Name] = pack
	return pack.configure(ctx, a, loaded, s.stack)
}

// nothingDone returns the error of an unreliable pack. It has the exit code of a faulty program, unless the operation
// was ended.
func nothingDone(err error) error {
	err = fmt.Errorf("%w\nnothing was done", err)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &console.ExitError{Code: console.CodeProgram, Cause: err}
}

// missing returns the finding about a pack that does not exist.
func (pack *policyPack) missing(project string) diag.Diagnostics {
	d := diag.Diagnostic{Code: diag.FileAccess, Subject: pack.at,
		Detail: "name a folder with a " + workspace.PackFile + ", or an executable"}
	shown := workspace.Relative(project)(pack.path)
	info, err := pack.door.Stat(pack.path)
	if errors.Is(err, confine.ErrOutside) {
		d.Summary = fmt.Sprintf("the policy pack `%s` may not be used: %s", shown, confine.ErrOutside)
		d.Detail = "copy the pack into the project, or give its folder with --policy-pack"
		return diag.Diagnostics{d}
	}
	if err == nil && info.IsDir() {
		if _, err = pack.door.Stat(filepath.Join(pack.path, workspace.PackFile)); err != nil {
			d.Summary = fmt.Sprintf("the folder `%s` is no policy pack: it has no %s", shown, workspace.PackFile)
		}
	} else if err != nil {
		d.Summary = fmt.Sprintf("there is no policy pack `%s`", shown)
	}
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return nil // opening it reports other errors
	}
	return diag.Diagnostics{d}
}

// read reads the configuration of a pack. If the error is an ExitError, its faults have been shown.
func (pack *policyPack) read(a *console.Console) error {
	if pack.config == "" {
		return nil
	}
	text, err := pack.door.ReadFile(context.Background(), pack.config)
	if err != nil {
		return fmt.Errorf("read the configuration of policy pack %s: %w", pack.path, err)
	}
	given, found := parser.Data(diag.NewSource(a.Short(pack.config), text))
	pack.given = given
	if _, ok := given.(*ast.Map); !ok && !found.HasErrors() {
		found.Add(diag.Diagnostic{Code: diag.WrongKind, Subject: given.Range(),
			Summary: "the configuration of a policy pack is an object with a member for each policy"})
	}
	return a.Report(found)
}

// configure gives a running pack its configuration and the stack. If the error is an ExitError, the faults of the
// configuration have been shown.
func (pack *policyPack) configure(ctx context.Context, a *console.Console, running *engine.PolicyPack,
	stack analyzer.Stack) (err error) {
	given := pack.given
	if pack.required != nil {
		if given, err = pack.demanded(given); err != nil {
			return err
		}
	}
	err = ConfigurePack(ctx, running, given, pack.inherits, stack)
	if place, ok := ConfigPlace(err, given); ok {
		return a.Report(diag.Diagnostics{{Subject: place, Summary: err.Error()}})
	}
	return err
}

// ConfigPlace returns the place in the configuration of a pack that an error of ConfigurePack is about.
func ConfigPlace(err error, given ast.Expr) (diag.Range, bool) {
	fault, ok := errors.AsType[*analyzer.ConfigError](err)
	if !ok || given == nil {
		return diag.Range{}, false
	}
	expr := given
	for _, name := range []string{fault.Policy, fault.Property} {
		m, i := entryOf(expr, name)
		if i < 0 {
			break
		}
		expr = m.Entries[i].Value
	}
	return expr.Range(), true
}

// entryOf finds the entry with a key in an expression that is a map; -1 if there is none.
func entryOf(e ast.Expr, key string) (*ast.Map, int) {
	m, ok := e.(*ast.Map)
	if !ok {
		return nil, -1
	}
	return m, slices.IndexFunc(m.Entries, func(e ast.MapEntry) bool {
		text, ok := e.Key.(*ast.String)
		return ok && text.Value == key
	})
}

// ConfigurePack gives a running pack the configuration of its policies, nil for none, and the stack. inherits is the
// map policyConfig of environments, over which the configuration wins. It fills in the name and the version of the
// pack. ConfigPlace finds the place of its error.
func ConfigurePack(ctx context.Context, running *engine.PolicyPack, given ast.Expr, inherits value.Value,
	stack analyzer.Stack) error {
	info, err := running.Info(ctx)
	if err != nil {
		return err
	}
	running.Name, running.Version = info.Name, info.Version
	config := value.EmptyMap()
	if given != nil {
		if config, err = program.Literal(given); err != nil {
			return err
		}
	}
	policies, err := policyConfig(info, inherited(info, inherits, config))
	if err != nil {
		err = fmt.Errorf("policy pack %s: validating policy config: %w", info.Name, err)
		if given == nil {
			err = fmt.Errorf("%w; give it with --policy-pack-config", err)
		}
		return err
	}
	if err := running.ConfigureStack(ctx, stack); err != nil {
		return err
	}
	if !info.SupportsConfig {
		return nil
	}
	return running.Configure(ctx, policies)
}

// allPolicies is the key of a configuration for the level of all policies of a pack.
const allPolicies = "all"

// levelKey is the member of a policy's configuration that has its level.
const levelKey = "enforcementLevel"

// policyConfig merges the configuration of a pack's policies: their own levels and defaults, the pack's configuration,
// and the user's.
func policyConfig(info analyzer.Info, given value.Value) (map[string]analyzer.Config, error) {
	known := map[string]*analyzer.Policy{}
	config := map[string]analyzer.Config{}
	var all *analyzer.Level
	if v, ok := given.Lookup(allPolicies); ok {
		level, _, err := policySetting(allPolicies, v)
		if err != nil {
			return nil, err
		}
		all = level
	}
	for i := range info.Policies {
		policy := &info.Policies[i]
		switch {
		case policy.Name == "" || policy.Name == allPolicies:
			return nil, fmt.Errorf("the name %q of a policy is reserved; the author of the pack has to rename it", policy.Name)
		case known[policy.Name] != nil:
			return nil, fmt.Errorf("the pack has two policies %s", policy.Name)
		}
		known[policy.Name] = policy
		c := analyzer.Config{Level: policy.Level, Properties: value.EmptyMap()}
		for j, name := range policy.Properties.Keys() {
			if fallback, ok := policy.Properties.At(j).Lookup("default"); ok {
				c.Properties = c.Properties.With(name, fallback)
			}
		}
		if initial, ok := info.Initial[policy.Name]; ok {
			c.Level = initial.Level
			c.Properties = merged(c.Properties, initial.Properties)
		}
		if all != nil {
			c.Level = *all
		}
		config[policy.Name] = c
	}
	for i, name := range given.Keys() {
		if name == allPolicies {
			continue
		}
		if known[name] == nil {
			return nil, &analyzer.ConfigError{Policy: name, Err: fmt.Errorf("the pack has no such policy; it has %s",
				strings.Join(slices.Sorted(maps.Keys(known)), ", "))}
		}
		level, properties, err := policySetting(name, given.At(i))
		if err != nil {
			return nil, err
		}
		c := config[name]
		if level != nil {
			c.Level = *level
		}
		c.Properties = merged(c.Properties, properties)
		config[name] = c
	}
	for name, policy := range known {
		if err := policyFits(policy, config[name]); err != nil {
			return nil, err
		}
	}
	return config, nil
}

func merged(dst, src value.Value) value.Value {
	for i, key := range src.Keys() {
		dst = dst.With(key, src.At(i))
	}
	return dst
}

// policySetting reads a member of a configuration: a level, or an object with enforcementLevel and properties.
func policySetting(policy string, v value.Value) (*analyzer.Level, value.Value, error) {
	word, properties := v, value.Null
	if v.Is(value.KindMap) {
		if !v.Has(levelKey) {
			return nil, v, nil
		}
		word, properties = v.Get(levelKey), v.Without(levelKey)
	}
	name, _ := word.AsString()
	level, ok := analyzer.ParseLevel(name)
	if !ok {
		return nil, value.Null, &analyzer.ConfigError{Policy: policy,
			Err: errors.New("the enforcement level must be advisory, mandatory, remediate or disabled")}
	}
	return &level, properties, nil
}

// policyFits checks a policy's configuration: required properties and the types of those that have a schema. The pack
// may check more.
func policyFits(policy *analyzer.Policy, c analyzer.Config) error {
	if c.Level == analyzer.Disabled {
		return nil
	}
	for _, name := range policy.Required {
		if !c.Properties.Has(name) {
			return &analyzer.ConfigError{Policy: policy.Name, Property: name, Err: errors.New("is required")}
		}
	}
	for i, name := range c.Properties.Keys() {
		schema, known := policy.Properties.Lookup(name)
		if !known {
			continue
		}
		want, _ := schema.Get("type").AsString()
		kinds := map[string]value.Kind{"boolean": value.KindBool, "string": value.KindString, "number": value.KindNumber,
			"integer": value.KindNumber, "array": value.KindList, "object": value.KindMap}
		if kind, ok := kinds[want]; ok && !c.Properties.At(i).Is(kind) {
			return &analyzer.ConfigError{Policy: policy.Name, Property: name, Err: fmt.Errorf("must be of type %s", want)}
		}
	}
	return nil
}
