package check_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/check/packages"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// TestTyposInExamples makes a typing error of one letter in each identifier of the examples, one at a time.
func TestTyposInExamples(t *testing.T) {
	t.Parallel()
	programs := examplePrograms(t)
	require.Greater(t, len(programs), 10)
	typosIn(t, programs, func(string) schema.Loader { return builtinLoader() }, map[string]int{
		"declaration": 2, // inputs of a component: the name is undeclared in the component, and no input for its users
		"member":      3, // of what the code of a dynamic type or a function returns, which has no schema
	})
}

// examplePrograms returns the programs of the examples.
func examplePrograms(t *testing.T) []sampleProgram {
	var programs []sampleProgram
	require.NoError(t, filepath.WalkDir("../examples", func(path string, d fs.DirEntry, err error) error {
		if base := filepath.Base(path); err != nil || base != "Pulumi.yaml" && base != "portable.yaml" &&
			base != "Main.json" {
			return err
		}
		text, err := os.ReadFile(path)
		programs = append(programs, sampleProgram{"examples", path, string(text)})
		return err
	}))
	return programs
}

// TestTyposInSample does the same with the programs of the sample.
func TestTyposInSample(t *testing.T) {
	t.Parallel()
	typosIn(t, samplePrograms(t), func(string) schema.Loader { return sampleLoader() }, nil)
}

// TestTyposInDocumentation does the same with every correct program of the documentation.
func TestTyposInDocumentation(t *testing.T) {
	dir := os.Getenv("YAMLHOST_SCHEMAS")
	if dir == "" {
		t.Skip("set YAMLHOST_SCHEMAS to a directory of gzipped package schemas to run this test")
	}
	s, err := openShelf(dir)
	require.NoError(t, err)
	loaders := make(map[string]schema.Loader) // reading a schema takes longer than checking a program
	loader := func(provider string) schema.Loader {
		if loaders[provider] == nil {
			loaders[provider] = s.loader(provider)
		}
		return loaders[provider]
	}
	var programs []sampleProgram
	for _, name := range s.names() {
		if strings.HasSuffix(name, "-full") {
			continue // the same programs
		}
		data, err := s.text(name)
		require.NoError(t, err)
		for i, text := range yamlBlocks(data) {
			found := findings(t, text, loader(name))
			if !found.HasErrors() && !slices.ContainsFunc(found, func(d diag.Diagnostic) bool {
				return strings.HasSuffix(d.Summary, "is not a program") // such as a workflow of GitHub
			}) {
				programs = append(programs, sampleProgram{name, fmt.Sprint(i), text})
			}
		}
	}
	typosIn(t, programs, loader, map[string]int{"declaration": len(programs), "reference": len(programs)})
}

// builtinLoader loads the schemas of the built-in providers.
func builtinLoader() schema.Loader {
	return schema.NewLoader(func(_ context.Context, d schema.Descriptor) ([]byte, error) {
		packed, err := os.ReadFile(filepath.Join("../runtime/embedded/schemas", d.PackageName()+".json.gz"))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("package %s: %w", d.PackageName(), schema.ErrNotFound)
		}
		if err != nil {
			return nil, err
		}
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(z)
	})
}

// identifier is a name in a program, with the other names that would be valid in its place.
type identifier struct {
	kind       string
	start, end int
	valid      func(word string) bool
}

// typoTally counts the results for one kind of typing error.
type typoTally struct{ cases, found, single, fixed, restored int }

func (y *typoTally) String() string {
	share := func(n, pid int) float64 { return 100 * float64(n) / float64(max(pid, 1)) }
	return fmt.Sprintf(
		"%6d  found %6.2f%%  one finding %6.2f%%  fixed %6.2f%%  restored %6.2f%% of all, %6.2f%% of the fixed", y.cases,
		share(y.found, y.cases), share(y.single, y.cases), share(y.fixed, y.cases), share(y.restored, y.cases),
		share(y.restored, y.fixed))
}

