package check_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// shedSchema is a package of near names, to be used in two versions.
type shedSchema struct {
	types   map[string][]string // inputs by token; an output has the name of its input
	choices []string            // values of the input kind
}

func (s shedSchema) loader() schema.Loader {
	type object = map[string]any
	resources := object{}
	for token, names := range s.types {
		properties := object{}
		for _, name := range names {
			properties[name] = object{"type": "string"}
		}
		properties["kind"] = object{"$ref": "#/types/shed:index:Kind"}
		resources[token] = object{"properties": properties, "inputProperties": properties}
	}
	var values []object
	for _, choice := range s.choices {
		values = append(values, object{"value": choice})
	}
	text, err := json.Marshal(object{"name": "shed", "version": "1.0.0", "resources": resources,
		"types": object{"shed:index:Kind": object{"type": "string", "enum": values}}})
	return schema.NewLoader(func(_ context.Context, d schema.Descriptor) ([]byte, error) {
		if d.Name != "shed" {
			return nil, schema.ErrNotFound
		}
		return text, err
	})
}

// without returns a version of the schema that lacks some of its types, members and values.
func (s shedSchema) without(rt *rapid.T) shedSchema {
	keep := func(names []string, label string) (kept []string) {
		for _, name := range names {
			if rapid.IntRange(0, 2).Draw(rt, label+" "+name) > 0 {
				kept = append(kept, name)
			}
		}
		return kept
	}
	older := shedSchema{types: map[string][]string{}, choices: keep(s.choices, "value")}
	if len(older.choices) == 0 {
		older.choices = s.choices[:1]
	}
	for _, token := range keep(shedTokens(), "type") {
		if names, has := s.types[token]; has {
			older.types[token] = keep(names, token)
		}
	}
	return older
}

// shedTokens returns tokens that differ in a version, in capitals, in a letter.
func shedTokens() (tokens []string) {
	for _, module := range []string{"tools", "toolsv2", "Tools", "tool"} {
		for _, name := range []string{"Hammer", "Hammers", "Hammer2"} {
			tokens = append(tokens, "shed:"+module+":"+name)
		}
	}
	return tokens
}

// TestFixesLeaveMeaning checks programs that are right under one version of a schema with a version that lacks some of
// it, and applies all certain fixes: under the first version the program still has the same resources, tokens,
// properties, values and references, in the same order.
func TestFixesLeaveMeaning(t *testing.T) {
	t.Parallel()
	fixed := 0
	rapid.Check(t, func(rt *rapid.T) {
		newer := shedSchema{types: map[string][]string{}, choices: []string{"ipv4", "ipv6", "ipv4s", "dual"}}
		for _, token := range shedTokens() {
			newer.types[token] = []string{"url", "uri", "size", "sizes", "zone", "zone1", "zone2"}
		}
		var b strings.Builder
		b.WriteString("resources:\n")
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"port1", "port2", "hammer", "hammers", "net-1", "net"}), 1, 4,
			rapid.ID).Draw(rt, "names")
		var outputs strings.Builder
		for _, name := range names {
			token := rapid.SampledFrom(shedTokens()).Draw(rt, "token")
			fmt.Fprintf(&b, "  %s:\n    type: %s\n    %s:\n      kind: %s\n", name, token,
				rapid.SampledFrom([]string{"properties", "Properties"}).Draw(rt, "key"),
				rapid.SampledFrom(newer.choices).Draw(rt, "kind"))
			for _, p := range rapid.SliceOfNDistinct(rapid.SampledFrom(newer.types[token]), 0, 3, rapid.ID).Draw(rt, "inputs") {
				fmt.Fprintf(&b, "      %s: v\n", p)
			}
			fmt.Fprintf(&outputs, "  o-%s: ${%s.%s}\n", name, name,
				rapid.SampledFrom(append([]string{"urn", "id"}, newer.types[token]...)).Draw(rt, "output"))
		}
		text := b.String() + "outputs:\n" + outputs.String()
		meaning := meaningOf(rt, text, newer.loader())
		older := newer.without(rt).loader()
		for range 5 {
			found := findings(t, text, older)
			if len(found) == 0 || found[0].Subject.Source == nil {
				break
			}
			changed, n := diag.ApplyFixes(found[0].Subject.Source, found)
			if n == 0 {
				break
			}
			text = string(changed)
			fixed += n
		}
		require.Equal(rt, meaning, meaningOf(rt, text, newer.loader()), text)
	})
	require.Greater(t, fixed, 0, "certain fixes")
}

// meaningOf returns what a program without errors declares and refers to.
func meaningOf(rt *rapid.T, text string, l schema.Loader) (lines []string) {
	file, found := parser.Parse(diag.NewSource("Main.yaml", []byte(text)), parser.Options{})
	program, more := check.Check(context.Background(), file, check.Options{Project: "p", Schemas: l})
	found.Add(more...)
	require.False(rt, found.HasErrors(), "%v\n%s", found, text)
	for _, n := range program.Nodes {
		line := n.Name + " " + n.Resource.Token + " " + n.Resource.Decl.Type.Value
		for _, p := range n.Resource.Decl.Properties {
			line += fmt.Sprintf(" %s=%s", p.Name.Value, p.Value.(*ast.String).Value)
		}
		lines = append(lines, line)
	}
	for _, o := range program.Outputs {
		access := o.Decl.Value.(*ast.Access)
		lines = append(lines, o.Decl.Name.Value+" "+access.Root.Value+" "+access.Steps[0].Name)
	}
	return lines
}
