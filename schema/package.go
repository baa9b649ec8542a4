package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/yamlhost/yamlhost/internal/jsontext"
)

// Package is the schema of one package. It is safe for concurrent use. Definitions are decoded on demand, once.
type Package struct {
	Name        string
	Version     string // from the schema or else the loader; may be empty
	Description string
	DownloadURL string
	// AllowedPackageNames are further names that tokens of this package may start with (F8.3).
	AllowedPackageNames []string

	types     section
	resources section
	functions section
	provider  []byte
	config    []byte
	aliases   *table // of old tokens, which points at the first index of resources

	mu       sync.Mutex // guards the memos below
	typeMemo memo[Type]
	resMemo  memo[*Resource]
	funcMemo memo[*Function]

	damaged atomic.Bool // Damaged
	base    *Package    // the package that Extended has extended; nil for none
	missing error       // Missing
}

// memo holds decoded definitions, and the errors of malformed ones, by token.
type memo[T any] map[string]decoded[T]

type decoded[T any] struct {
	value T
	err   error
}

// get returns the result of decode, which it calls once per token.
func (m *memo[T]) get(token string, decode func(token string) (T, error)) (T, error) {
	d, known := (*m)[token]
	if !known {
		d.value, d.err = decode(token)
		if *m == nil {
			*m = memo[T]{}
		}
		(*m)[token] = d
	}
	return d.value, d.err
}

// ErrNoSuchToken is returned when a package has no resource or function of a name.
var ErrNoSuchToken = errors.New("no such token")

// Parse reads a schema (F8.1). It looks at each byte once and decodes nothing but names; definitions are decoded when
// they are asked for. The Package keeps data, which the caller must not modify afterwards.
func Parse(data []byte) (*Package, error) {
	index, err := buildIndex(&stream{held: data, end: io.EOF}, "")
	if err != nil {
		return nil, err
	}
	return openIndexed(index, bytes.NewReader(data), int64(len(data)), "", func() {})
}

// Owns reports whether tokens that start with name may belong to the package.
func (p *Package) Owns(name string) bool {
	return name == p.Name || slices.Contains(p.AllowedPackageNames, name)
}

// Damaged reports whether a definition could not be read or has changed since the index was made. Reopening the package
// either repairs it or returns an error.
func (p *Package) Damaged() bool { return p.damaged.Load() }

// ResourceTokens returns the canonical tokens of all resources in schema order, which the caller must not modify.
func (p *Package) ResourceTokens() []string { return p.resources.list() }

// FunctionTokens returns the canonical tokens of all functions in schema order, which the caller must not modify.
func (p *Package) FunctionTokens() []string { return p.functions.list() }

// TypeTokens returns the tokens of all object types and enums in schema order, which the caller must not modify.
func (p *Package) TypeTokens() []string { return p.types.list() }

// ResolveResource finds a resource by the token that a program wrote (L7.1, F8.4); pulumi:providers:<package> is the
// provider. The error wraps ErrNoSuchToken if there is none, or describes a malformed definition.
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

// ResourceByAlias returns the canonical token of the resource type that had the given token before it was renamed
// (L7.4).
func (p *Package) ResourceByAlias(old string) (token string, ok bool) {
	r, found := p.aliases.exact(old)
	if !found {
		return "", false
	}
	return p.resources.parts[0].token(r)
}

// aliasNames returns the old tokens of a resource. A definition that is malformed has none from there on; anyone who
// asks for it gets the error.
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

// Resource returns the resource of a canonical token.
func (p *Package) Resource(token string) (*Resource, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.resMemo.get(token, decoder{p}.decodeResource)
}

// Function returns the function of a canonical token.
func (p *Package) Function(token string) (*Function, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.funcMemo.get(token, decoder{p}.decodeFunction)
}

