package providers

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// The keys of a provider resource's inputs that belong to the engine (E3.21).
const (
	versionKey  = "version"
	internalKey = "__internal"
)

// deniedID is the ID in a reference to a forbidden default provider (E1.15).
const deniedID = "denydefaultprovider"

// PackageName returns the name of the package that a request is for.
func PackageName(p monitor.Package) string {
	if p.Parameterization != nil {
		return p.Parameterization.Name
	}
	return p.Name
}

// WithPackage adds the description of the plugin to a provider resource's inputs (E3.21).
func WithPackage(inputs value.Value, p monitor.Package, env map[string]string) value.Value {
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
		for name, source := range env {
			vars[name] = value.String(source)
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

// WithoutInternal returns inputs without the engine's key, as for providers and outputs (E3.21).
func WithoutInternal(inputs value.Value) value.Value { return inputs.Without(internalKey) }

// PackageOf returns the plugin that a provider resource's inputs describe; it reverses WithPackage. Old states without
// the key __internal have its members at the root (E3.22).
func PackageOf(pkg string, inputs value.Value) provider.Package {
	internal, ok := inputs.Lookup(internalKey)
	if !ok {
		internal = inputs
	}
	text := func(v value.Value, key string) string {
		s, _ := v.Get(key).AsString()
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
		p.Name = cmp.Or(text(internal, "name"), pkg)
		p.Version = text(internal, versionKey)
	}
	return p
}

// Config is the configuration of a stack.
type Config struct {
	Values map[string]string // full key to plain text; objects as JSON
	Secret []string          // the keys of secrets
}

// of returns the stack's configuration of a package, without the namespace (E3.2). The providers that run code of a
// program, Pulumi's for Node.js and Python, get the whole configuration with namespaces, since the code may read any
// key.
func (c Config) of(pkg string) map[string]string {
	if runsPrograms(pkg) {
		return maps.Clone(c.Values)
	}
	config := map[string]string{}
	for key, text := range c.Values {
		if name, ok := strings.CutPrefix(key, pkg+":"); ok {
			config[name] = text
		}
	}
	return config
}

// environment returns the part of a package's configuration that is passed in the environment of its plugin (E3.2). It
// omits secrets, because child processes inherit the environment; Configure passes those. Only the providers that run
// code of a program get secrets here.
func (c Config) environment(pkg string) map[string]string {
	config := c.of(pkg)
	if runsPrograms(pkg) {
		return config
	}
	for _, key := range c.Secret {
		if name, ok := strings.CutPrefix(key, pkg+":"); ok {
			delete(config, name)
		}
	}
	return config
}

// runsPrograms reports whether a package's resources are implemented by code beside a program: Pulumi's dynamic
// providers, and those that the program declares (D15).
func runsPrograms(pkg string) bool {
	return pkg == "pulumi-nodejs" || pkg == "pulumi-python" || pkg == "dynamic"
}

// VersionOf returns the version of the package that a request is for.
func VersionOf(p monitor.Package) string {
	if p.Parameterization != nil {
		return p.Parameterization.Version
	}
	return p.Version
}

// Default returns the inputs of a package's default provider from the stack's configuration (E3.24).
func (c Config) Default(pkg string) value.Value {
	inputs := map[string]value.Value{}
	for name, text := range c.of(pkg) {
		v, key := value.String(text), pkg+":"+name
		if runsPrograms(pkg) {
			key = name
		}
		if slices.Contains(c.Secret, key) {
			v = v.Secret()
		}
		inputs[name] = v
	}
	return value.Map(inputs)
}

// DefaultName returns the name of a default provider (E3.30).
func DefaultName(version, url string) string {
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

// DeniesDefault reports whether the stack's configuration forbids a package's default provider (E3.42, E3.44). The
// setting was validated at the start of the operation.
func (c Config) DeniesDefault(pkg string) bool {
	denied, _ := DeniedPackages(c.Values)
	return pkg != builtinPackage && (slices.Contains(denied, pkg) || slices.Contains(denied, "*"))
}

// DenySetting is the configuration key that forbids default providers (E3.42).
const DenySetting = "pulumi:disable-default-providers"

// DeniedPackages returns the packages whose default providers are forbidden (E3.42).
func DeniedPackages(config map[string]string) ([]string, error) {
	text := config[DenySetting]
	if text == "" {
		return nil, nil
	}
	var denied []string
	if err := json.Unmarshal([]byte(text), &denied); err != nil {
		return nil, fmt.Errorf("%s must be a list of package names, or [\"*\"] for all", DenySetting)
	}
	for i := range denied {
		denied[i] = strings.TrimSpace(denied[i])
	}
	return denied, nil
}

// versionNumbers returns the leading numbers of a version such as v1.2.3-beta+7. An empty or malformed version may have
// none.
func versionNumbers(v string) []int {
	core, _, _ := strings.Cut(strings.TrimPrefix(v, "v"), "-")
	core, _, _ = strings.Cut(core, "+")
	var numbers []int
	for part := range strings.SplitSeq(core, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return numbers
		}
		numbers = append(numbers, n)
	}
	return numbers
}

// Packages holds the packages that programs have registered (E2.67). It is safe for concurrent use.
type Packages struct {
	mu    sync.Mutex // guards the rest
	byRef map[string]monitor.Package
	refs  map[string]string // package key to reference
}

// Register returns the reference of a package. Equal packages share one; newID creates the reference of a new package.
func (k *Packages) Register(p monitor.Package, newID func() string) (string, error) {
	if p.Name == "" {
		return "", fmt.Errorf("a package without a name cannot be registered")
	}
	if p.Extension && p.Parameterization == nil {
		return "", fmt.Errorf("the extension of %s has no name or version", p.Name)
	}
	key := fmt.Sprintf("%q %q %q %v", p.Name, p.Version, p.DownloadURL, p.Checksums)
	if p.Extension {
		key = "extension " + key
	}
	if z := p.Parameterization; z != nil {
		key += fmt.Sprintf(" %q %q %x", z.Name, z.Version, z.Value)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if ref, ok := k.refs[key]; ok {
		return ref, nil
	}
	ref := newID()
	if p.Extension {
		ref = extensionRef(p.Parameterization)
	}
	k.refs[key], k.byRef[ref] = ref, p
	return ref, nil
}

// Request returns the package of a request's reference, or pkg with the version, URL and checksums of the request
// itself if the reference is empty (E2.20).
func (k *Packages) Request(pkg string, r monitor.Plugin) (monitor.Package, error) {
	if r.PackageRef == "" {
		return monitor.Package{Name: pkg, Version: r.Version, DownloadURL: r.PluginDownloadURL,
			Checksums: r.PluginChecksums}, nil
	}
	p, ok := k.get(r.PackageRef)
	if !ok {
		return p, fmt.Errorf("unknown provider package '%s'", r.PackageRef)
	}
	if p.Extension { // the plugin is that of the base package
		p.Parameterization, p.Extension = nil, false
	}
	return p, nil
}

// get returns the package of a reference, and whether it exists.
func (k *Packages) get(ref string) (monitor.Package, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p, ok := k.byRef[ref]
	return p, ok
}

// Extends returns the base package of an extension, or "" if the reference is not an extension's.
func (k *Packages) Extends(ref string) string {
	if p, _ := k.get(ref); p.Extension {
		return p.Name
	}
	return ""
}

// Extension returns ref if it is the reference of an extension, and "" otherwise.
func (k *Packages) Extension(ref string) string {
	if p, _ := k.get(ref); p.Extension {
		return ref
	}
	return ""
}
