package schema

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/yamlhost/yamlhost/internal/jsontext"
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

	types     section
	resources section
	functions section
	provider  []byte
	config    []byte

	mu       sync.Mutex // guards the maps below
	typeMemo map[string]typeEntry
	resMemo  map[string]resourceEntry
	funcMemo map[string]functionEntry

	damaged atomic.Bool // Damaged
	missing error       // Missing

	alias func(old string) (token string, ok bool) // ResourceByAlias
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

// ErrNoSuchToken is returned when a package has no resource or function of a name.
var ErrNoSuchToken = errors.New("no such token")

// Parse reads a schema (F8.1). It looks at each byte once and decodes nothing but names; definitions are decoded when
// they are asked for. The Package keeps data, which the caller must not modify afterwards.
func Parse(data []byte) (*Package, error) {
	types, resources, functions := &textSection{}, &textSection{}, &textSection{}
	p := newPackage(types, resources, functions)
	err := jsontext.EachMember(data, func(key string, raw []byte) error {
		var err error
		switch key {
		case "types":
			err = types.read(raw)
		case "resources":
			err = resources.read(raw)
		case "functions":
			err = functions.read(raw)
		default:
			return p.readHead(key, raw)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read package schema: %w", err)
	}
	if p.Name == "" {
		return nil, errors.New("read package schema: it has no name")
	}
	resources.format, functions.format = p.moduleFormat, p.moduleFormat
	aliases := sync.OnceValue(func() map[string]string { return aliasesIn(resources) })
	p.alias = func(old string) (string, bool) {
		token, ok := aliases()[old]
		return token, ok
	}
	return p, nil
}

func newPackage(types, resources, functions section) *Package {
	return &Package{
		types: types, resources: resources, functions: functions,
		typeMemo: make(map[string]typeEntry),
		resMemo:  make(map[string]resourceEntry),
		funcMemo: make(map[string]functionEntry),
	}
}

// readHead reads a member of the schema that is not one of the sections.
func (p *Package) readHead(key string, raw []byte) error {
	var err error
	switch key {
	case "name":
		p.Name, err = jsontext.StringOf(raw)
	case "version":
		p.Version, err = jsontext.StringOf(raw)
	case "description":
		p.Description, err = jsontext.StringOf(raw)
	case "pluginDownloadURL":
		p.DownloadURL, err = jsontext.StringOf(raw)
	case "allowedPackageNames":
		p.AllowedPackageNames, err = jsontext.StringsOf(raw)
	case "meta":
		err = jsontext.EachMember(raw, func(key string, raw []byte) error {
			if key != "moduleFormat" {
				return nil
			}
			format, err := jsontext.StringOf(raw)
			if err != nil {
				return err
			}
			return p.setModuleFormat(format)
		})
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

func (p *Package) setModuleFormat(format string) (err error) {
	if format == "" || format == "(.*)" {
		return nil
	}
	if p.moduleFormat, err = regexp.Compile(format); err != nil {
		return errors.New("the module format is not a regular expression")
	}
	return nil
}

// Owns reports whether tokens that start with name may belong to the package.
func (p *Package) Owns(name string) bool {
	if name == p.Name {
		return true
	}
	return slices.Contains(p.AllowedPackageNames, name)
}

// Damaged reports whether a definition could not be read, or is no longer what it was when the index was made. Opened
// anew, the package is sound, or says what is wrong.
func (p *Package) Damaged() bool { return p.damaged.Load() }

// ResourceTokens are the canonical tokens of all resources in schema order, which the caller must not modify.
func (p *Package) ResourceTokens() []string { return p.resources.list() }

// FunctionTokens are the canonical tokens of all functions in schema order, which the caller must not modify.
func (p *Package) FunctionTokens() []string { return p.functions.list() }

// TypeTokens are the tokens of all object types and enums in schema order, which the caller must not modify.
func (p *Package) TypeTokens() []string { return p.types.list() }

// ResolveResource finds a resource by the token that a program wrote (L7.1, F8.4); pulumi:providers:<package> is the
// provider. The error wraps ErrNoSuchToken when there is none, and says what is wrong with the definition when it is
// malformed.
func (p *Package) ResolveResource(written string) (*Resource, error) {
	if name, ok := strings.CutPrefix(written, providerPrefix); ok && p.Name != builtinName {
		if name != p.Name || p.missing != nil {
			return nil, fmt.Errorf("%s: %w", written, ErrNoSuchToken)
		}
		return p.Provider()
	}
	token, ok := resolve(p.resources, written)
	if name, short := strings.CutPrefix(written, builtinName+":"); !ok && short && p.Name == builtinName {
		token, ok = resolve(p.resources, builtinName+":"+builtinName+":"+name) // L7.12
	}
	if !ok {
		return nil, fmt.Errorf("%s: %w", written, ErrNoSuchToken)
	}
	return p.Resource(token)
}

// ResolveFunction finds a function by the token that a program wrote, as ResolveResource does.
func (p *Package) ResolveFunction(written string) (*Function, error) {
	token, ok := resolve(p.functions, written)
	if !ok {
		return nil, fmt.Errorf("%s: %w", written, ErrNoSuchToken)
	}
	return p.Function(token)
}

const providerPrefix = "pulumi:providers:"

// ResourceByAlias is the canonical token of the resource type that had the given token before it was renamed (L7.4).
// Without an index, the first call looks at every resource of the package.
func (p *Package) ResourceByAlias(old string) (token string, ok bool) { return p.alias(old) }

// aliasesIn are the old tokens of the resources of a section, each with the token of today; the first to claim one has
// it.
func aliasesIn(resources section) map[string]string {
	aliases := make(map[string]string)
	for _, token := range resources.list() {
		definition, _, err := resources.get(token)
		if err != nil {
			continue
		}
		for _, name := range aliasNames(definition) {
			if _, taken := aliases[name]; !taken {
				aliases[name] = token
			}
		}
	}
	return aliases
}

// aliasNames are the old tokens of a resource. A definition that is malformed has none from there on; anyone who asks
// for it gets the error.
func aliasNames(definition []byte) (names []string) {
	if !bytes.Contains(definition, []byte(`"aliases"`)) {
		return nil
	}
	_ = jsontext.EachMember(definition, func(key string, raw []byte) (err error) {
		if key == "aliases" {
			names, err = aliasesOf(raw)
		}
		return err
	})
	return names
}

// Resource is the resource of a canonical token.
func (p *Package) Resource(token string) (*Resource, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	entry, ok := p.resMemo[token]
	if !ok {
		var raw []byte
		if raw, entry.err = definition(p.resources, token); entry.err == nil {
			entry.r, entry.err = decoder{p}.decodeResource(token, raw)
		}
		p.resMemo[token] = entry
	}
	return entry.r, entry.err
}

// definition is a definition's text, or an error that says why there is none.
func definition(s section, token string) ([]byte, error) {
	raw, known, err := s.get(token)
	if err == nil && !known {
		err = ErrNoSuchToken
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", token, err)
	}
	return raw, nil
}

// Function is the function of a canonical token.
func (p *Package) Function(token string) (*Function, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	entry, ok := p.funcMemo[token]
	if !ok {
		var raw []byte
		if raw, entry.err = definition(p.functions, token); entry.err == nil {
			entry.f, entry.err = decoder{p}.decodeFunction(token, raw)
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
		entry.r, entry.err = decoder{p}.decodeProvider(token)
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
	return decoder{p}.namedType(token)
}

// Verify decodes everything and returns the first few faults. It is for authors of schemas and for tests.
func (p *Package) Verify() error {
	var faults []error
	note := func(err error) {
		if err != nil && len(faults) < 20 {
			faults = append(faults, err)
		}
	}
	for _, token := range p.types.list() {
		_, err := p.Type(token)
		note(err)
		raw, err := definition(p.types, token)
		note(err)
		p.mu.Lock()
		_, err = decoder{p}.propertiesOf(token, raw)
		p.mu.Unlock()
		note(err)
	}
	for _, token := range p.resources.list() {
		_, err := p.Resource(token)
		note(err)
	}
	for _, token := range p.functions.list() {
		_, err := p.Function(token)
		note(err)
	}
	_, err := p.Provider()
	note(err)
	return errors.Join(faults...)
}
