// Package growth measures how the work of yamlhost grows with each thing that a program can have many of: `make
// growth-test` builds the program with counters in its statements.
package growth

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

var (
	built   = flag.String("built", "", "yamlhost, built with -cover -covermode=count, and with counters in slices and maps")
	slowest = flag.Int("steps", 0, "how many of the statements that grow fastest are printed")
)

// steepest is the largest exponent that an operation may have: the work of twice as much is at most 2.15 times as much.
const steepest = 1.1

// almostSquare is the exponent from which a single block of statements counts as executed with the square of a number.
const almostSquare = 1.7

// dimension is one thing that a program can have many of.
type dimension struct {
	name  string
	small int                           // the smallest number of them; the others are twice and four times as many
	files func(n int) map[string]string // of a project with n of them
	ops   []string                      // check, run, again (an update without changes), test, convert
	// reason is why the work may grow faster, with the square; empty if it may not.
	reason string
}

// times joins what line returns for 0 to n-1.
func times(n int, line func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i))
	}
	return b.String()
}

// program returns the files of a project with only a program.
func program(format string, args ...any) map[string]string {
	return map[string]string{"Pulumi.yaml": "name: grow\nruntime: yaml\n" + fmt.Sprintf(format, args...)}
}

// with adds a file.
func with(files map[string]string, name, text string) map[string]string {
	files[name] = text
	return files
}

// pet returns a resource with additional lines.
func pet(i int, more string) string {
	return fmt.Sprintf("  r%d:\n    type: random:RandomPet\n    properties: {length: 2}\n%s", i, more)
}

var everything = []string{"check", "run", "again"}

