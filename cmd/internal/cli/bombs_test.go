package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A bomb is a small text that stands for much more than anyone may evaluate.
type bomb struct {
	lines []string // entries of a map in YAML
	last  string   // the entry that stands for most
}

// fan refers to a value from a list or a map of width items, to that from another one, and so on.
func fan(levels, width int, maps bool, leaf string) bomb {
	b := bomb{lines: []string{"a0: &a0 " + leaf}, last: fmt.Sprint("a", levels)}
	for i := 1; i <= levels; i++ {
		var items []string
		for j := range width {
			if maps {
				items = append(items, fmt.Sprintf("k%d: *a%d", j, i-1))
			} else {
				items = append(items, fmt.Sprintf("*a%d", i-1))
			}
		}
		value := "[" + strings.Join(items, ", ") + "]"
		if maps {
			value = "{" + strings.Join(items, ", ") + "}"
		}
		b.lines = append(b.lines, fmt.Sprintf("a%d: &a%d %s", i, i, value))
	}
	return b
}

// below returns the lines of a bomb as members of a map that is written with an indentation.
func (b bomb) below(indent int) string {
	space := strings.Repeat(" ", indent)
	return space + strings.Join(b.lines, "\n"+space) + "\n"
}

// bombs generates fans of values, and of texts that are long in themselves.
func bombs() *rapid.Generator[bomb] {
	return rapid.Custom(func(t *rapid.T) bomb {
		maps := rapid.Bool().Draw(t, "maps")
		if rapid.Bool().Draw(t, "texts") {
			length := rapid.IntRange(100_000, 300_000).Draw(t, "length")
			return fan(rapid.IntRange(3, 5).Draw(t, "levels"), 10, maps, strings.Repeat("x", length))
		}
		width := rapid.IntRange(2, 20).Draw(t, "width")
		levels := 1
		for n := width; n < 2_000_000; n *= width {
			levels++
		}
		return fan(levels+rapid.IntRange(0, 3).Draw(t, "levels more"), width, maps, "x")
	})
}

// bombDoors are the doors through which texts of a project come in: files with a bomb in them, and the command that
// reads them.
var bombDoors = map[string]struct {
	files func(b bomb) map[string]string
	args  []string
}{
	"a program": {func(b bomb) map[string]string {
		return map[string]string{"Pulumi.yaml": "name: one\nruntime: yaml\nvariables:\n" + b.below(2)}
	}, []string{"check"}},
	"an included file": {func(b bomb) map[string]string {
		return map[string]string{"Pulumi.yaml": "name: one\nruntime: yaml\ninclude: [part.yaml]\n",
			"part.yaml": "variables:\n" + b.below(2)}
	}, []string{"check"}},
	"a component": {func(b bomb) map[string]string {
		return map[string]string{"Pulumi.yaml": "name: one\nruntime: yaml\npackages: {lib: ./lib}\n",
			"lib/PulumiPlugin.yaml": "name: lib\nruntime: yaml\ncomponents:\n  C:\n    variables:\n" + b.below(6)}
	}, []string{"check"}},
	"a policy pack": {func(b bomb) map[string]string {
		return map[string]string{"Pulumi.yaml": "name: one\nruntime: yaml\npolicyPacks: [./pack]\n",
			"pack/PulumiPolicy.yaml": "name: p\n" +
				"version: 1.0.0\nruntime: yaml\npolicies: {x: {description: d, violation: x}}\nvariables:\n" + b.below(2)}
	}, []string{"preview", "-s", "dev"}},
	"an environment": {func(b bomb) map[string]string {
		return map[string]string{"environments/z.yaml": "values:\n" + b.below(2)}
	}, []string{"env", "open", "z"}},
	"a mock": {func(b bomb) map[string]string {
		return map[string]string{"one.test.yaml": "mocks:\n  resources:\n  - match: '*'\n    outputs:\n" + b.below(6) +
			"cases: {c: {expect: {outputs: {a: 1}}}}\n"}
	}, []string{"test"}},
	"an expectation": {func(b bomb) map[string]string {
		return map[string]string{"one.test.yaml": "cases:\n  c:\n    expect:\n      outputs:\n        a:\n" + b.below(10)}
	}, []string{"test"}},
	"a manifest": {func(b bomb) map[string]string {
		return map[string]string{"k.yaml": "apiVersion: v1\nkind: ConfigMap\n" +
			"metadata: {name: x}\ndata:\n" + b.below(2)}
	}, []string{"convert", "--from", "kubernetes", "k.yaml"}},
	"manifests": {func(b bomb) map[string]string {
		return map[string]string{"k/a.yaml": "a: b\n---\n" + b.below(0) + "---\n" + b.below(0)}
	}, []string{"convert", "--from", "kubernetes", "k"}},
	"a template of CloudFormation": {func(b bomb) map[string]string {
		return map[string]string{"c.yaml": "Resources:\n  R:\n    Type: AWS::S3::Bucket\n    " +
			"Properties:\n" + b.below(6)}
	}, []string{"convert", "--from", "cloudformation", "c.yaml"}},
	"a nested template": {func(b bomb) map[string]string {
		return map[string]string{"c.yaml": "Resources:\n  R: {Type: 'AWS::CloudFormation::Stack', " +
			"Properties: {TemplateURL: d.yaml}}\n",
			"d.yaml": "Resources:\n  R:\n    Type: AWS::S3::Bucket\n    Properties:\n" + b.below(6)}
	}, []string{"convert", "--from", "cloudformation", "c.yaml"}},
}

