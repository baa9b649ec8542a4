package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

// inExamples returns a terminal in a copy of the examples.
func inExamples(t *testing.T) *terminal {
	t.Helper()
	x := newTerminal(t, onePet)
	require.NoError(t, os.CopyFS(filepath.Join(x.world.Dir, "examples"), os.DirFS("../../../examples")))
	return x
}

// TestTestsOfExamples runs the tests of the examples with mocks. Tests of programs without custom code must also pass
// with the embedded providers.
func TestTestsOfExamples(t *testing.T) {
	t.Parallel()
	x := inExamples(t)
	require.Zero(t, x.run("test", "examples"), x.out.String()+x.err.String())
	require.Contains(t, x.out.String(), " 0 failed")
	require.Zero(t, x.run("test", "examples/hello", "examples/loops", "examples/replacement", "examples/components",
		"examples/configuration", "examples/transforms", "examples/component-package", "examples/certificates",
		"--embedded", "--coverage"), x.out.String()+x.err.String())
	require.NotContains(t, x.out.String(), "not registered")
}

// TestTestingPage runs the files of docs/testing.md.
func TestTestingPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/testing.md")
	require.NoError(t, err)
	blocks := everyBlock(string(page))
	require.Len(t, blocks, 2)
	x := inExamples(t)
	path := filepath.Join(x.world.Dir, "examples/hello/page.test.yaml")
	require.NoError(t, os.WriteFile(path, []byte(blocks[0].text), 0o644))
	require.Zero(t, x.run("test", "examples/hello/page.test.yaml"), x.out.String()+x.err.String())
	require.NoError(t, os.WriteFile(path, []byte(blocks[0].text+blocks[1].text), 0o644))
	require.Equal(t, console.CodeFailed, x.run("test", "examples/hello/page.test.yaml"))
	require.Equal(t, 4, strings.Count(x.out.String(), "no call reaches this mock"), x.out.String())
	require.NotContains(t, x.out.String(), "expected", "the mocks are well formed")
}

// TestPacksAboutDestruction runs cases with a pack that refuses deletions and replacements, and with one whose
// configuration is wrong.
func TestPacksAboutDestruction(t *testing.T) {
	t.Parallel()
	const program = "name: one\nconfig:\n  words: {type: integer, default: 2}\n  more: {type: boolean, default: false}\n" +
		"resources:\n  pet: {type: random:RandomPet, properties: {length: \"${words}\"}}\n" +
		"  tom: {type: random:RandomPet, if: \"${more}\"}\n"
	const pack = "name: guard\nversion: 1.0.0\nruntime: yaml\npolicies:\n  stay:\n    description: pets stay\n" +
		"    enforcement: mandatory\n    destroy: true\n    match: {name: [pet, tom]}\n    config: {why: {type: string, default: lost}}\n" +
		"    violation: ${args.name} ${config.why} by ${args.operation}\n"
	x := newTerminal(t, program)
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, name), []byte(text), 0o644))
	}
	require.NoError(t, os.Mkdir(filepath.Join(x.world.Dir, "guard"), 0o755))
	write("guard/PulumiPolicy.yaml", pack)
	write("one.test.yaml", `policies: [{path: guard, config: {stay: {why: gone}}}]
before: {config: {more: true}}
cases:
  nothing goes: {config: {more: true}, expect: {violations: []}}
  one goes: {expect: {violations: [{policy: stay, resource: tom, level: mandatory, message: tom gone by delete}]}}
  one is another: {config: {words: 3, more: true}, expect: {violations: [{resource: pet, message: pet gone by replace}]}}
`)
	require.Zero(t, x.run("test"), x.out.String())
	write("one.test.yaml", "policies:\n  - path: guard\n    config: {stay: {why: 3}}\ncases: {a: {expect: {violations: []}}}\n")
	require.Equal(t, console.CodeFailed, x.run("test"))
	require.Contains(t, x.out.String(), "one.test.yaml:3:26: error: a: policy pack guard: validating policy config: stay: why must be of type string")
}

