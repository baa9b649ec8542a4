package check_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/parser/ast/asttest"
	"github.com/yamlhost/yamlhost/schema"
)

var update = flag.Bool("update", false, "rewrite the goldens")

const graphProgram = `name: p
config:
  size: {type: integer, default: 3}
variables:
  label: ${pulumi.stack}-${b.computed}
  unused: {fn::zoo:echo: {value: '${size}'}}
resources:
  a:
    type: zoo:Typed
    properties: {s: '${label}', i: '${size}', obj: {a: '${label}'}}
    options: {dependsOn: ['${c}'], protect: '${flag}'}
  b: {type: 'zoo:Echo', properties: {value: {'${key}': 1}}}
  c: {type: 'zoo:Echo', get: {id: x, state: {s: '${d.id}'}}}
  d: {type: 'zoo:Echo'}
  rand: {type: 'random:RandomPet'}
  prov: {type: 'pulumi:providers:zoo', defaultProvider: true, properties: {region: '${region}'}}
outputs:
  all: ['${a.s}', '${label}', {fn::zoo:echo: {}}]
`

func TestGraph(t *testing.T) { // L9.1–L9.3, L7.45
	t.Parallel()
	p := sound(t, graphProgram, stack("p:key", "k", "p:flag", "true", "p:region", "eu"))
	got, err := json.MarshalIndent(p.Graph(), "", "  ")
	require.NoError(t, err)
	const golden = "testdata/graph.json"
	if *update {
		require.NoError(t, os.WriteFile(golden, append(got, '\n'), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(got))
	for i, n := range p.Nodes {
		require.Equal(t, i, n.Index)
		for _, edge := range n.Needs {
			require.Less(t, edge.To.Index, n.Index, "%s needs %s", n.Name, edge.To.Name)
			require.False(t, edge.Range.IsZero())
		}
	}
}

func TestProgram(t *testing.T) {
	t.Parallel()
	p := sound(t, graphProgram, stack("p:key", "k", "p:flag", "true", "p:region", "eu"))
	require.Equal(t, "p", p.Name)
	require.Equal(t, []schema.Descriptor{{Name: "zoo"}, {Name: "random"}}, p.Packages)

	a := node(t, p, "a")
	require.Equal(t, "zoo:index:Typed", a.Resource.Token)
	require.Equal(t, "prov", a.Resource.DefaultProvider.Name)
	require.Equal(t, "resource(zoo:Typed)", schema.TypeName(a.Type))
	require.Equal(t, "random:index/randomPet:RandomPet", node(t, p, "rand").Resource.Token)
	require.Nil(t, node(t, p, "rand").Resource.DefaultProvider)

	list := p.Outputs[0].Decl.Value.(*ast.List)
	access := list.Items[0].(*ast.Access)
	require.Same(t, a, p.Ref(access).Node)
	require.Equal(t, schema.Type(schema.String), p.TypeOf(access))
	call := p.Call(list.Items[2].(*ast.Call))
	require.Equal(t, "zoo:index:echo", call.Invoke.Token)
	require.Equal(t, "prov", call.Invoke.DefaultProvider.Name)
	require.Nil(t, p.Call(&ast.Call{}))
	require.Equal(t, schema.Type(schema.Invalid), p.TypeOf(&ast.Null{}))
}

func TestDefaultProviderNeeds(t *testing.T) {
	t.Parallel()
	p := sound(t, `
variables: {region: {fn::zoo:echo: {value: 1}}, later: {fn::zoo:echo: {}}}
resources:
  prov: {type: 'pulumi:providers:zoo', defaultProvider: true, properties: {region: '${region.result}'}, options: {version: v2.1.0}}
  e: {type: 'zoo:Echo'}
  explicit: {type: 'zoo:Echo', options: {provider: '${prov}'}}
`)
	call := func(name string) *check.Invoke { return p.Call(node(t, p, name).Variable.Value.(*ast.Call)).Invoke }
	require.Nil(t, call("region").DefaultProvider, "what the provider needs cannot use it")
	require.Equal(t, "prov", call("later").DefaultProvider.Name)
	e := node(t, p, "e").Resource
	require.Equal(t, "prov", e.DefaultProvider.Name)
	require.Equal(t, "2.1.0", e.Package.Version) // L7.46
	require.Nil(t, node(t, p, "explicit").Resource.DefaultProvider)
}

func TestDeclaredPackages(t *testing.T) { // L7.20, L7.21
	t.Parallel()
	declared := func(o *check.Options) {
		o.Packages = []schema.Descriptor{{Name: "zoo", Version: "1.2.3", DownloadURL: "https://x.example"},
			{Name: "terraform-provider", Version: "0.6.0", Parameterization: &schema.Parameterization{Name: "random",
				Version: "4.0.0", Value: []byte("x")}}}
	}
	p := sound(t,
		"resources:\n  a: {type: 'zoo:Echo'}\n  b: {type: 'random:RandomPet'}\n  c: {type: 'zoo:Echo', options: {version: "+
			"2.0.0}}", declared)
	require.Equal(t, "1.2.3", node(t, p, "a").Resource.Package.Version)
	require.Equal(t, "terraform-provider", node(t, p, "b").Resource.Package.Name)
	require.Equal(t, "2.0.0", node(t, p, "c").Resource.Package.Version)
	require.Len(t, p.Packages, 3)
}

func TestCycles(t *testing.T) { // L9.5
	t.Parallel()
	cycles := func(text string) []string {
		_, diags := checkText(t, "Main.yaml", text)
		var found []string
		for _, d := range diags {
			require.Equal(t, diag.Cycle, d.Code, d.Summary)
			found = append(found, strings.TrimPrefix(d.Summary, "cycle: "))
			require.Equal(t, strings.Count(d.Summary, "→"), len(d.Related))
		}
		return found
	}
	require.Equal(t, []string{"a → b → a", "a → c → a"}, cycles("variables: {a: '${b}${c}', b: '${a}', c: '${a}'}"))
	require.Equal(t, []string{"a → a", "b → c → b"}, cycles("variables: {a: '${a}', b: '${c}', c: '${b}', d: '${a}${b}'}"))
	require.Equal(t, []string{"a → b → a"}, cycles(`
resources:
  a: {type: 'zoo:Echo', options: {dependsOn: ['${b}']}}
  b: {type: 'zoo:Echo', get: {id: x, state: {s: '${a.s}'}}}`))

	var chain strings.Builder
	chain.WriteString("variables:\n")
	const long = 20_000
	for i := range long {
		fmt.Fprintf(&chain, "  v%d: ${v%d}\n", i, (i+1)%long)
	}
	require.Len(t, cycles(chain.String()), 1)
}

func TestTypes(t *testing.T) { // L8.A
	t.Parallel()
	const program = `
resources:
  e: {type: 'zoo:Echo'}
  t: {type: 'zoo:Typed', properties: {s: x}}
variables:
  v: `
	for text, want := range map[string]string{
		"1":                           "integer",
		"1.5":                         "number",
		"null":                        "null",
		"[]":                          "list<any>",
		"[1, 2.5]":                    "list<number>",
		"[1, x]":                      "list<integer or string>",
		"[x, null]":                   "list<string?>",
		"{a: 1}":                      "object",
		"{'${e.id}': 1}":              "map<integer>",
		"x${e.id}":                    "string",
		"${e}":                        "resource(zoo:Echo)",
		"${e.clist[0]}":               "string",
		"${e.cmap}":                   "map<string>",
		"${t.ul}":                     "(list<string> or list<number>)?",
		"${t.ul[0]}":                  "string or number",
		"${t.pet.kind}":               "string",
		"{fn::length: x}":             "integer",
		"{fn::toJSON: x}":             "string",
		"{fn::secret: [1]}":           "list<integer>",
		"{fn::select: [0, [a]]}":      "string",
		"{fn::stringAsset: x}":        "asset",
		"{fn::zoo:scalar: {text: x}}": "string",
		"{fn::invoke: {function: 'zoo:echo', return: list}}": "list<string>",
		"${e.num + 1}":                        "integer",
		"${e.num / 2 > 1 && !true}":           "bool",
		"'${e.num == 1 ? \"a\" : 2}'":         "string or integer",
		"'${[for x in e.clist : length(x)]}'": "list<integer>",
		"'${{for k, v in e.cmap : k => v}}'":  "map<string>",
		"'${t.obj.deep[*].b}'":                "list<integer?>",
	} {
		t.Run(text, func(t *testing.T) {
			p := sound(t, program+text)
			require.Equal(t, want, schema.TypeName(node(t, p, "v").Type))
		})
	}
}

func TestPortability(t *testing.T) { // D6
	t.Parallel()
	_, diags := checkText(t, "Main.yaml", "variables: {a: {fn::if: [true, 1, 2]}, b: {fn::join: ['', []]}, c: '${1 + 2}'}")
	require.NotEmpty(t, diags)
	for _, d := range diags {
		require.Equal(t, diag.Portability, d.Severity)
		require.Equal(t, diag.YamlhostOnly, d.Code)
	}
}

// TestEveryKindHasAType fails if the checker lacks a case for a kind of expression.
func TestEveryKindHasAType(t *testing.T) {
	t.Parallel()
	for _, e := range asttest.Kinds() {
		switch e := e.(type) {
		case *ast.Unary:
			e.Operand = &ast.Null{}
		case *ast.Binary:
			e.Left, e.Right = &ast.Null{}, &ast.Null{}
		case *ast.Conditional:
			e.Condition, e.Then, e.Else = &ast.Null{}, &ast.Null{}, &ast.Null{}
		case *ast.Index:
			e.Collection, e.Key = &ast.Null{}, &ast.Null{}
		case *ast.Member:
			e.Object = &ast.Null{}
		case *ast.Splat:
			e.Source, e.Item, e.Each = &ast.Null{}, &ast.Local{}, &ast.Null{}
		case *ast.For:
			e.ValueName, e.Collection, e.Value = &ast.Local{}, &ast.Null{}, &ast.Null{}
		case *ast.LocalRef:
			e.Local = &ast.Local{}
		}
		file := &ast.File{Body: ast.Body{Variables: []*ast.Variable{{Name: ast.Literal{Value: "v"}, Value: e}}}}
		require.NotPanics(t, func() { check.Check(t.Context(), file, check.Options{Project: "p"}) }, "%T", e)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(graphProgram)
	files, err := os.ReadDir("testdata/faults")
	require.NoError(f, err)
	for _, file := range files {
		text, err := os.ReadFile("testdata/faults/" + file.Name())
		require.NoError(f, err)
		f.Add(string(text))
	}
	schemas := loader()
	f.Fuzz(func(t *testing.T, text string) {
		file, _ := parser.Parse(diag.NewSource("Main.yaml", []byte(text)), parser.Options{})
		p, diags := check.Check(t.Context(), file, check.Options{Project: "p", Schemas: schemas})
		p.Graph()
		for _, d := range diags {
			if d.Summary == "" || int(d.Subject.End) > len(text) {
				t.Errorf("bad diagnostic %+v", d)
			}
		}
	})
}

// L10.C16: types of the dynamic providers of Pulumi's SDKs have no schema; any member is allowed.
func TestDynamicTypesOfSDKs(t *testing.T) {
	t.Parallel()
	program, found := checkText(t, "Main.yaml", `resources:
  a: {type: 'pulumi-nodejs:dynamic:Resource', properties: {__provider: code, x: 1}}
  b: {type: 'pulumi-python:dynamic/notes:Note', properties: {__provider: code, x: "${a.whatever.it[0].is}"}}
outputs: {o: "${b.made}"}
`, func(o *check.Options) { o.Schemas = builtinLoader() })
	require.False(t, found.HasErrors(), "%v", found)
	require.Empty(t, program.Packages, "nothing has to be installed for them")
	_, found = checkText(t, "Main.yaml", "resources:\n  a: {type: 'pulumi-nodejs:other:Resource'}\n",
		func(o *check.Options) { o.Schemas = builtinLoader() })
	require.True(t, found.HasErrors())
}

// The first collection after a check frees what only the check needed: nothing else may hold the types that a program
// has forgotten.
func TestForgottenTypesAreFreed(t *testing.T) {
	program := sound(t, `
resources:
  one: {type: 'zoo:Typed', properties: {s: x, obj: {a: '${pulumi.stack}'}}}
`)
	typ, isObject := program.TypeOf(program.File.Resources[0].Properties[1].Value).(*schema.Object)
	require.True(t, isObject)
	held := weak.Make(typ)
	program.ForgetTypes()
	runtime.GC()
	require.Nil(t, held.Value())
	runtime.KeepAlive(program)
}