// finish runs a command line that has to end.
func finish(t *testing.T, x *terminal, args ...string) (code int, said string) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		code = x.run(args...)
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	select {
	case <-done:
		return code, x.out.String() + x.err.String()
	case <-ctx.Done():
		require.FailNow(t, "the command did not end", "%v", args)
		return 0, ""
	}
}

// TestBombs: no text makes yamlhost evaluate more than the budget allows, whatever file it is in: the command ends with
// one error that names the limit.
func TestBombs(t *testing.T) {
	t.Parallel()
	for name, door := range bombDoors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTerminal(t, "name: one\noutputs: {a: 1}\n")
			require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
			tries := 0
			rapid.Check(t, func(r *rapid.T) {
				if tries++; tries > 3 && !*allWalls {
					return
				}
				b := bombs().Draw(r, "bomb")
				for name, text := range door.files(b) {
					lay(t, x, map[string]string{name: text}, nil)
				}
				code, said := finish(t, x, door.args...)
				require.NotEqual(t, 0, code, said)
				require.Regexp(t, "more than [0-9]+|larger than [0-9]+", said)
				require.LessOrEqual(t, strings.Count(said, "error[")+strings.Count(said, "error: "), 1, said)
				require.Less(t, len(said), 1<<16)
			})
		})
	}
}

