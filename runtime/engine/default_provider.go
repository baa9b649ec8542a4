package engine

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// The keys of a provider resource's inputs that belong to the engine (E3.21).
const (
	versionKey  = "version"
	internalKey = "__internal"
)

// deniedID marks a reference to a default provider that must not be used (E1.15).
const deniedID = "denydefaultprovider"

// packageRequest is the package that a request wants: that of its reference, else pkg with what the request itself says
// (E2.20).
func (d *Deployment) packageRequest(pkg, ref string, inline monitor.Package) (monitor.Package, error) {
	if ref == "" {
		inline.Name = pkg
		return inline, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	p, ok := d.packages[ref]
	if !ok {
		return p, fmt.Errorf("unknown provider package '%s'", ref)
	}
	if p.Extension { // its plugin is the one that it extends
		p.Parameterization, p.Extension = nil, false
	}
	return p, nil
}

// packageName is the name of the package that a request's plugin serves.
func packageName(p monitor.Package) string {
	if p.Parameterization != nil {
		return p.Parameterization.Name
	}
	return p.Name
}

// withPackage puts into a provider resource's inputs which plugin it is (E3.21).
func withPackage(inputs value.Value, p monitor.Package, env map[string]string) value.Value {
	internal, _ := inputs.Lookup(internalKey)
	if !internal.Is(value.KindMap) {
		internal = value.EmptyMap()
	}
	version := p.Version
	if z := p.Parameterization; z != nil {
		version = z.Version
		internal = internal.With("name", value.String(p.Name)).
			With("parameterization", value.String(base64.StdEncoding.EncodeToString(z.Value)))
		if p.Version != "" {
			internal = internal.With("version", value.String(p.Version))
		}
	}
	if p.DownloadURL != "" {
		internal = internal.With("pluginDownloadURL", value.String(p.DownloadURL))
	}
	if len(p.Checksums) > 0 {
		sums := make(map[string]value.Value, len(p.Checksums))
		for platform, sum := range p.Checksums {
			sums[platform] = value.String(hex.EncodeToString(sum))
		}
		internal = internal.With("pluginChecksums", value.Map(sums))
	}
	if len(env) > 0 {
		vars := make(map[string]value.Value, len(env))
		for name, from := range env {
			vars[name] = value.String(from)
		}
		internal = internal.With("envVarMappings", value.Map(vars))
	}
	if version != "" {
		inputs = inputs.With(versionKey, value.String(version))
	}
	if version != "" || internal.Len() > 0 {
		inputs = inputs.With(internalKey, internal)
	}
	return inputs
}

// withoutInternal is inputs as providers and outputs have them (E3.21).
func withoutInternal(inputs value.Value) value.Value { return inputs.Without(internalKey) }

// packageOf is the reverse of withPackage: which plugin a provider resource's inputs name. State from before the key
// __internal has its members at the root (E3.22).
func packageOf(pkg string, inputs value.Value) provider.Package {
	internal, ok := inputs.Lookup(internalKey)
	if !ok {
		internal = inputs
	}
	text := func(v value.Value, key string) string {
		part, _ := v.Lookup(key)
		s, _ := part.AsString()
		return s
	}
	p := provider.Package{Name: pkg, Version: text(inputs, versionKey), DownloadURL: text(internal, "pluginDownloadURL")}
	if sums, _ := internal.Lookup("pluginChecksums"); sums.Len() > 0 {
		p.Checksums = map[string][]byte{}
		for _, platform := range sums.Keys() {
			if sum, err := hex.DecodeString(text(sums, platform)); err == nil {
				p.Checksums[platform] = sum
			}
		}
	}
	if vars, _ := internal.Lookup("envVarMappings"); vars.Len() > 0 {
		p.EnvVarMappings = map[string]string{}
		for _, name := range vars.Keys() {
			p.EnvVarMappings[name] = text(vars, name)
		}
	}
	if blob, ok := internal.Lookup("parameterization"); ok && blob.Is(value.KindString) {
		data, _ := base64.StdEncoding.DecodeString(text(internal, "parameterization"))
		p.Parameterization = &provider.Parameterization{Name: pkg, Version: p.Version, Value: data}
		p.Name = plan.OrElse(text(internal, "name"), pkg)
		p.Version = ""
		if ok && internal.Has(versionKey) {
			p.Version = text(internal, versionKey)
		}
	}
	return p
}

// configOf is the stack's configuration of a package, without the namespace (E3.2). The providers that run code of a
// program, Pulumi's for Node.js and Python, get all of it, with namespaces: the code reads what it likes.
func (d *Deployment) configOf(pkg string) map[string]string {
	if runsPrograms(pkg) {
		return maps.Clone(d.opts.Config)
	}
	config := map[string]string{}
	for key, text := range d.opts.Config {
		if name, ok := strings.CutPrefix(key, pkg+":"); ok {
			config[name] = text
		}
	}
	return config
}

// environmentOf is what of a package's configuration goes into the environment of its plugin (E3.2). Secrets are left out: the plugin
// gets those that it needs when it is configured, and what it starts in turn inherits the environment. The providers that
// run code of a program read them there.
func (d *Deployment) environmentOf(pkg string) map[string]string {
	config := d.configOf(pkg)
	if runsPrograms(pkg) {
		return config
	}
	for _, key := range d.opts.ConfigSecretKeys {
		if name, ok := strings.CutPrefix(key, pkg+":"); ok {
			delete(config, name)
		}
	}
	return config
}

// runsPrograms reports whether a package's resources are implemented by code beside a program: Pulumi's dynamic providers,
// and those that the program declares (D15).
func runsPrograms(pkg string) bool {
	return pkg == "pulumi-nodejs" || pkg == "pulumi-python" || pkg == "dynamic"
}

// defaultProvider is a default provider of this operation, or one on its way (E3.28).
type defaultProvider struct {
	done chan struct{}
	ref  string
	err  error
}

// provider resolves the provider of a resource or call: the one named, else the default one of its package, which is
// registered when it is first needed (E3.28–E3.34). about says for whom.
func (d *Deployment) provider(ctx context.Context, named string, p monitor.Package, about, position string) (string, error) {
	if named != "" {
		return d.knownReference(named)
	}
	pkg := packageName(p)
	if d.deniesDefault(pkg) {
		d.report.message(Message{URN: urnOrNone(about), Severity: diag.Error, Code: diag.OperationFailed, Position: position,
			Text: fmt.Sprintf("Default provider for '%s' disabled. '%s' must use an explicit provider.", pkg, about)})
		return "", d.bail()
	}
	key := fmt.Sprintf("%q %q %q %q", pkg, p.Name, versionOf(p), p.DownloadURL)
	d.mu.Lock()
	known := d.defaults[key]
	if known == nil {
		known = &defaultProvider{done: make(chan struct{})}
		d.defaults[key] = known
		d.mu.Unlock()
		known.ref, known.err = d.registerDefault(ctx, pkg, p)
		close(known.done)
		return known.ref, known.err
	}
	d.mu.Unlock()
	if err := d.slots.Wait(ctx, known.done); err != nil && !isClosed(known.done) {
		return "", err
	}
	return known.ref, known.err
}

func urnOrNone(text string) urn.URN {
	u, _ := urn.Parse(text)
	return u
}

func versionOf(p monitor.Package) string {
	if p.Parameterization != nil {
		return p.Parameterization.Version
	}
	return p.Version
}

// knownReference reads a reference that a program made. The ID of a provider that is only previewed is not known to the
// program; it is the one that the preview gave it.
func (d *Deployment) knownReference(text string) (string, error) {
	ref, err := urn.ParseReference(text)
	if err != nil {
		return "", err
	}
	if reg := d.table.Get(ref.URN); reg != nil && (ref.ID == "" || ref.ID == UnknownID) {
		if now := reg.State(); now != nil {
			ref.ID = now.ID
		}
	}
	return ref.String(), nil
}

// registerDefault registers a default provider like any other resource.
func (d *Deployment) registerDefault(ctx context.Context, pkg string, p monitor.Package) (string, error) {
	no := false
	g, err := plan.NewGoal(monitor.RegisterRequest{
		Type: urn.ProviderType(pkg), Name: defaultName(versionOf(p), p.DownloadURL), Custom: true,
		Inputs: withPackage(d.defaultConfig(pkg), p, nil), Protect: &no}, d.opts.RootDir)
	if err != nil {
		return "", err
	}
	reg, err := d.register(ctx, g)
	if err != nil {
		return "", err
	}
	if reg.State() == nil || reg.Result != monitor.Succeeded {
		return "", monitor.ErrReported
	}
	return urn.Reference{URN: reg.URN, ID: reg.State().ID}.String(), nil
}

// defaultConfig is what the stack's configuration says of a package, as its default provider takes it (E3.24).
func (d *Deployment) defaultConfig(pkg string) value.Value {
	inputs := map[string]value.Value{}
	for name, text := range d.configOf(pkg) {
		v, key := value.String(text), pkg+":"+name
		if runsPrograms(pkg) {
			key = name
		}
		if slices.Contains(d.opts.ConfigSecretKeys, key) {
			v = v.Secret()
		}
		inputs[name] = v
	}
	return value.Map(inputs)
}

// defaultName is the name of a default provider (E3.30).
func defaultName(version, url string) string {
	identifier := func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			return r
		}
		return '_'
	}
	name := "default"
	if version != "" {
		name += "_" + strings.Map(identifier, strings.TrimPrefix(version, "v"))
	}
	if url != "" {
		name += "_" + strings.Map(identifier, url)
	}
	return name
}