// typosIn tallies the findings about typing errors in programs. Each error has exactly one finding, but for the numbers
// of cases in exempt, by kind.
func typosIn(t *testing.T, programs []sampleProgram, loaderOf func(provider string) schema.Loader,
	exempt map[string]int) {
	tallies, total := make(map[string]*typoTally), &typoTally{}
	for _, p := range programs {
		l := loaderOf(p.provider)
		before := findings(t, p.text, l)
		if edits := editsOf(before); len(edits) > 0 && !before.HasErrors() {
			fixed, _ := fix(t, p.text, l)
			require.Empty(t, errorsOf(t, "fixed", fixed, l), "%s/%s: a fix breaks a right program", p.provider, p.name)
		}
		said := make(map[string]int)
		for _, d := range before {
			said[string(d.Code)+d.Summary]++
		}
		h := fnv.New64a()
		fmt.Fprint(h, p.name)
		random := rand.New(rand.NewPCG(h.Sum64(), 12))
		for _, id := range identifiersIn(t, p.text, l) {
			word := p.text[id.start:id.end]
			wrong := typo(random, word)
			if wrong == word || strings.EqualFold(wrong, word) || id.valid(wrong) {
				continue
			}
			text := p.text[:id.start] + wrong + p.text[id.end:]
			found := findings(t, text, l)
			fresh := newFindings(found, said)
			y := tallies[id.kind]
			if y == nil {
				y = &typoTally{}
				tallies[id.kind] = y
			}
			fixed, n := applied(text, found)
			for _, y := range []*typoTally{y, total} {
				y.cases++
				if len(fresh) > 0 {
					y.found++
				}
				if len(fresh) == 1 {
					y.single++
				}
				if n > len(editsOf(before)) {
					y.fixed++
					if fixed == p.text {
						y.restored++
					}
				}
			}
			if os.Getenv("YAMLHOST_MISTAKES") != "" && (len(fresh) != 1 || n > 0 && fixed != p.text || n == 0) {
				var b strings.Builder
				require.NoError(t, diag.WriteText(&b, fresh, diag.TextOptions{}))
				t.Logf("TYPO %s/%s %s: %s for %s: %d findings, %d fixes, restored %t\n%s", p.provider, p.name, id.kind, wrong, word,
					len(fresh), n, fixed == p.text, b.String())
			}
		}
	}
	for _, kind := range slices.Sorted(mapsKeys(tallies)) {
		t.Logf("%-14s %s", kind, tallies[kind])
	}
	t.Logf("%-14s %s (%d programs)", "all", total, len(programs))
	require.Greater(t, total.cases, 200)
	share := func(n, pid int) float64 { return 100 * float64(n) / float64(pid) }
	require.GreaterOrEqual(t, share(total.found, total.cases), 97.0, "found")
	for kind, y := range tallies {
		require.LessOrEqual(t, y.cases-y.single, exempt[kind], "%s: more than one finding, or none", kind)
	}
	require.GreaterOrEqual(t, share(total.restored, total.cases), 90.0, "mended by the fix")
	require.GreaterOrEqual(t, share(total.restored, total.fixed), 99.0, "mended rightly where there is a fix")
}

func mapsKeys[V any](m map[string]V) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// newFindings returns the findings that were not there before.
func newFindings(ds diag.Diagnostics, before map[string]int) diag.Diagnostics {
	seen := make(map[string]int)
	var fresh diag.Diagnostics
	for _, d := range ds {
		key := string(d.Code) + d.Summary
		if seen[key]++; seen[key] > before[key] {
			fresh.Add(d)
		}
	}
	return fresh
}

// typo swaps two letters of a word, or leaves one out, puts one in or changes one.
func typo(random *rand.Rand, word string) string {
	letters := "abcdefghijklmnopqrstuvwxyz"
	letter := func() string { i := random.IntN(len(letters)); return letters[i : i+1] }
	var places []int // of letters
	for i, c := range word {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			places = append(places, i)
		}
	}
	if len(places) < 3 {
		return word // it is too short
	}
	i := places[random.IntN(len(places))]
	switch random.IntN(4) {
	case 0:
		if i > 0 && slices.Contains(places, i-1) {
			return word[:i-1] + word[i:i+1] + word[i-1:i] + word[i+1:]
		}
		return word
	case 1:
		return word[:i] + word[i+1:]
	case 2:
		return word[:i] + letter() + word[i:]
	}
	return word[:i] + letter() + word[i+1:]
}

// identifiersIn returns the identifiers of a program that a schema or the language defines.
func identifiersIn(t *testing.T, text string, l schema.Loader) []identifier {
	file, _ := parser.Parse(diag.NewSource("Main.yaml", []byte(text)), parser.Options{})
	program, _ := check.Check(t.Context(), file, check.Options{Project: "docs", Schemas: l})
	g := &identifierGatherer{text: text, loader: l, ctx: t.Context(), seen: make(map[int]bool)}
	g.keys(text)
	g.body(program)
	for _, c := range program.Components {
		g.body(c.Body)
	}
	slices.SortFunc(g.found, func(a, b identifier) int { return a.start - b.start })
	return g.found
}