var dimensions = []dimension{
	{"resources", 250, func(n int) map[string]string {
		return program("resources:\n%s", times(n, func(i int) string { return pet(i, "") }))
	}, everything, ""},
	{"a chain of dependsOn", 250, func(n int) map[string]string {
		return program("resources:\n%s%s", pet(0, ""), times(n-1, func(i int) string {
			return pet(i+1, fmt.Sprintf("    options: {dependsOn: [\"${r%d}\"]}\n", i))
		}))
	}, everything, ""},
	{"items of one dependsOn", 250, func(n int) map[string]string {
		return program("resources:\n%s  last:\n    type: random:RandomPet\n    options:\n      dependsOn:\n%s",
			times(n, func(i int) string { return pet(i, "") }),
			times(n, func(i int) string { return fmt.Sprintf("        - ${r%d}\n", i) }))
	}, everything, ""},
	{"references of one property", 250, func(n int) map[string]string {
		return program("resources:\n%s  last:\n    type: random:RandomPet\n    properties:\n      keepers:\n%s",
			times(n, func(i int) string { return pet(i, "") }),
			times(n, func(i int) string { return fmt.Sprintf("        k%d: ${r%d.id}\n", i, i) }))
	}, everything, ""},
	{"instances of one forEach", 250, func(n int) map[string]string {
		return program("variables:\n  many: [%s]\nresources:\n  r:\n    type: random:RandomPet\n    forEach: ${many}\n",
			times(n, func(i int) string { return fmt.Sprintf("k%d, ", i) }))
	}, everything, ""},
	{"variables in a chain", 500, func(n int) map[string]string {
		return program("variables:\n  v0: 1\n%soutputs: {last: \"${v%d}\"}\n", times(n, func(i int) string {
			return fmt.Sprintf("  v%d: ${v%d + 1}\n", i+1, i)
		}), n)
	}, everything, ""},
	{"calls of functions", 250, func(n int) map[string]string {
		return program("variables:\n%s", times(n, func(i int) string {
			return fmt.Sprintf("  v%d:\n    fn::invoke: {function: std:upper, arguments: {input: a%d}, return: result}\n", i, i)
		}))
	}, []string{"check", "run"}, ""},
	{"outputs", 500, func(n int) map[string]string {
		return program("outputs:\n%s", times(n, func(i int) string { return fmt.Sprintf("  o%d: %d\n", i, i) }))
	}, everything, ""},
	{"items of one list", 1000, func(n int) map[string]string {
		return program("outputs:\n  list:\n%s", times(n, func(i int) string { return fmt.Sprintf("    - %d\n", i) }))
	}, everything, ""},
	{"entries of one map", 1000, func(n int) map[string]string {
		return program("resources:\n  r:\n    type: random:RandomPet\n    properties:\n      keepers:\n%s",
			times(n, func(i int) string { return fmt.Sprintf("        k%d: v%d\n", i, i) }))
	}, everything, ""},
	{"bytes of one text", 100000, func(n int) map[string]string {
		return program("outputs:\n  text: %s\n", strings.Repeat("word ", n/5))
	}, everything, ""},
	{"parts of one text", 4000, func(n int) map[string]string {
		return program("variables: {a: 1}\noutputs:\n  text: \"%s\"\n", strings.Repeat("${a}, ", n))
	}, everything, ""},
	{"configuration keys", 500, func(n int) map[string]string {
		return with(program("config:\n%s", times(n, func(i int) string { return fmt.Sprintf("  k%d: {type: integer}\n", i) })),
			"Pulumi.dev.yaml", "config:\n"+times(n, func(i int) string { return fmt.Sprintf("  grow:k%d: \"%d\"\n", i, i) }))
	}, everything, ""},
	{"providers", 200, func(n int) map[string]string {
		return program("resources:\n%s", times(n, func(i int) string {
			return fmt.Sprintf("  p%d:\n    type: pulumi:providers:random\n", i) +
				pet(i, fmt.Sprintf("    options: {provider: \"${p%d}\"}\n", i))
		}))
	}, everything, ""},
	{"resources with an alias", 250, func(n int) map[string]string {
		return program("resources:\n%s", times(n, func(i int) string {
			return pet(i, fmt.Sprintf("    options: {aliases: [{name: old%d}]}\n", i))
		}))
	}, everything, ""},
	{"aliases of one resource", 250, func(n int) map[string]string {
		return program("resources:\n%s      aliases:\n%s", pet(0, "    options:\n"),
			times(n, func(i int) string { return fmt.Sprintf("        - {name: old%d}\n", i) }))
	}, everything, ""},
	{"paths of ignoreChanges", 250, func(n int) map[string]string {
		return program("resources:\n  r:\n    type: random:RandomPet\n    properties:\n      keepers:\n%s"+
			"    options:\n      ignoreChanges:\n%s",
			times(n, func(i int) string { return fmt.Sprintf("        k%d: v\n", i) }),
			times(n, func(i int) string { return fmt.Sprintf("        - keepers.k%d\n", i) }))
	}, everything, ""},
	{"instances of a component", 120, func(n int) map[string]string {
		return program("components:\n  Box:\n    inputs: {size: {type: integer}}\n    resources:\n      pet:\n"+
			"        type: random:RandomPet\n        properties: {length: \"${size}\"}\n    outputs: {id: \"${pet.id}\"}\n"+
			"resources:\n%s", times(n, func(i int) string {
			return fmt.Sprintf("  b%d:\n    type: components:Box\n    properties: {size: 2}\n", i)
		}))
	}, everything, ""},
	{"components", 120, func(n int) map[string]string {
		return program("components:\n%sresources:\n%s", times(n, func(i int) string {
			return fmt.Sprintf("  Box%d:\n    resources:\n      pet:\n        type: random:RandomPet\n", i)
		}), times(n, func(i int) string { return fmt.Sprintf("  b%d:\n    type: components:Box%d\n", i, i) }))
	}, everything, ""},
	{"inputs and outputs of a component", 120, func(n int) map[string]string {
		return program("components:\n  Box:\n    inputs:\n%s    outputs:\n%sresources:\n  b:\n    type: components:Box\n"+
			"    properties:\n%soutputs:\n%s",
			times(n, func(i int) string { return fmt.Sprintf("      i%d: {type: integer}\n", i) }),
			times(n, func(i int) string { return fmt.Sprintf("      o%d: ${i%d}\n", i, i) }),
			times(n, func(i int) string { return fmt.Sprintf("      i%d: %d\n", i, i) }),
			times(n, func(i int) string { return fmt.Sprintf("  o%d: ${b.o%d}\n", i, i) }))
	}, everything, ""},
	{"hooks", 120, func(n int) map[string]string {
		return program("hooks:\n%sresources:\n%s", times(n, func(i int) string {
			return fmt.Sprintf("  h%d:\n    command: [\"true\"]\n", i)
		}), times(n, func(i int) string {
			return pet(i, fmt.Sprintf("    options: {hooks: {beforeUpdate: [h%d]}}\n", i))
		}))
	}, everything, ""},
	{"transforms", 100, func(n int) map[string]string {
		return program("transforms:\n%sresources:\n%s", times(n, func(i int) string {
			return fmt.Sprintf("  - match: {type: \"random:RandomPet\", name: r%d}\n    properties: {length: 3}\n", i)
		}), pet(0, ""))
	}, everything, ""},
	{"transforms of resources", 100, func(n int) map[string]string {
		return program("resources:\n%s", times(n, func(i int) string {
			return pet(i, "    options: {transforms: [{match: {type: \"random:RandomPet\"}, properties: {length: 3}}]}\n")
		}))
	}, everything, ""},
	{"transforms of calls", 100, func(n int) map[string]string {
		return program("transforms:\n%svariables:\n  v:\n    fn::invoke: {function: std:upper, arguments: {input: a}}\n",
			times(n, func(i int) string { return "  - {match: {function: \"std:upper\"}, arguments: {input: b}}\n" }))
	}, []string{"check", "run"}, ""},
	{"warnings", 500, func(n int) map[string]string {
		return with(program("config:\n%s", times(n, func(i int) string { return fmt.Sprintf("  k%d: {type: string}\n", i) })),
			"Pulumi.dev.yaml", "config:\n"+times(n, func(i int) string { return fmt.Sprintf("  grow:k%d: ${k%d}\n", i, i) }))
	}, []string{"check", "run"}, ""},
	{"policies", 100, func(n int) map[string]string {
		return program("policies:\n%sresources:\n%s", times(n, func(i int) string {
			return fmt.Sprintf("  p%d:\n    match: {name: r%d}\n    when: ${resource.length < 1}\n    violation: short\n", i, i)
		}), pet(0, ""))
	}, everything, ""},
	{"stack references", 250, func(n int) map[string]string {
		return program("resources:\n%soutputs: {o: \"${s0.name}\"}\n", times(n, func(i int) string {
			return fmt.Sprintf("  s%d:\n    type: pulumi:pulumi:StackReference\n    properties: {name: organization/grow/dev}\n", i)
		}))
	}, everything, ""},
	{"included files", 120, func(n int) map[string]string {
		files := program("include: [parts/*.yaml]\n")
		for i := range n {
			files[fmt.Sprintf("parts/p%d.yaml", i)] = "resources:\n" + pet(i, "")
		}
		return files
	}, everything, ""},
	{"keys of an environment", 250, func(n int) map[string]string {
		files := program("outputs: {a: 1}\n")
		files["environments/e.yaml"] = "values:\n  pulumiConfig:\n" +
			times(n, func(i int) string { return fmt.Sprintf("    grow:k%d: %d\n", i, i) })
		return with(files, "Pulumi.dev.yaml", "environment: [e]\n")
	}, []string{"check", "run"}, ""},
	{"environments", 100, func(n int) map[string]string {
		files := program("outputs: {a: 1}\n")
		for i := range n {
			files[fmt.Sprintf("environments/e%d.yaml", i)] = fmt.Sprintf("values:\n  pulumiConfig: {grow:k%d: %d}\n", i, i)
		}
		return with(files, "Pulumi.dev.yaml", "environment:\n"+times(n, func(i int) string { return fmt.Sprintf("  - e%d\n", i) }))
	}, []string{"check", "run"},
		"the evaluator of Pulumi ESC exports, with each import, all that come before it"},
	{"cases of a test", 100, func(n int) map[string]string {
		return with(program("resources:\n%s", pet(0, "")), "Main.test.yaml",
			"cases:\n"+times(n, func(i int) string { return fmt.Sprintf("  c%d: {expect: {count: 1}}\n", i) }))
	}, []string{"test"}, ""},
	{"resources of a template in one line", 250, func(n int) map[string]string {
		return map[string]string{"c.json": "{\"Resources\": {" + times(n, func(i int) string {
			return fmt.Sprintf("\"R%d\": {\"Type\": \"AWS::SNS::Topic\", \"Properties\": {\"Tags\": []}}, ", i)
		}) + "\"Last\": {\"Type\": \"AWS::SNS::Topic\"}}}"}
	}, []string{"convert"}, ""},
	{"resources of a program in one line", 250, func(n int) map[string]string {
		return map[string]string{"Pulumi.json": `{"name": "grow", "runtime": "yaml", "config": {` +
			times(n, func(i int) string { return fmt.Sprintf(`"c%d": {"default": 2}, `, i) }) + `"end": {"default": 1}}, "resources": {` +
			times(n, func(i int) string {
				return fmt.Sprintf(`"r%d": {"type": "random:RandomPet", "properties": {"length": "${c%[1]d}"}}, `, i)
			}) + `"last": {"type": "random:RandomPet"}}}`}
	}, everything, ""},
	{"kinds of Kubernetes", 60, func(n int) map[string]string {
		files := program("crds: crds\noutputs: {a: 1}\n")
		for i := range n {
			files[fmt.Sprintf("crds/k%d.yaml", i)] = fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: k%[1]ds.example.com}
spec:
  group: example.com
  names: {kind: K%[1]d, plural: k%[1]ds, singular: k%[1]d}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}
`, i)
		}
		return files
	}, []string{"check"}, ""},
}

// TestGrowth measures each operation at three sizes. What two sizes have in common, such as the start of the program,
// is left out: the exponent is that of the differences.
func TestGrowth(t *testing.T) {
	t.Parallel()
	if *built == "" {
		t.Skip("the program is not built with counters: make growth-test")
	}
	rows := make([][]string, len(dimensions))
	t.Run("of", func(t *testing.T) {
		for i, d := range dimensions {
			t.Run(d.name, func(t *testing.T) {
				t.Parallel()
				rows[i] = d.measure(t)
			})
		}
	})
	var table strings.Builder
	table.WriteString("| many | of each | operation | thousand steps | exponent |\n|---|---|---|---|---|\n")
	for _, lines := range rows {
		for _, line := range lines {
			table.WriteString(line)
		}
	}
	t.Log("\n" + table.String())
}

// measure returns the rows of the table about a dimension. What grows too fast is measured again, because timers and
// goroutines that wait make a few steps more or less.
func (d dimension) measure(t *testing.T) (rows []string) {
	t.Helper()
	limit := steepest
	if d.reason != "" {
		limit = 2
	}
	for again := range 2 {
		steps := map[string][]counts{}
		for factor := 1; factor <= 4; factor *= 2 {
			for op, c := range d.at(t, factor*d.small) {
				steps[op] = append(steps[op], c)
			}
		}
		rows = nil
		steep := false
		for _, op := range d.ops {
			s := steps[op]
			exponent := exponentOf(s[0].sum(), s[1].sum(), s[2].sum())
			rows = append(rows, fmt.Sprintf("| %s | %d, %d, %d | %s | %d, %d, %d | %.2f |\n", d.name, d.small, 2*d.small,
				4*d.small, op, s[0].sum()/1000, s[1].sum()/1000, s[2].sum()/1000, exponent))
			if exponent > limit {
				steep = true
				if again > 0 {
					t.Errorf("%s of %s: the steps grow with the power of %.2f; most of them:\n%s", op, d.name, exponent,
						s[2].beside(s[1], 8))
				}
			}
			if blocks := square(s, 4*d.small); len(blocks) > 0 && d.reason == "" {
				steep = true
				if again > 0 {
					t.Errorf("%s of %s: these are executed with the square of their number:\n%s", op, d.name,
						strings.Join(blocks, "\n"))
				}
			}
			if *slowest > 0 {
				t.Logf("%s of %s\n%s", op, d.name, s[2].beside(s[1], *slowest))
			}
		}
		if !steep {
			break
		}
	}
	return rows
}

// exponentOf returns the power with which the differences between three sizes grow, each twice the one before.
func exponentOf(small, middle, large int64) float64 {
	return math.Log2(float64(large-middle) / float64(middle-small))
}

// square lists the blocks whose executions grow with the square of a number, which the sum hides as long as others have
// more. The counts are those of three sizes; n is the largest. A block that is executed less than n²/10 times is none:
// sorting n things is not.
func square(c []counts, n int) (blocks []string) {
	for block, large := range c[2] {
		small, middle := c[0][block], c[1][block]
		if large > int64(n)*int64(n)/10 && exponentOf(small, middle, large) > almostSquare {
			blocks = append(blocks, fmt.Sprintf("  %12d %12d %12d  %s", small, middle, large, block))
		}
	}
	slices.Sort(blocks)
	return blocks
}

// at runs the operations on a project with n of the dimension, and returns the steps of each.
func (d dimension) at(t *testing.T, n int) map[string]counts {
	t.Helper()
	dir := t.TempDir()
	testfile.Tree(t, filepath.Join(dir, "project"), d.files(n))
	found := map[string]counts{}
	steps := func(op string, args ...string) {
		covered := filepath.Join(dir, "steps-"+op)
		require.NoError(t, os.MkdirAll(covered, 0o700))
		cmd := exec.CommandContext(t.Context(), *built, append(args, "-C", filepath.Join(dir, "project"))...)
		cmd.Env = []string{"HOME=" + dir, "PATH=/usr/bin:/bin", "PULUMI_HOME=" + filepath.Join(dir, "home"),
			"PULUMI_BACKEND_URL=file://" + dir, "PULUMI_CONFIG_PASSPHRASE=p", "GOCOVERDIR=" + covered}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s at %d: %s", op, n, out[:min(len(out), 4000)])
		found[op] = read(t, covered)
		require.NoError(t, os.RemoveAll(covered))
	}
	if slices.Contains(d.ops, "check") {
		steps("check", "check", "--stack", "dev")
	}
	if slices.Contains(d.ops, "test") {
		steps("test", "test")
	}
	if slices.Contains(d.ops, "convert") {
		steps("convert", "convert", "--from", "cloudformation", "c.json")
	}
	if slices.Contains(d.ops, "run") || slices.Contains(d.ops, "again") {
		steps("run", "run", "--stack", "dev")
	}
	if slices.Contains(d.ops, "again") {
		steps("again", "run", "--stack", "dev")
	}
	return found
}

// counts holds how often each block of statements was executed.
type counts map[string]int64

func (c counts) sum() (sum int64) {
	for _, n := range c {
		sum += n
	}
	return sum
}

// beside lists the blocks that are executed more often than in a smaller run, those with the most executions first.
func (c counts) beside(smaller counts, most int) string {
	blocks := slices.SortedFunc(maps.Keys(c), func(a, b string) int { return int(c[b] - smaller[b] - c[a] + smaller[a]) })
	var b strings.Builder
	for _, block := range blocks[:min(most, len(blocks))] {
		fmt.Fprintf(&b, "  %12d %12d  %s\n", smaller[block], c[block], block)
	}
	return b.String()
}

// read returns the counts that a process has left in a folder.
func read(t *testing.T, dir string) counts {
	t.Helper()
	text := filepath.Join(dir, "text")
	out, err := exec.CommandContext(t.Context(), "go", "tool", "covdata", "textfmt", "-i="+dir, "-o="+text).CombinedOutput()
	require.NoError(t, err, string(out))
	profile := testfile.Bytes(t, text)
	c := counts{}
	for lines := bufio.NewScanner(bytes.NewReader(profile)); lines.Scan(); {
		fields := strings.Fields(lines.Text()) // block, statements, executions
		if len(fields) != 3 {
			continue // the first line
		}
		if n, err := strconv.ParseInt(fields[2], 10, 64); err == nil && n > 0 {
			c[fields[0]] += n
		}
	}
	return c
}
