package eval_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/monitor/monitortest"
	"github.com/yamlhost/yamlhost/schema"
)

// zoo acts as the provider zoo, whose schema is testdata/zoo.json.
type zoo struct {
	recorder *monitortest.Recorder
	fail     []string // names of resources whose registration fails; the engine reports them
	refuse   []string // names of resources whose check fails at the property value
	skip     []string // names of resources that the engine leaves out
	stop     string   // name of the resource whose registration ends the deployment
}

func newZoo(preview bool) *zoo {
	z := &zoo{}
	z.recorder = &monitortest.Recorder{
		Deployment: monitor.Info{Project: "proj", Stack: "dev", Organization: "org", DryRun: preview},
		Register:   z.register, Read: z.read, Function: z.function, Method: z.method,
	}
	return z
}

func entries(pairs ...any) value.Value {
	list := make([]value.Entry, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, value.Entry{Key: pairs[i].(string), Value: pairs[i+1].(value.Value)})
	}
	return value.MapOf(list...)
}

func (z *zoo) register(g monitor.RegisterRequest) (monitor.RegisterResponse, error) {
	preview := z.recorder.Deployment.DryRun
	response := monitor.RegisterResponse{Outputs: g.Inputs, Known: !preview}
	if g.Custom {
		response.ID = value.String("id-" + g.Name)
		if preview {
			response.ID = value.Unknown(value.KindString)
		}
	}
	switch {
	case g.Name == z.stop:
		return response, fmt.Errorf("registering: %w", monitor.ErrShutdown)
	case slices.Contains(z.fail, g.Name):
		response.Result = monitor.Failed
	case slices.Contains(z.skip, g.Name):
		response.Result = monitor.Skipped
	case slices.Contains(z.refuse, g.Name):
		text, _ := value.Text(g.Inputs.Get("value"))
		shown, _ := text.AsString()
		return response, &monitor.FailuresError{Token: g.Type,
			Failures: []monitor.Failure{{Property: "value", Reason: "does not like " + shown}}}
	}
	if preview {
		return response, nil
	}
	if !urn.IsProviderType(g.Type) {
		response.Outputs = response.Outputs.With("computed", value.String("c-"+g.Name))
	}
	switch g.Type {
	case "zoo:index:Echo":
		response.Outputs = response.Outputs.
			With("clist", value.List(value.String("x"), value.String("y"))).
			With("cmap", entries("k", value.String("v"))).
			With("num", value.Int(1048576))
	case "zoo:index:Typed":
		response.Outputs = response.Outputs.With("osec", value.String("hush"))
	case "zoo:index:Pen":
		door := urn.New("dev", "proj", "", "zoo:index:Echo", g.Name+"-door")
		response.Outputs = entries("door", value.Resource(&value.ResourceRef{URN: door, ID: value.String("id-door")}))
		response.PropertyDependencies = map[string][]urn.URN{"door": {door}}
	}
	return response, nil
}

func (z *zoo) read(g monitor.ReadRequest) (monitor.ReadResponse, error) {
	response := monitor.ReadResponse{ID: g.ID, Known: g.ID.IsKnown()}
	id, ok := g.ID.AsString()
	switch {
	case !ok:
		response.Outputs = value.EmptyMap()
	case g.Type == "pulumi:pulumi:StackReference":
		if id == "org/none/dev" {
			return response, fmt.Errorf("unknown stack %q", id)
		}
		response.Outputs = entries("name", g.ID, "outputs", entries("vpc", value.String("vpc-"+id), "key",
			value.String("hush").Secret()), "secretOutputNames", value.List(value.String("key")))
	default:
		response.Outputs = g.State.With("computed", value.String("read-"+id))
	}
	return response, nil
}