type identifierGatherer struct {
	text   string
	loader schema.Loader
	ctx    context.Context
	seen   map[int]bool
	found  []identifier
}

func (g *identifierGatherer) add(kind string, rng diag.Range, word string, valid func(string) bool) {
	if rng.Text() != word || g.seen[int(rng.Start)] || rng.Source.Name() != "Main.yaml" {
		return
	}
	g.seen[int(rng.Start)] = true
	g.found = append(g.found, identifier{kind, int(rng.Start), int(rng.End), valid})
}

func oneOf(words ...string) func(string) bool {
	return func(word string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, word) })
	}
}

var (
	programFields = []string{"name", "runtime", "description", "config", "variables", "resources", "outputs",
		"components", "hooks"}
	resourceFields = []string{"type", "properties", "options", "get", "name", "forEach", "if", "defaultProvider"}
	configFields   = []string{"type", "default", "secret", "items", "name", "optional", "value", "description"}
	invokeFields   = []string{"function", "arguments", "return", "options"}
)

// keys adds the keys that the language defines.
func (g *identifierGatherer) keys(text string) {
	var doc yaml.Node
	if yaml.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) == 0 {
		return
	}
	lines := []int{0}
	for i := range text {
		if text[i] == '\n' {
			lines = append(lines, i+1)
		}
	}
	src := diag.NewSource("Main.yaml", []byte(text))
	each := func(n *yaml.Node, kind string, known []string, fn func(key string, v *yaml.Node)) {
		for i := 0; n != nil && n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if slices.Contains(known, key.Value) {
				start := lines[key.Line-1] + key.Column - 1
				if strings.HasPrefix(text[start:], `"`) {
					start++
				}
				g.add(kind, diag.NewRange(src, start, start+len(key.Value)), key.Value, oneOf(known...))
			}
			if fn != nil && (known == nil || slices.Contains(known, key.Value)) {
				fn(key.Value, n.Content[i+1])
			}
		}
	}
	var sections func(key string, v *yaml.Node)
	sections = func(key string, v *yaml.Node) {
		switch key {
		case "resources":
			each(v, "", nil, func(_ string, r *yaml.Node) {
				each(r, "resource field", resourceFields, func(field string, v *yaml.Node) {
					if field == "options" {
						each(v, "option", ast.OptionNames(), nil)
					}
				})
			})
		case "config", "inputs":
			each(v, "", nil, func(_ string, c *yaml.Node) { each(c, "config field", configFields, nil) })
		case "components":
			each(v, "", nil, func(_ string, c *yaml.Node) {
				each(c, "section", []string{"inputs", "variables", "resources", "outputs", "description"}, sections)
			})
		}
	}
	each(doc.Content[0], "section", programFields, sections)
	var calls func(n *yaml.Node)
	calls = func(n *yaml.Node) {
		each(n, "", nil, func(key string, v *yaml.Node) {
			if key == "fn::invoke" {
				each(v, "invoke field", invokeFields, nil)
			}
		})
		for _, child := range n.Content {
			calls(child)
		}
	}
	calls(&doc)
}

// body adds the declarations and references of one body.
func (g *identifierGatherer) body(p *check.Program) {
	uses := make(map[*check.Node]int)
	declared := func(word string) bool {
		return word == "pulumi" || slices.ContainsFunc(p.Nodes, func(n *check.Node) bool { return n.Name == word })
	}
	visit := func(e ast.Expr) {
		ast.Walk(e, func(e ast.Expr) bool {
			switch e := e.(type) {
			case *ast.Access:
				g.access(p, e, declared, uses)
			case *ast.Call:
				g.call(p, e)
			}
			return true
		})
	}
	for _, n := range p.Nodes {
		switch n.Kind {
		case check.ConfigNode:
			if n.Config.Decl != nil {
				visit(n.Config.Decl.Default)
			}
		case check.VariableNode:
			visit(n.Variable.Value)
		case check.ResourceNode:
			g.resource(n)
			n.Resource.Decl.Exprs(visit)
		}
	}
	for _, o := range p.Outputs {
		visit(o.Decl.Value)
	}
	for _, n := range p.Nodes {
		if uses[n] > 0 && !n.Range.IsZero() {
			g.add("declaration", n.Range, n.Name, declared)
		}
	}
}