// Provider returns the package's provider resource, pulumi:providers:<name>.
func (p *Package) Provider() (*Resource, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.resMemo.get(providerPrefix+p.Name, decoder{p}.decodeProvider)
}

// Method returns the function behind a method of a resource. The error wraps ErrNoSuchToken when there is none.
func (p *Package) Method(r *Resource, name string) (*Function, error) {
	token, ok := r.Methods[name]
	if !ok {
		return nil, fmt.Errorf("%s/%s: %w", r.Token, name, ErrNoSuchToken)
	}
	return p.Function(token)
}

// Type returns the object type or enum of a token. The error wraps ErrNoSuchToken when there is none.
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
		raw, err := p.types.definition(token)
		note(err)
		p.mu.Lock()
		_, err = decoder{p}.propertiesOf(raw)
		p.mu.Unlock()
		if err != nil {
			note(fmt.Errorf("type %s: %w", token, err))
		}
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

// builtinName is the package that the engine itself provides (L7.B).
const builtinName = "pulumi"

// StackReferenceToken is the type of stack references.
const StackReferenceToken = "pulumi:pulumi:StackReference"

const builtinSchema = `{
  "name": "pulumi",
  "description": "What the engine provides itself.",
  "resources": {
    "pulumi:index:Stash": {
      "description": "Keeps the first value that it is given, until it is replaced.",
      "inputProperties": {"input": {"$ref": "pulumi.json#/Any", "description": "The value to keep."}},
      "requiredInputs": ["input"],
      "properties": {
        "input": {"$ref": "pulumi.json#/Any", "description": "The value that the program gives now."},
        "output": {"$ref": "pulumi.json#/Any", "description": "The value that is kept."}
      },
      "required": ["input", "output"]
    },
    "pulumi:pulumi:StackReference": {
      "description": "Reads the outputs of another stack.",
      "inputProperties": {
        "name": {"type": "string", "plain": true, "description": "organization/project/stack; the resource's name by default."}
      },
      "properties": {
        "name": {"type": "string", "description": "The name of the other stack."},
        "outputs": {"type": "object", "additionalProperties": {"$ref": "pulumi.json#/Any"}, "description": "Its outputs."},
        "secretOutputNames": {"type": "array", "items": {"type": "string"}, "description": "Which of them are secret."}
      },
      "required": ["name", "outputs", "secretOutputNames"]
    }
  }
}`

// Builtin returns the schema of the package pulumi, which needs no plugin (L7.10). pulumi:StackReference names the
// stack reference too (L7.12). Providers, pulumi:providers:<package>, belong to their own packages.
func Builtin() (*Package, error) { return Parse([]byte(builtinSchema)) }

// Extended returns base with the definitions of the additions, which are of the same package. If several define a
// token, base wins, then the earlier addition. References in an addition may name definitions of base. base is nil if
// it could not be loaded; missing is then the reason, and the package has the additions alone.
func Extended(base *Package, missing error, additions ...*Package) *Package {
	all := additions
	if base != nil {
		all = append([]*Package{base}, additions...)
	}
	first := all[0]
	p := &Package{Name: first.Name, Version: first.Version, Description: first.Description,
		DownloadURL: first.DownloadURL, AllowedPackageNames: first.AllowedPackageNames,
		provider: first.provider, config: first.config, aliases: first.aliases, base: base, missing: missing}
	var types, resources, functions []*indexedSection
	for _, part := range all {
		types = append(types, part.types.parts...)
		resources = append(resources, part.resources.parts...)
		functions = append(functions, part.functions.parts...)
	}
	p.types, p.resources, p.functions = newSection(types...), newSection(resources...), newSection(functions...)
	return p
}

// Missing returns the error that kept the base package from loading; nil for a complete package.
func (p *Package) Missing() error { return p.missing }

// Added reports whether a resource comes from an addition and not from the package itself.
func (p *Package) Added(token string) bool {
	return p.missing != nil || p.base != nil && !p.base.resources.has(token)
}
