package dynamic

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/dynamic/bundle"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// packageCode is the input of a package's provider resource that holds the code of all types, as a secret. The state
// keeps it, so that resources are deleted by the code that created them.
const packageCode = "__code"

// NewPackaged returns the provider of a package with dynamic types. Each source has the inputs of a provider resource
// for one source. If fault is not nil, the package's code is unusable for that reason, and the provider serves only
// code from a state. The caller serves the schema and components. The provider is safe for concurrent use.
func NewPackaged(name string, sources []value.Value, fault error, o Options) provider.Provider {
	return &packaged{name: name, sources: value.EmptyMap().With("sources", value.List(sources...)), fault: fault,
		loaded: loaded{options: o}}
}

// packaged is a provider that runs the package's own code unless its inputs hold other code.
type packaged struct {
	loaded
	name    string
	sources value.Value // a map with the list "sources"
	fault   error       // why sources is unusable; nil if it is usable
}

// Info identifies the package.
func (p *packaged) Info(context.Context) (provider.Info, error) {
	return provider.Info{Name: p.name}, nil
}

// CheckConfig adds the package's current code to the inputs.
func (p *packaged) CheckConfig(_ context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	text, err := p.code()
	if err != nil {
		return provider.CheckResponse{}, err
	}
	return provider.CheckResponse{Inputs: r.News.MapOrEmpty().With(packageCode, value.String(text).Secret())}, nil
}

// code returns the package's code as text. It is the same on all hosts, so that states of different hosts compare
// equal.
func (p *packaged) code() (string, error) {
	if p.fault != nil {
		return "", &provider.Error{Message: p.fault.Error()}
	}
	text, err := encode(p.sources)
	if err != nil {
		return "", err
	}
	var compact bytes.Buffer // white space in the encoding differs between builds of yamlhost
	if err := json.Compact(&compact, text); err != nil {
		return "", err
	}
	return compact.String(), nil
}

// DiffConfig replaces the provider if the code of a type with OnCodeChange Replace has changed.
func (p *packaged) DiffConfig(_ context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	olds, news := r.OldInputs.DeepPublic(), r.News.DeepPublic()
	response := compare(Type{}, olds.Without(packageCode), news.Without(packageCode))
	response.Changes, response.Detailed = provider.DiffNone, nil
	if len(response.Diffs) > 0 {
		response.Changes = provider.DiffSome
	}
	before, after := olds.Get(packageCode), news.Get(packageCode)
	if value.Equal(before, after) || !after.IsKnown() {
		return response, nil
	}
	response.Changes = provider.DiffSome
	response.Diffs = append(response.Diffs, packageCode)
	old, err := definitionsIn(before, nil)
	if err != nil {
		return response, nil // the old inputs come from another kind of provider
	}
	now, err := definitionsIn(after, nil)
	if err != nil {
		return response, err
	}
	for name, t := range now {
		if was, there := old[name]; there && t.OnCodeChange == Replace && was.Source.Digest != t.Source.Digest {
			response.Replaces = []string{packageCode}
		}
	}
	return response, nil
}

// Configure configures the provider with the configuration of the package. It starts no process.
func (p *packaged) Configure(_ context.Context, r provider.ConfigureRequest) (provider.Configured, error) {
	inputs := r.Inputs.DeepPublic().MapOrEmpty()
	code := inputs.Get(packageCode)
	if !code.Is(value.KindString) {
		text, err := p.code()
		if err != nil {
			return nil, err
		}
		code = value.String(text)
	}
	d, err := definitionsIn(code, p.options.Maps)
	if err != nil {
		return nil, &provider.Error{Message: err.Error()}
	}
	p.options.Project, p.options.Config = p.name, map[string]string{}
	for _, key := range inputs.Without(packageCode).Keys() {
		v := inputs.Get(key)
		text, isText := v.AsString()
		if !isText {
			var fields map[string]json.RawMessage
			encoded, err := encode(value.EmptyMap().With(key, v))
			if err == nil {
				err = json.Unmarshal(encoded, &fields)
			}
			if err != nil {
				return nil, err
			}
			text = string(fields[key])
		}
		p.options.Config[p.name+":"+key] = text
	}
	return p.ready(d), nil
}

// definitionsIn reads the definitions of all sources from the code of a package.
func definitionsIn(code value.Value, mapsOf func(digest string) *bundle.Map) (Definition, error) {
	text, ok := code.AsString()
	if !ok {
		return nil, fmt.Errorf("the provider has no code")
	}
	sources, err := decode([]byte(text), false)
	if err != nil {
		return nil, fmt.Errorf("the code of the provider cannot be read: %w", err)
	}
	all := Definition{}
	items, _ := sources.Get("sources").AsList()
	for _, item := range items {
		d, err := definitionOf(item, mapsOf)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, d)
	}
	return all, nil
}
