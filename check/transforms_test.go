package check_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// L10.C17: faults of a transform are reported at the transform.
func TestTransformFindings(t *testing.T) {
	t.Parallel()
	const pets = "resources:\n  pet: {type: random:RandomPet}\n  cat: {type: random:RandomPet, name: tom}\n"
	for name, c := range map[string]struct {
		text string
		code diag.Code
		at   string // the text of the subject range
		want string
	}{
		"nothing of that type": {"transforms:\n  - match: {type: 'aws:*'}\n    properties: {a: b}\n" + pets,
			diag.Ignored, "{type: 'aws:*'}", "matches no resource"},
		"a policy that needs what it guards": {"policies:\n  short: {match: {type: 'random:*'}, violation: '${cat.id}'}\n" + pets,
			diag.Cycle, "short", "make the `match` of the policy narrower"},
		"nothing of that name": {"transforms:\n  - match: {name: tim}\n    options: {protect: true}\n" + pets,
			diag.Ignored, "{name: tim}", "matches no resource"},
		"no component": {"transforms:\n  - match: {custom: false}\n    options: {protect: true}\n" + pets,
			diag.Ignored, "{custom: false}", "matches no resource"},
		"no call": {"transforms:\n  - match: {function: 'std:*'}\n    arguments: {a: b}\n" + pets,
			diag.Ignored, "{function: 'std:*'}", "matches no function call"},
		"a property that none has": {"transforms:\n  - match: {type: 'random:*'}\n    properties: {lenght: 1}\n" + pets,
			diag.UnknownProperty, "lenght", "did you mean `length`"},
		"a value that none takes": {"transforms:\n  - match: {type: 'random:*'}\n    properties: {length: [1]}\n" + pets,
			diag.NotAssignable, "[1]", "length"},
		"an argument that is none": {"transforms:\n  - match: {function: 'std:upper'}\n    arguments: {inputt: " +
			"b}\noutputs: {a: {fn::invoke: {function: 'std:upper', arguments: {input: a}}}}\n", diag.UnknownProperty, "inputt",
			"did you mean `input`"},
		"a condition that is none": {"transforms:\n  - when: '${args.name}'\n    options: {protect: true}\n" + pets,
			diag.NotAssignable, "${args.name}", "when"},
		"a member of args": {"transforms:\n  - when: '${args.nam == \"pet\"}'\n    options: {protect: true}\n" +
			pets, diag.NoMember, ".nam", "did you mean `name`"},
		"args outside": {"outputs: {a: '${args.name}'}\n" + pets, diag.Undeclared, "args",
			"`args` is not declared"},
		"an option": {"transforms:\n  - options: {protectt: true}\n" + pets, diag.UnknownKey, "protectt",
			"did you mean `protect`"},
		"another parent": {"transforms:\n  - options: {parent: '${pet}'}\n" + pets, diag.UnknownKey, "parent",
			"cannot move a resource"},
		"nothing to change": {"transforms:\n  - match: {name: pet}\n" + pets, diag.RequiredMissing, "match",
			"changes nothing"},
		"no list": {"transforms: {match: {name: pet}}\n" + pets, diag.WrongKind, "{match: {name: pet}}",
			"must be a list"},
		"the older word": {"transformations:\n  - match: {name: pet}\n    options: {protect: true}\n" + pets,
			diag.Deprecated, "transformations", "write `transforms`"},
		"a transform of calls here": {"resources:\n  pet:\n    type: random:RandomPet\n    options: {transforms: [{match: " +
			"{function: 'a:b'}, arguments: {a: b}}]}\n", diag.UnknownKey, "'a:b'", "the section `transforms`"},
		"no text to match": {"transforms:\n  - match: {type: '${pet.id}'}\n    options: {protect: true}\n" + pets,
			diag.NotLiteral, "'${pet.id}'", "literal"},
		"below a resource": {"resources:\n  pet:\n    type: random:RandomPet\n    options: {transforms: [{match: {type: " +
			"'random:RandomId'}, options: {protect: true}}]}\n" +
			"  other: {type: random:RandomId, properties: {byteLength: 2}}\n", diag.Ignored, "{type: 'random:RandomId'}",
			"matches no resource"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, found := checkText(t, "Main.yaml", c.text, func(o *check.Options) { o.Schemas = builtinLoader() })
			var kept diag.Diagnostics
			for _, d := range found {
				if d.Severity <= diag.Warning {
					kept.Add(d)
				}
			}
			require.Len(t, kept, 1, "%v", kept)
			require.Equal(t, c.code, kept[0].Code, "%v", kept)
			require.Equal(t, c.at, kept[0].Subject.Text())
			require.Contains(t, kept[0].Summary+"\n"+kept[0].Detail, c.want)
		})
	}
}

