package parser

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNoSlips parses correct texts that look like mistakes: shell commands, and keys with a namespace.
func TestNoSlips(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a command of the shell": "variables: {x: 1}\noutputs:\n  y: echo $(date) $(x y) $$(x) $(\n",
		"a namespace":            "outputs:\n  y: {'fn:a': 1, b: 2}\n  z: {'other:a': 1}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, diags := parse(text)
			require.Empty(t, diags)
		})
	}
}

// TestSlipsOfBeginners parses beginners' mistakes in YAML. Each must cause one finding, whose detail is the correction.
func TestSlipsOfBeginners(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, at, detail string }{
		"fields beside the name": {"resources:\n  pet:\n  type: a:b\n  properties:\n    x: 1\n  options:\n    protect: true\n",
			"type", "indent this under `pet`, with its fields"},
		"options beside the resource": {"resources:\n  pet: {type: 'a:b'}\n  options:\n    protect: true\n",
			"options", "indent this under the resource that it belongs to"},
		"a tab where the fields begin": {"resources:\n  pet:\n\ttype: a:b\n", "\t", "indent with spaces"},
		"no colon": {"resources:\n  pet:\n    type a:b\n", "type a:b",
			"a colon is missing: write `type: a:b`"},
		"no space": {"resources:\n  pet:\n    type:a:b\n", "type:a:b",
			"a space is missing after the colon: write `type: a:b`"},
		"the type alone": {"resources:\n  pet: a:b:c\n", "a:b:c", "write it as the type: `{type: a:b:c}`"},
		"a text alone":   {"resources:\n  pet: typed\n", "typed", "it has at least a `type`"},
		"nothing":        {"resources:\n  pet:\noutputs: {}\n", "pet", "add `type: package:module:Type`"},
		"nothing, then a resource": {"resources:\n  pet:\n  dog: {type: 'a:b'}\n", "pet",
			"add `type: package:module:Type`"},
		"braces of other tools": {"outputs:\n  x: {{pet.id}}\n", "{pet.id}",
			"a reference is written `${name.property}`; put a text that begins with `{` in quotes"},
		"a list of resources": {"resources:\n  - type: a:b\n", "- type: a:b", "write each as `name: …`, without a dash"},
		"parentheses": {"variables: {x: 1}\noutputs:\n  y: a $(x) b\n", "$(x)",
			"write `${x}` for the value; `$$(` is the text in any case"},
		"one colon": {"outputs:\n  y: {\"fn:join\": [\",\", [a]]}\n", "fn:join",
			"a call is written with two colons: `fn::join`"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, diags := parse(c.text)
			require.Len(t, diags, 1)
			require.Contains(t, diags[0].Subject.Text(), c.at)
			require.Equal(t, c.detail, diags[0].Detail)
		})
	}
}