// TestBombsOfExpressions are bombs of other forms than a fan of aliases.
func TestBombsOfExpressions(t *testing.T) {
	t.Parallel()
	const schema = `{"name": "p", "version": "1.0.0",
		"types": {"p:index:T": {"type": "object", "properties": {%s}, "required": [%s]}},
		"resources": {"p:index:R": {"properties": {"t": {"$ref": "#/types/p:index:T"}}, "required": ["t"]}}}`
	var members, names []string
	for i := range 60 {
		members = append(members, fmt.Sprintf(`"p%d": {"$ref": "#/types/p:index:T"}`, i))
		names = append(names, fmt.Sprintf(`"p%d"`, i))
	}
	nested := map[string]string{"n9.json": `{"Parameters": {"P": {"Type": "String"}},
		"Resources": {"T": {"Type": "AWS::SNS::Topic"}}}`}
	for i := range 9 {
		var stacks []string
		for j := range 10 {
			stacks = append(stacks, fmt.Sprintf(`"A%d": {"Type": "AWS::CloudFormation::Stack",
				"Properties": {"TemplateURL": "n%d.json"}}`, j, i+1))
		}
		nested[fmt.Sprintf("n%d.json", i)] = fmt.Sprintf(`{"Parameters": {"P%d": {"Type": "String"}},
			"Resources": {%s}}`, i, strings.Join(stacks, ", "))
	}
	heavy := "\"${length([for a in range(0, 1000) : [for b in range(0, 1000) : a]]) > 0}\""
	policies := ""
	for i := range 100 {
		policies += fmt.Sprintf("  x%d: {description: d, when: %s, violation: x}\n", i,
			strings.Replace(heavy, "> 0", "< 0", 1))
	}
	pcl := func(text string) map[string]string { return map[string]string{"k.pp": "a = " + text} }
	ofPCL := []string{"convert", "--from", "pcl", "k.pp"}
	for name, c := range map[string]struct {
		files map[string]string
		args  []string
		want  string
	}{
		"PCL with brackets":  {pcl(strings.Repeat("(", 100_000) + "1"), ofPCL, "more than 100 brackets"},
		"PCL with maps":      {pcl(strings.Repeat("{a=", 50_000)), ofPCL, "more than 100 brackets"},
		"PCL with texts":     {pcl(strings.Repeat("\"${", 20_000)), ofPCL, "more than 100 brackets"},
		"PCL with operators": {pcl("1" + strings.Repeat("+1", 100_000)), ofPCL, "more than 1000 operators"},
		"PCL with negations": {pcl(strings.Repeat("!", 100_000) + "true"), ofPCL, "more than 1000 operators"},
		"PCL with steps":     {pcl("b" + strings.Repeat("[0]", 100_000)), ofPCL, "more than 1000 operators"},
		"PCL with escapes":   {pcl(`"` + strings.Repeat("$${x}", 100_000) + `"`), ofPCL, "which are its lines and escapes"},
		"PCL with lines": {pcl("<<E\n" + strings.Repeat(strings.Repeat("y", 60)+"\n", 100_000) + "E\n"), ofPCL,
			"which are its lines and escapes"},
		"parameters of nested templates": {nested, []string{"convert", "--from", "cloudformation", "n0.json"},
			"more than 10000 configuration values"},
		"made-up values": {map[string]string{"Pulumi.yaml": "name: one\nruntime: yaml\nresources: {r: {type: p:R}}\n",
			"schemas/p-1.0.0.json": fmt.Sprintf(schema, strings.Join(members, ", "), strings.Join(names, ", ")),
			"one.test.yaml":        "schemas: ./schemas\ncases: {c: {expect: {count: 1}}}\n"},
			[]string{"test"}, "requires more than 10000 values"},
		"expectations": {map[string]string{"one.test.yaml": "cases:\n  c:\n    expect:\n      assert:\n" +
			strings.Repeat("      - "+heavy+"\n", 100)}, []string{"test"}, "more than 10000000 steps"},
		"policies": {map[string]string{"Pulumi.yaml": "name: one\nruntime: yaml\npolicyPacks: [./pack]\n" +
			"resources: {r: {type: random:RandomPet}}\n", "pack/PulumiPolicy.yaml": "name: p\nversion: 1.0.0\n" +
			"runtime: yaml\npolicies:\n" + policies}, []string{"preview", "-s", "dev"}, "takes more than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTerminal(t, "name: one\noutputs: {a: 1}\n")
			require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
			lay(t, x, c.files, nil)
			code, said := finish(t, x, c.args...)
			require.NotEqual(t, 0, code, said[:min(len(said), 2000)])
			require.Contains(t, said, c.want)
			require.NoFileExists(t, filepath.Join(x.world.Dir, "made"))
			require.Less(t, len(said), 1<<18)
		})
	}
}
