package dynamic

import (
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/dynamic/bundle"
)

// Package is the package name of the types declared in a program: their tokens are dynamic:index:Name.
const Package = "dynamic"

// CodeChange is the effect on a resource of a change that affects only the code.
type CodeChange string

// The policies. With ByDiff the author's diff decides; without a diff method the resource is updated, as in Pulumi.
const (
	ByDiff  CodeChange = ""
	Ignore  CodeChange = "ignore"
	Update  CodeChange = "update"
	Replace CodeChange = "replace"
)

// Source is one bundled source file. It is immutable.
type Source struct {
	File     string // path as the program writes it, relative to the program's directory
	Language bundle.Language
	Code     string
	Digest   string
	// Env are the variables that the process gets besides the standard ones; "all" gives nearly all.
	Env []string
	Map *bundle.Map // nil if the code comes only from the state
}

// Type is one resource type.
type Type struct {
	Source       *Source
	Export       string // name of the provider in Source; empty for its only export
	OnCodeChange CodeChange
	Inputs       []string // declared inputs; nil if any are allowed
	Replace      []string // inputs whose change replaces the resource if the code has no diff
	Stable       []string // outputs that updates do not change
	Secret       []string // outputs that are secret
	Public       []string // outputs that are not made of secret inputs
}

// Definition maps the name of a type, without package and module, to the type.
type Definition map[string]Type

// The inputs of the provider resource of a source. "types" maps the name of a type to the fields of Type.
const (
	inputSource   = "source"
	inputLanguage = "language"
	inputDigest   = "digest"
	inputCode     = "code"
	inputEnv      = "env"
	inputTypes    = "types"
)

// Open returns the inputs of package pkg that the state seals although they are not secret: the code, which is in a
// file of the project anyway. Package guard uses it.
func Open(pkg string) []string {
	if pkg == Package {
		return []string{inputCode}
	}
	return nil
}

// definitionOf reads a definition from the inputs of a provider resource. The state keeps these inputs, so that
// resources can be deleted after the source file is gone. maps returns the source map for a digest; it may be nil.
func definitionOf(inputs value.Value, maps func(digest string) *bundle.Map) (Definition, error) {
	text := func(key string) string { s, _ := inputs.Get(key).AsString(); return s }
	source := &Source{File: text(inputSource), Language: bundle.Language(text(inputLanguage)), Code: text(inputCode),
		Digest: text(inputDigest), Env: texts(inputs.Get(inputEnv))}
	if source.Code == "" || source.Digest == "" {
		return nil, fmt.Errorf("the provider has no code: its inputs must have %s and %s", inputCode, inputDigest)
	}
	if source.Language != bundle.Node && source.Language != bundle.Python {
		return nil, fmt.Errorf("%s: there is no language %q", source.File, source.Language)
	}
	if maps != nil {
		source.Map = maps(source.Digest)
	}
	d := Definition{}
	types := inputs.Get(inputTypes)
	for _, name := range types.Keys() {
		t := types.Get(name)
		export, _ := t.Get("export").AsString()
		policy, _ := t.Get("onCodeChange").AsString()
		d[name] = Type{Source: source, Export: export, OnCodeChange: CodeChange(policy), Inputs: texts(t.Get("inputs")),
			Replace: texts(t.Get("replace")), Stable: texts(t.Get("stable")), Secret: texts(t.Get("secret")),
			Public: texts(t.Get("public"))}
	}
	return d, nil
}

// replaces reports whether a change of the code replaces the provider, and so all its resources.
func (d Definition) replaces() bool {
	for _, t := range d {
		if t.OnCodeChange == Replace {
			return true
		}
	}
	return false
}

// texts returns the strings in a list; nil if v is not a list.
func texts(v value.Value) []string {
	items, ok := v.AsList()
	if !ok {
		return nil
	}
	list := make([]string, 0, len(items))
	for _, item := range items {
		if s, ok := item.AsString(); ok {
			list = append(list, s)
		}
	}
	return slices.Clip(list)
}
