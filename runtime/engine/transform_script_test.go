package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// registerScriptTransform parses a transform of a script. Its target is the name of a resource, "stack" for all later
// resources, or "invoke" for all calls. Its effects: key=value sets an input, key=${name.urn} one that depends on a
// resource, and options @fail=TEXT, @only=RESOURCE, @type=TYPE, @protect, @import=ID, @provider=NAME, @deps=NAME,
// @alias=NAME, @dbr. It records each resource that it changes, with its inputs and their dependencies.
func registerScriptTransform(ctx context.Context, m monitor.Monitor, names map[string]known, name string,
	words []string) error {
	log := ctx.Value(logKey{}).(func(string, ...any))
	inputs := func(v value.Value) value.Value {
		for _, word := range words {
			key, text, _ := strings.Cut(word, "=")
			if strings.HasPrefix(key, "@") {
				continue
			}
			input := value.String(text)
			if inner, ok := strings.CutPrefix(text, "${"); ok {
				k := names[strings.TrimSuffix(inner, ".urn}")]
				input = value.String(string(k.urn)).DependingOn(k.urn)
			}
			v = v.With(key, input)
		}
		return v
	}
	option := func(name string) (string, bool) {
		for _, word := range words {
			if key, text, _ := strings.Cut(word, "="); key == "@"+name {
				return text, true
			}
		}
		return "", false
	}
	transform := func(_ context.Context, r monitor.RegisterRequest) (monitor.RegisterRequest, error) {
		if only, ok := option("only"); ok && only != r.Name {
			return r, nil
		}
		log("transform %s of %s %s %s deps=%v protect=%v", name, r.Name, r.Inputs,
			strings.TrimPrefix(r.Provider, "urn:pulumi:dev::p::"),
			shortAll(r.Inputs.AllDeps()), r.Protect != nil && *r.Protect)
		if text, ok := option("fail"); ok {
			return r, errors.New(text)
		}
		r.Inputs = inputs(r.Inputs)
		if _, ok := option("protect"); ok {
			yes := true
			r.Protect = &yes
		}
		if _, ok := option("dbr"); ok {
			yes := true
			r.DeleteBeforeReplace = &yes
		}
		if text, ok := option("type"); ok {
			r.Type, r.Name, r.Parent = text, "other", ""
		}
		if text, ok := option("import"); ok {
			r.ImportID = text
		}
		if text, ok := option("provider"); ok {
			r.Provider = names[text].reference()
		}
		if text, ok := option("deps"); ok {
			r.Dependencies = append(slices.Clip(r.Dependencies), names[text].urn)
		}
		if text, ok := option("alias"); ok {
			r.Aliases = append(slices.Clip(r.Aliases), monitor.Alias{Name: text})
		}
		return r, nil
	}
	switch name {
	case "stack":
		return m.(monitor.TransformRegistrar).RegisterStackTransform(ctx, transform)
	case "invoke":
		return m.(monitor.TransformRegistrar).RegisterStackInvokeTransform(ctx,
			func(_ context.Context, r monitor.InvokeRequest) (monitor.InvokeRequest, error) {
				log("transform invoke of %s %s", r.Token, r.Args)
				if text, ok := option("fail"); ok {
					return r, errors.New(text)
				}
				r.Args = inputs(r.Args)
				if text, ok := option("provider"); ok {
					r.Provider = names[text].reference()
				}
				return r, nil
			})
	}
	names[name] = known{transform: transform}
	return nil
}

func shortAll(urns []urn.URN) []string {
	texts := make([]string, len(urns))
	for i, u := range urns {
		texts[i] = short(u)
	}
	return texts
}
