package schema

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Package is the schema of one package. It is safe for concurrent use. Only what is asked for is decoded, once.
type Package struct {
	Name        string
	Version     string // as the schema says, else filled in by the loader; may be empty
	Description string
	DownloadURL string
	// AllowedPackageNames are further names that tokens of this package may start with (F8.3).
	AllowedPackageNames []string

	moduleFormat *regexp.Regexp // nil for the default, the whole of the middle part

	types     members
	resources members
	functions members
	provider  []byte
	config    []byte

	mu        sync.Mutex // guards the maps below
	typeMemo  map[string]typeEntry
	resMemo   map[string]resourceEntry
	funcMemo  map[string]functionEntry
	aliasOnce sync.Once
	aliases   map[string]string // old token to resource token
}

type (
	typeEntry struct {
		t   Type
		err error
	}
	resourceEntry struct {
		r   *Resource
		err error
	}
	functionEntry struct {
		f   *Function
		err error
	}
)

// members are the definitions of one section, by token, as text.
type members struct {
	raw    map[string][]byte
	tokens []string // in schema order

	once     sync.Once
	folded   map[string]string // token in lower case to token
	byModule map[string]string // package:module:name in lower case to token (step 5 of L7.1)
}

// ErrNoSuchToken says that a package has no resource or function of a name.
var ErrNoSuchToken = errors.New("no such token")

// Parse reads a schema (F8.1). It looks at each byte once and decodes nothing but names; definitions are decoded when
// they are asked for. The Package keeps data, which the caller must not modify afterwards.
func Parse(data []byte) (*Package, error) {
	p := &Package{
		typeMemo: make(map[string]typeEntry),
		resMemo:  make(map[string]resourceEntry),
		funcMemo: make(map[string]functionEntry),
	}
	if err := eachMember(data, p.readSection); err != nil {
		return nil, fmt.Errorf("read package schema: %w", err)
	}
	if p.Name == "" {
		return nil, errors.New("read package schema: it has no name")
	}
	return p, nil
}