// BenchmarkTest runs 1,000 cases of a program with two resources.
func BenchmarkTest(b *testing.B) {
	x := newTerminal(b, "name: one\nruntime: yaml\nconfig: {words: {type: integer, default: 2}}\nresources:\n"+
		"  pet: {type: random:RandomPet, properties: {length: \"${words}\"}}\n"+
		"  pw: {type: random:RandomPassword, properties: {length: 12}}\n")
	var text strings.Builder
	text.WriteString("cases:\n  sizes:\n    table:\n")
	for i := range 1000 {
		fmt.Fprintf(&text, "      - {config: {words: %d}, expect: {resources: {pet: {properties: {length: %d}}}}}\n", i, i)
	}
	require.NoError(b, os.WriteFile(filepath.Join(x.world.Dir, "one.test.yaml"), []byte(text.String()), 0o644))
	for b.Loop() {
		if x.run("test") != 0 || !strings.Contains(x.out.String(), "1000 cases, 0 failed") {
			b.Fatal(x.out.String())
		}
	}
}

// TestTestsFail runs tests that must fail. Each reports the reason and its position, and no secrets.
func TestTestsFail(t *testing.T) {
	t.Parallel()
	const program = "name: one\nconfig:\n  words: {type: integer, default: 2}\n  pin: {type: string, default: none}\n" +
		"resources:\n  pet: {type: random:RandomPet, properties: {length: \"${words}\"}}\n" +
		"  key: {type: random:RandomPassword, properties: {length: 9}}\n" +
		"outputs: {pet: \"${pet.id}\", key: \"${key.result}\", pin: \"${pin}\"}\n"
	for text, want := range map[string]string{
		"":                                   "the file has no cases",
		"cases: {}":                          "the file has no cases",
		"cases: {a: {}}":                     "1:9: error[Y211]: the case `a` expects nothing",
		"cases: {a: {table: []}}":            "the table has no rows",
		"cases: {a: {expct: {}}}":            "did you mean `expect`?",
		"cases: {a: {expect: {outputs: [}}}": "error",
		"cases: {a: {expect: {outputs: {pat: 1}}}}":                                            "there is no output `pat`\n",
		"cases: {a: {expect: {outputs: {pet: cat}}}}":                                          "= - \"cat\"\n  = + \"pet-id\"",
		"cases: {a: {expect: {resources: {cat: {}}}}}":                                         "there is no resource `cat`",
		"cases: {a: {expect: {resources: {pet: null}}}}":                                       "`pet` must not exist",
		"cases: {a: {expect: {resources: {pet: {properties: {length: 3}}}}}}":                  "`length` of `pet` is not as expected",
		"cases: {a: {expect: {count: 3}}}":                                                     "the number of resources",
		"cases: {a: {expect: {changes: {}}}}":                                                  "there is no change to look at",
		"cases: {a: {before: {}, config: {words: 3}, expect: {changes: {}}}}":                  "+ pet: replace",
		"cases: {a: {before: {}, config: {words: 3}, expect: {changes: {pet: update}}}}":       "- update",
		"cases: {a: {expect: {assert: ['${outputs.pet == \"x\"}']}}}":                          "the assertion does not hold",
		"cases: {a: {expect: {assert: ['${nothing.pet}']}}}":                                   "cannot be evaluated: `nothing` is not declared",
		"cases: {a: {expect: {assert: ['${1}']}}}":                                             "must be true or false",
		"cases: {a: {config: {wrds: 1}, expect: {count: 2}}}":                                  "no configuration wrds",
		"cases: {a: {config: {words: x}, expect: {count: 2}}}":                                 "an error that is not expected",
		"cases: {a: {expect: {findings: [{message: fire}]}}}":                                  "there is no such finding",
		"mocks: {resources: [{match: 'aws:*'}]}\ncases: {a: {expect: {count: 2}}}":             "1:21: error: no call reaches this mock",
		"mocks: {resources: [{id: x}]}\ncases: {a: {expect: {count: 2}}}":                      "the mock matches nothing",
		"mocks: {resources: [{match: '*', error: full}]}\ncases: {a: {expect: {count: 2}}}":    "full",
		"cases: {a: {config: {pin: {secret: sesame-opens}}, expect: {outputs: {pin: wrong}}}}": "= + \"[secret]\"",
		"cases: {a: {expect: {outputs: {key: wrong}}}}":                                        "= + \"[secret]\"",
	} {
		x := newTerminal(t, program)
		require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "one.test.yaml"), []byte(text), 0o644))
		require.Equal(t, console.CodeFailed, x.run("test", "--out", "junit=report.xml"), "%s\n%s", text, x.out.String())
		require.Contains(t, x.out.String(), want, text)
		report, err := os.ReadFile(filepath.Join(x.world.Dir, "report.xml"))
		require.NoError(t, err)
		require.NotContains(t, string(report)+x.out.String(), "= + \"sesame", text)
		require.Regexp(t, "<(failure|error) ", string(report), text)
	}
}
