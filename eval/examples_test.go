package eval_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/monitor/monitortest"
	"github.com/yamlhost/yamlhost/schema"
)

// docsSchema is the package that examples in documentation use.
const docsSchema = "testdata/docs.json"

// docsMonitor serves the stack dev of the project docs: a provider docs, whose resources return their inputs and the
// outputs in testdata/docs.json, and the stack organization/network/prod.
func docsMonitor() *monitortest.Recorder {
	r := &monitortest.Recorder{Deployment: monitor.Info{Project: "docs", Stack: "dev", Organization: "organization"}}
	r.Register = func(g monitor.RegisterRequest) (monitor.RegisterResponse, error) {
		response := monitor.RegisterResponse{Outputs: g.Inputs, Known: true}
		if g.Custom {
			response.ID = value.String("id-" + g.Name)
		}
		if g.Type == "docs:index:Server" {
			response.Outputs = g.Inputs.With("address", value.String("10.0.0.7")).With("password", value.String("hush").Secret())
		}
		return response, nil
	}
	r.Read = func(g monitor.ReadRequest) (monitor.ReadResponse, error) {
		response := monitor.ReadResponse{ID: g.ID, Outputs: g.State, Known: true}
		if g.Type == "pulumi:pulumi:StackReference" {
			response.Outputs = entries("name", g.ID, "outputs", entries("vpcId", value.String("vpc-1")))
		}
		return response, nil
	}
	r.Function = func(g monitor.InvokeRequest) (monitor.InvokeResponse, error) {
		family, _ := g.Args.Get("family").AsString()
		return monitor.InvokeResponse{Result: entries("id", value.String("img-"+family))}, nil
	}
	r.Method = func(g monitor.CallRequest) (monitor.CallResponse, error) {
		self, _ := g.Args.Get("__self__").AsResource()
		count, _ := value.Text(g.Args.Get("count"))
		text, _ := count.AsString()
		return monitor.CallResponse{Result: entries("answer", value.String(text+" pings to "+self.URN.Name()))}, nil
	}
	return r
}

// runDocs checks and runs a program of the documentation.
func runDocs(t *testing.T, text string) (eval.Result, diag.Diagnostics) {
	t.Helper()
	return runDocsWith(t, text, nil, nil)
}

// runDocsWith is runDocs with the configuration of a stack and texts to include.
func runDocsWith(t *testing.T, text string, config map[string]check.ConfigText,
	include func(string) ([]*diag.Source, error)) (eval.Result, diag.Diagnostics) {
	t.Helper()
	file, findings := parser.Parse(diag.NewSource("Main.yaml", []byte(text)), parser.Options{Include: include})
	bytes, err := os.ReadFile(docsSchema)
	require.NoError(t, err)
	program, more := check.Check(context.Background(), file, check.Options{Project: "docs", Config: config,
		ConfigKnown: true,
		Schemas: schema.NewLoader(func(_ context.Context, d schema.Descriptor) ([]byte, error) {
			if d.PackageName() != "docs" {
				return nil, errNoPackage
			}
			return bytes, nil
		})})
	findings = append(findings, more...)
	if findings.HasErrors() {
		return eval.Result{}, findings
	}
	result, more := eval.Run(context.Background(), program, docsMonitor(), eval.Options{
		Cwd: "/srv/prog", RootDirectory: "/srv", Workers: 1, ReadFile: options().ReadFile, ParseData: parser.Data,
		Bundle:   plainWorld{}.bundle,
		AllowEnv: true, Getenv: func(name string) (string, bool) { return "eu", name == "REGION" },
	})
	return result, append(findings, more...)
}

// TestExamplesOfFunctions evaluates the example of each function, as a call in YAML and inside ${…}. It must give the
// documented result. (This covers all rules of L6.B.)
func TestExamplesOfFunctions(t *testing.T) {
	t.Parallel()
	for _, f := range builtins.Table() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			var text strings.Builder
			text.WriteString("resources:\n  server: {type: docs:index:Server, name: web, properties: {size: small}}\noutputs:\n")
			fmt.Fprintf(&text, "  yaml:\n    %s\n", strings.ReplaceAll(strings.TrimRight(f.Example, "\n"), "\n", "\n    "))
			if f.Call != "" {
				fmt.Fprintf(&text, "  expression: '${%s}'\n", strings.ReplaceAll(f.Call, "'", "''"))
			}
			result, findings := runDocs(t, text.String())
			require.False(t, findings.HasErrors(), describe(findings))
			require.Equal(t, f.Gives, promised(result.Outputs.Get("yaml")), f.Example)
			if f.Call != "" {
				require.Equal(t, f.Gives, promised(result.Outputs.Get("expression")), f.Call)
			}
		})
	}
}

// promised formats a value as the records of functions and the documentation do: as JSON with spaces, with words for
// secrets, assets and archives. A missing value is null.
func promised(v value.Value) string {
	if !v.IsKnown() {
		return "unknown"
	}
	if v.IsSecret() {
		return "secret " + promised(v.Bare())
	}
	if items, ok := v.AsList(); ok {
		texts := make([]string, len(items))
		for i, item := range items {
			texts[i] = promised(item)
		}
		return "[" + strings.Join(texts, ", ") + "]"
	}
	if v.Is(value.KindMap) {
		texts := make([]string, v.Len())
		for i, key := range v.Keys() {
			texts[i] = promised(value.String(key)) + ": " + promised(v.At(i))
		}
		return "{" + strings.Join(texts, ", ") + "}"
	}
	if text, ok := v.AsString(); ok {
		return strconv.Quote(text)
	}
	if a, ok := v.AsAsset(); ok {
		return "asset of the " + source(a.Path, a.URI, a.Text)
	}
	if a, ok := v.AsArchive(); ok {
		if a.Assets.Is(value.KindMap) {
			return "archive of " + promised(a.Assets)
		}
		return "archive of the " + source(a.Path, a.URI, "")
	}
	if r, ok := v.AsResource(); ok {
		return "resource " + r.URN.Name()
	}
	text, err := value.AppendJSON(nil, v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func source(path, uri, text string) string {
	switch {
	case path != "":
		return "file " + strconv.Quote(path)
	case uri != "":
		return "address " + strconv.Quote(uri)
	}
	return "text " + strconv.Quote(text)
}
