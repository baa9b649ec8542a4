package dynamic

import (
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/dynamic/bundle"
)

// Package is the name of the package that types declared in a program belong to: their tokens are dynamic:index:Name.
const Package = "dynamic"

// CodeChange is the effect of a change of the code alone on a resource.
type CodeChange string

// The policies. ByDiff leaves it to the author's diff, and updates where there is none, as Pulumi does.
const (
	ByDiff  CodeChange = ""
	Ignore  CodeChange = "ignore"
	Update  CodeChange = "update"
	Replace CodeChange = "replace"
)

// Source is one bundled source file. It is immutable.
type Source struct {
	File     string // as the program names it, relative to the program's directory
	Language bundle.Language
	Code     string
	Digest   string
	// Env are the variables that the process gets besides those that every process needs; "all" gives everything.
	Env []string
	Map *bundle.Map // nil when only the state has the code
}

// Type is one resource type.
type Type struct {
	Source       *Source
	Export       string // the name that Source exports the provider by; empty for its only one
	OnCodeChange CodeChange
	Inputs       []string // declared inputs; nil when any are allowed
	Replace      []string // inputs whose change replaces, where the code has no diff
	Stable       []string // outputs that updates leave as they are
	Secret       []string // outputs that are secret
}

// Definition describes which code serves which type, by the name of the type without package and module.
type Definition map[string]Type

// The inputs of a provider resource that stands for a source. "types" maps a name to the fields of Type.
const (
	inputSource   = "source"
	inputLanguage = "language"
	inputDigest   = "digest"
	inputCode     = "code"
	inputEnv      = "env"
	inputTypes    = "types"
)

// Open names the inputs that the state of such a provider keeps sealed although they are not secret: the code, which
// is in a file of the project anyway. Package guard asks for them.
func Open(pkg string) []string {
	if pkg == Package {
		return []string{inputCode}
	}
	return nil
}

// definitionOf reads a definition from the inputs of a provider resource, which the state keeps: what is defined there
// can be deleted when the source file is gone. maps finds the source map of a digest; it may be nil.
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
			Replace: texts(t.Get("replace")), Stable: texts(t.Get("stable")), Secret: texts(t.Get("secret"))}
	}
	return d, nil
}

// replaces reports whether a change of the code replaces the provider, and so everything that it made.
func (d Definition) replaces() bool {
	for _, t := range d {
		if t.OnCodeChange == Replace {
			return true
		}
	}
	return false
}

// texts returns the texts of a list; nil when it is none.
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