// L10.C17: nodes that a transform matches depend on its dependencies, also inside of components.
func TestTransformEdges(t *testing.T) {
	t.Parallel()
	program, found := checkText(t, "Main.yaml", `transforms:
  - match: {type: 'random:RandomPet'}
    properties: {prefix: '${team}'}
  - match: {function: 'std:*'}
    arguments: {input: '${salt.id}'}
variables:
  team: '${salt.id}'
  loud: {fn::invoke: {function: 'std:upper', arguments: {input: a}, return: result}}
resources:
  salt: {type: random:RandomId, properties: {byteLength: 2}}
  pet: {type: random:RandomPet}
  inside: {type: components:Box}
  read: {type: random:RandomPet, get: {id: x}}
components:
  Box:
    resources:
      deep: {type: random:RandomPet}
outputs: {loud: '${loud}'}
`, func(o *check.Options) { o.Schemas = builtinLoader() })
	require.False(t, found.HasErrors(), "%v", found)
	needs := map[string][]string{}
	for _, v := range program.Graph() {
		needs[v.ID] = v.Needs
		require.Equal(t, v.ID == "resource:pet" || v.ID == "resource:inside", len(v.Transforms) == 1, v.ID)
	}
	require.Equal(t, []string{"variable:team"}, needs["resource:pet"])
	require.Equal(t, []string{"variable:team"}, needs["resource:inside"])
	require.Equal(t, []string{"resource:salt"}, needs["variable:loud"])
	require.Empty(t, needs["resource:salt"])
	require.Empty(t, needs["resource:read"], "transforms do not concern what is only read")

	_, found = checkText(t, "Main.yaml",
		"transforms:\n  - match: {type: 'random:*'}\n    properties: {keepers: {salt: '${team}'}}\n"+
			"variables: {team: '${salt.id}'}\nresources:\n  salt: {type: random:RandomId, properties: {byteLength: 2}}\n",
		func(o *check.Options) { o.Schemas = builtinLoader() })
	require.Len(t, found, 2, "the section, which is an extension, and the cycle")
	require.Equal(t, diag.Cycle, found[1].Code)
	var steps []string
	for _, r := range found[1].Related {
		steps = append(steps, r.Message)
	}
	require.Contains(t, steps, "this transform matches salt, and needs team")
}

// L10.C17: a glob is compared with both spellings of a type, and `*` stands for any text.
func TestTransformGlobs(t *testing.T) {
	t.Parallel()
	const pet = "random:index/randomPet:RandomPet"
	for glob, matches := range map[string]bool{pet: true, "random:RandomPet": true, "random:*": true, "*": true,
		"*Pet": true, "*:Random*t": true,
		"random": false, "random:RandomPe": false, "andom:*": false, "*Pets": false, "r*random:RandomPet": false, "": false,
		"*Pet*Pet*Pet*": false} {
		file := "transforms:\n  - match: {type: '" + glob +
			"'}\n    options: {protect: true}\nresources:\n  pet: {type: random:RandomPet}\n"
		p, _ := checkText(t, "Main.yaml", file, func(o *check.Options) { o.Schemas = builtinLoader() })
		require.Equal(t, matches, program.MatchesResource(p.File.Transforms[0], pet, "pet", true), glob)
	}
}