func (z *zoo) function(g monitor.InvokeRequest) (monitor.InvokeResponse, error) {
	switch g.Token {
	case "zoo:index:echo":
		text, err := value.Text(g.Args.Get("value").Bare())
		if err != nil {
			text = value.String("many")
		}
		return monitor.InvokeResponse{Result: entries("value", g.Args.Get("value").Bare(), "result", text, "list",
			value.List(text))}, nil
	case "zoo:index:scalar":
		return monitor.InvokeResponse{Result: entries("result", g.Args.Get("text").Bare())}, nil
	case "zoo:index:secretFn":
		return monitor.InvokeResponse{Result: entries("open", value.String("o"), "hidden", value.String("h").Secret())}, nil
	case "zoo:mod/getThing:getThing":
		return monitor.InvokeResponse{Result: entries("s", g.Args.Get("id").Bare())}, nil
	case "zoo:index:fails":
		why, _ := g.Args.Get("why").AsString()
		return monitor.InvokeResponse{Failures: []monitor.Failure{{Property: "why", Reason: "refused: " + why}}}, nil
	case "pulumi:pulumi:getResource":
		text, _ := g.Args.Get("urn").AsString()
		return monitor.InvokeResponse{Result: entries("urn", value.String(text), "id", value.String("id-door"),
			"state", entries("computed", value.String("c-"+urn.URN(text).Name())))}, nil
	}
	return monitor.InvokeResponse{}, errors.New("no such function")
}

func (z *zoo) method(g monitor.CallRequest) (monitor.CallResponse, error) {
	self, _ := g.Args.Get("__self__").AsResource()
	switch g.Token {
	case "zoo:index:Pen/open":
		if z.recorder.Deployment.DryRun {
			return monitor.CallResponse{Result: value.EmptyMap()}, nil
		}
		return monitor.CallResponse{Result: entries("wide", value.Bool(true))}, nil
	case "zoo:index:Pen/measure":
		unit, _ := g.Args.Get("unit").AsString()
		if unit == "inch" {
			return monitor.CallResponse{Failures: []monitor.Failure{{Property: "unit", Reason: "not here: " + unit}}}, nil
		}
		return monitor.CallResponse{
			Result: entries("text", value.String(unit+" of "+self.URN.Name()), "size", value.Int(3),
				"marks", value.Strings([]string{"first", "second"})),
			ReturnDependencies: map[string][]urn.URN{"size": {urn.New("dev", "proj", "", "zoo:index:Echo", "measured")}},
		}, nil
	}
	return monitor.CallResponse{}, errors.New("no such method " + g.Token)
}

var errNoPackage = fmt.Errorf("%w", schema.ErrNotFound)

// load checks a program against the schema of the zoo.
func load(tb testing.TB, text string, config map[string]check.ConfigText) (*check.Program, diag.Diagnostics) {
	tb.Helper()
	file, findings := parse(text)
	program, more := check.Check(context.Background(), file, check.Options{
		Project: "proj", Schemas: zooLoader(tb), Config: config, ConfigKnown: true,
	})
	program.ForgetTypes() // as a run does
	return program, append(findings, more...)
}

func parse(text string) (*ast.File, diag.Diagnostics) {
	return parser.Parse(diag.NewSource("Main.yaml", []byte(text)), parser.Options{})
}

func zooLoader(tb testing.TB) schema.Loader {
	tb.Helper()
	text, err := os.ReadFile("testdata/zoo.json")
	require.NoError(tb, err)
	return schema.NewLoader(func(_ context.Context, d schema.Descriptor) ([]byte, error) {
		if d.Name == "field" {
			return []byte(`{"name": "field", "version": "1.0.0", "provider": {}, "resources": {}}`), nil
		}
		if d.Name != "zoo" && d.PackageName() != "zoo" {
			return nil, errNoPackage
		}
		return text, nil
	})
}

// options returns the options of all tests: one worker, so that nodes run in the program's order.
func options() eval.Options {
	return eval.Options{
		Cwd: "/srv/prog", RootDirectory: "/srv", Workers: 1, EngineVersion: "3.260.0",
		ReadFile: func(path string) ([]byte, error) {
			if path == "/srv/prog/motd.txt" {
				return []byte("hello\n"), nil
			}
			return nil, &os.PathError{Op: "open", Path: path, Err: os.ErrNotExist}
		},
	}
}

// describe returns findings as text for golden files.
func describe(findings diag.Diagnostics) string {
	var b strings.Builder
	for _, d := range findings {
		start, end := d.Subject.StartPosition(), d.Subject.EndPosition()
		fmt.Fprintf(&b, "%d:%d-%d:%d %s %s: %s\n", start.Line, start.Column, end.Line, end.Column, d.Severity, d.Code,
			d.Summary)
		if d.Detail != "" {
			fmt.Fprintf(&b, "  %s\n", d.Detail)
		}
	}
	return b.String()
}