func (g *identifierGatherer) resource(n *check.Node) {
	r := n.Resource
	if r.Schema == nil {
		return
	}
	token := r.Decl.Type
	if r.Component == nil && !strings.HasPrefix(token.Value, "pulumi:") {
		g.token(token.Range, token.Value, func(p *schema.Package, word string) bool {
			_, err := p.ResolveResource(word)
			_, old := p.ResourceByAlias(word)
			return err == nil || old
		})
	}
	for _, p := range r.Decl.Properties {
		g.members(p.Name, p.Value, r.Schema.Inputs, "property")
	}
}

// token adds the last part of a token. Without its schema, a misspelt package cannot be recognized.
func (g *identifierGatherer) token(rng diag.Range, token string, valid func(*schema.Package, string) bool) {
	name, _, _ := strings.Cut(token, ":")
	pkg, err := g.loader.Load(g.ctx, schema.Descriptor{Name: name})
	if err != nil || rng.Text() != token {
		return
	}
	prefix := token[:strings.LastIndexByte(token, ':')+1]
	rng.Start += int32(len(prefix))
	g.add("token", rng, token[len(prefix):], func(word string) bool { return valid(pkg, prefix+word) })
}

func (g *identifierGatherer) members(key ast.Literal, v ast.Expr, o *schema.Object, kind string) {
	for _, s := range sitesIn(key, v, o, 0) {
		g.add(kind, s.key.Range, s.key.Value, func(word string) bool { return s.object.Property(word) != nil })
		text, ok := s.value.(*ast.String)
		if enum, isEnum := schema.Required(s.property.Type).(*schema.Enum); ok && isEnum {
			g.add("enum value", text.Range(), text.Value, func(word string) bool {
				return slices.ContainsFunc(enum.Values, func(v schema.EnumValue) bool { return v.Value == word })
			})
		}
	}
}

func (g *identifierGatherer) access(p *check.Program, e *ast.Access, declared func(string) bool,
	uses map[*check.Node]int) {
	ref := p.Ref(e)
	if ref.Kind != check.RefNode {
		return
	}
	uses[ref.Node]++
	g.add("reference", e.Root.Range, e.Root.Value, declared)
	if len(e.Steps) == 0 || e.Steps[0].IsIndex || e.Steps[0].Quoted || ref.Node.Kind != check.ResourceNode ||
		ref.Node.Resource.Schema == nil {
		return
	}
	rng := e.Steps[0].Range
	rng.Start++
	outputs := ref.Node.Resource.Schema.Outputs
	g.add("member", rng, e.Steps[0].Name, func(word string) bool {
		return word == "id" || word == "urn" || outputs.Property(word) != nil
	})
}

func (g *identifierGatherer) call(p *check.Program, e *ast.Call) {
	if !strings.Contains(e.Name.Value, ":") {
		g.add("function", e.Name.Range, e.Name.Value, func(word string) bool { _, ok := builtins.Lookup(word); return ok })
	}
	call := p.Call(e)
	if call == nil || call.Invoke == nil || call.Invoke.Schema == nil {
		return
	}
	isFunction := func(p *schema.Package, word string) bool { _, err := p.ResolveFunction(word); return err == nil }
	if token, _, _ := packages.ProviderCall(e); token != nil {
		g.token(token.Range, token.Value, isFunction)
	}
	if m, ok := call.Invoke.Arguments.(*ast.Map); ok {
		for _, entry := range m.Entries {
			if key, ok := entry.Key.(*ast.String); ok {
				g.members(ast.Literal{Value: key.Value, Range: key.Range()}, entry.Value, call.Invoke.Schema.Inputs, "argument")
			}
		}
	}
	if call.Invoke.Return == "" || e.Argument == nil {
		return
	}
	ast.Walk(e.Argument, func(inside ast.Expr) bool {
		if s, ok := inside.(*ast.String); ok && s.Value == call.Invoke.Return {
			result, _ := schema.Required(call.Invoke.Schema.Result).(*schema.Object)
			if result != nil && result.Property(s.Value) != nil &&
				strings.HasSuffix(strings.TrimRight(g.text[:s.Range().Start], " "), "return:") {
				g.add("return", s.Range(), s.Value, func(word string) bool { return result.Property(word) != nil })
			}
		}
		return true
	})
}