// deniesDefault reports whether the stack's configuration forbids a package's default provider (E3.42, E3.44). The shape of
// the setting was checked when the operation began.
func (d *Deployment) deniesDefault(pkg string) bool {
	denied, _ := deniedPackages(d.opts.Config)
	return pkg != builtinPackage && (slices.Contains(denied, pkg) || slices.Contains(denied, "*"))
}

const denySetting = "pulumi:disable-default-providers"

// deniedPackages reads the packages whose default providers are forbidden (E3.42).
func deniedPackages(config map[string]string) ([]string, error) {
	text := config[denySetting]
	if text == "" {
		return nil, nil
	}
	var denied []string
	if err := json.Unmarshal([]byte(text), &denied); err != nil {
		return nil, fmt.Errorf("%s must be a list of package names, or [\"*\"] for all", denySetting)
	}
	for i := range denied {
		denied[i] = strings.TrimSpace(denied[i])
	}
	return denied, nil
}

// preludeConfig is the configuration for people: secrets are hidden (E8.8).
func (d *Deployment) preludeConfig() map[string]string {
	shown := maps.Clone(d.opts.Config)
	for _, key := range d.opts.ConfigSecretKeys {
		if _, ok := shown[key]; ok {
			shown[key] = "[secret]"
		}
	}
	return shown
}

// olderVersion reports whether version a comes before version b, by the numbers at their start; an empty or strange a does.
func olderVersion(a, b string) bool {
	x, y := versionNumbers(a), versionNumbers(b)
	return slices.Compare(x, y) < 0
}

func versionNumbers(v string) []int {
	core, _, _ := strings.Cut(strings.TrimPrefix(v, "v"), "-")
	core, _, _ = strings.Cut(core, "+")
	var numbers []int
	for _, part := range strings.Split(core, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return numbers
		}
		numbers = append(numbers, n)
	}
	return numbers
}