func (p *Package) readSection(key string, raw []byte) error {
	var err error
	switch key {
	case "name":
		p.Name, err = stringOf(raw)
	case "version":
		p.Version, err = stringOf(raw)
	case "description":
		p.Description, err = stringOf(raw)
	case "pluginDownloadURL":
		p.DownloadURL, err = stringOf(raw)
	case "allowedPackageNames":
		p.AllowedPackageNames, err = stringsOf(raw)
	case "meta":
		err = eachMember(raw, func(key string, raw []byte) error {
			if key != "moduleFormat" {
				return nil
			}
			format, err := stringOf(raw)
			if err != nil || format == "" || format == "(.*)" {
				return err
			}
			if p.moduleFormat, err = regexp.Compile(format); err != nil {
				return errors.New("the module format is not a regular expression")
			}
			return nil
		})
	case "types":
		err = p.types.index(raw)
	case "resources":
		err = p.resources.index(raw)
	case "functions":
		err = p.functions.index(raw)
	case "provider":
		err = rawInto(&p.provider)(raw)
	case "config":
		err = rawInto(&p.config)(raw)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

func (m *members) index(raw []byte) error {
	m.raw = make(map[string][]byte)
	return eachMember(raw, func(token string, raw []byte) error {
		if _, twice := m.raw[token]; !twice {
			m.tokens = append(m.tokens, token)
		}
		m.raw[token] = raw
		return nil
	})
}

// Owns reports whether tokens that start with name may belong to the package.
func (p *Package) Owns(name string) bool {
	if name == p.Name {
		return true
	}
	for _, allowed := range p.AllowedPackageNames {
		if name == allowed {
			return true
		}
	}
	return false
}

// ResourceTokens are the canonical tokens of all resources in schema order, which the caller must not modify.
func (p *Package) ResourceTokens() []string { return p.resources.tokens }

// FunctionTokens are the canonical tokens of all functions in schema order, which the caller must not modify.
func (p *Package) FunctionTokens() []string { return p.functions.tokens }

// TypeTokens are the tokens of all object types and enums in schema order, which the caller must not modify.
func (p *Package) TypeTokens() []string { return p.types.tokens }

// ResolveResource finds a resource by the token that a program wrote (L7.1, F8.4); pulumi:providers:<package> is the
// provider. The error wraps ErrNoSuchToken when there is none, and says what is wrong with the definition when it is
// malformed.
func (p *Package) ResolveResource(written string) (*Resource, error) {
	if name, ok := strings.CutPrefix(written, providerPrefix); ok && p.Name != builtinName {
		if name != p.Name {
			return nil, fmt.Errorf("%s: %w", written, ErrNoSuchToken)
		}
		return p.Provider()
	}
	token, ok := p.resources.resolve(written, p.moduleFormat)
	if name, short := strings.CutPrefix(written, builtinName+":"); !ok && short && p.Name == builtinName {
		token, ok = p.resources.resolve(builtinName+":"+builtinName+":"+name, nil) // L7.12
	}
	if !ok {
		return nil, fmt.Errorf("%s: %w", written, ErrNoSuchToken)
	}
	return p.Resource(token)
}

// ResolveFunction finds a function by the token that a program wrote, as ResolveResource does.
func (p *Package) ResolveFunction(written string) (*Function, error) {
	token, ok := p.functions.resolve(written, p.moduleFormat)
	if !ok {
		return nil, fmt.Errorf("%s: %w", written, ErrNoSuchToken)
	}
	return p.Function(token)
}

const providerPrefix = "pulumi:providers:"

// resolve is L7.1: the first of its steps that hits.
func (m *members) resolve(written string, moduleFormat *regexp.Regexp) (string, bool) {
	if _, ok := m.raw[written]; ok {
		return written, true
	}
	parts := strings.Split(written, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return "", false
	}
	m.fold(moduleFormat)
	lower := strings.ToLower(written)
	if token, ok := m.folded[lower]; ok {
		return token, true
	}
	pkg, module, name := parts[0], "index", parts[len(parts)-1]
	if len(parts) == 3 {
		module = parts[1]
	} else if token := pkg + ":index:" + name; m.raw[token] != nil {
		return token, true
	} else if token, ok := m.folded[strings.ToLower(token)]; ok {
		return token, true
	}
	name = strings.ToLower(name)
	pkg, module = strings.ToLower(pkg), strings.ToLower(module)
	if token, ok := m.folded[pkg+":"+module+"/"+name+":"+name]; ok {
		return token, true
	}
	token, ok := m.byModule[pkg+":"+module+":"+name]
	return token, ok
}

func (m *members) fold(moduleFormat *regexp.Regexp) {
	m.once.Do(func() {
		m.folded = make(map[string]string, len(m.tokens))
		if moduleFormat != nil {
			m.byModule = make(map[string]string, len(m.tokens))
		}
		for _, token := range m.tokens {
			lower := strings.ToLower(token)
			if _, ok := m.folded[lower]; !ok {
				m.folded[lower] = token
			}
			if moduleFormat == nil {
				continue
			}
			parts := strings.SplitN(token, ":", 3)
			if len(parts) != 3 {
				continue
			}
			module := parts[1]
			if match := moduleFormat.FindStringSubmatch(module); len(match) >= 2 {
				module = match[1]
			}
			if module == "" {
				module = "index"
			}
			key := strings.ToLower(parts[0] + ":" + module + ":" + parts[2])
			if _, ok := m.byModule[key]; !ok {
				m.byModule[key] = token
			}
		}
	})
}

// ResourceByAlias is the canonical token of the resource type that had the given token before it was renamed (L7.4).
// The first call looks at every resource of the package.
func (p *Package) ResourceByAlias(old string) (token string, ok bool) {
	p.aliasOnce.Do(func() {
		p.aliases = make(map[string]string)
		for _, token := range p.resources.tokens {
			// A definition that is malformed has no aliases here; whoever asks for it gets the error.
			_ = eachMember(p.resources.raw[token], func(key string, raw []byte) error {
				if key != "aliases" {
					return nil
				}
				names, err := aliasesOf(raw)
				for _, name := range names {
					if _, taken := p.aliases[name]; !taken {
						p.aliases[name] = token
					}
				}
				return err
			})
		}
	})
	token, ok = p.aliases[old]
	return token, ok
}

// Resource is the resource of a canonical token.
func (p *Package) Resource(token string) (*Resource, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	entry, ok := p.resMemo[token]
	if !ok {
		if raw, found := p.resources.raw[token]; found {
			entry.r, entry.err = p.decodeResource(token, raw)
		} else {
			entry.err = fmt.Errorf("%s: %w", token, ErrNoSuchToken)
		}
		p.resMemo[token] = entry
	}
	return entry.r, entry.err
}

// Function is the function of a canonical token.
func (p *Package) Function(token string) (*Function, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	entry, ok := p.funcMemo[token]
	if !ok {
		if raw, found := p.functions.raw[token]; found {
			entry.f, entry.err = p.decodeFunction(token, raw)
		} else {
			entry.err = fmt.Errorf("%s: %w", token, ErrNoSuchToken)
		}
		p.funcMemo[token] = entry
	}
	return entry.f, entry.err
}

// Provider is the package's provider resource, pulumi:providers:<name>.
func (p *Package) Provider() (*Resource, error) {
	token := providerPrefix + p.Name
	p.mu.Lock()
	defer p.mu.Unlock()
	entry, ok := p.resMemo[token]
	if !ok {
		entry.r, entry.err = p.decodeProvider(token)
		p.resMemo[token] = entry
	}
	return entry.r, entry.err
}

// Method is the function behind a method of a resource. The error wraps ErrNoSuchToken when there is none.
func (p *Package) Method(r *Resource, name string) (*Function, error) {
	token, ok := r.Methods[name]
	if !ok {
		return nil, fmt.Errorf("%s/%s: %w", r.Token, name, ErrNoSuchToken)
	}
	return p.Function(token)
}

// Type is the object type or enum of a token. The error wraps ErrNoSuchToken when there is none.
func (p *Package) Type(token string) (Type, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.namedType(token)
}

// Verify decodes everything and answers with the first few faults. Programs need it not: it is for whoever writes a
// schema, and for tests.
func (p *Package) Verify() error {
	var faults []error
	note := func(err error) {
		if err != nil && len(faults) < 20 {
			faults = append(faults, err)
		}
	}
	for _, token := range p.types.tokens {
		_, err := p.Type(token)
		note(err)
		p.mu.Lock()
		_, err = p.propertiesOf(token, p.types.raw[token])
		p.mu.Unlock()
		note(err)
	}
	for _, token := range p.resources.tokens {
		_, err := p.Resource(token)
		note(err)
	}
	for _, token := range p.functions.tokens {
		_, err := p.Function(token)
		note(err)
	}
	_, err := p.Provider()
	note(err)
	return errors.Join(faults...)
}
