package main

import (
	"context"
	"errors"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/tools/bench/noop"
)

// zoo is the provider of the evaluator's archives: the outputs of a resource are its inputs, and functions return
// their arguments.
type zoo struct {
	noop.Provider
	schema []byte
}

func newZoo(schema []byte) *zoo { return &zoo{schema: schema} }

func (z *zoo) Info(context.Context) (provider.Info, error) { return provider.Info{Name: "zoo"}, nil }

func (z *zoo) Schema(context.Context, provider.SchemaRequest) ([]byte, error) { return z.schema, nil }

func (z *zoo) Configure(context.Context, provider.ConfigureRequest) (provider.Configured, error) {
	return z, nil
}

func (z *zoo) Check(_ context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	if text, _ := r.News.Get("value").AsString(); text == "refused" {
		return provider.CheckResponse{Inputs: r.News, Failures: []provider.Failure{{Property: "value",
			Reason: "does not like it"}}}, nil
	}
	return provider.CheckResponse{Inputs: r.News}, nil
}

func (z *zoo) Diff(_ context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	if value.Equal(r.OldInputs, r.News) {
		return provider.DiffResponse{Changes: provider.DiffNone}, nil
	}
	return provider.DiffResponse{Changes: provider.DiffSome}, nil
}

func (z *zoo) outputs(s provider.Subject, inputs value.Value) value.Value {
	out := inputs.With("computed", value.String("c-"+s.Name))
	switch s.Type {
	case "zoo:index:Echo":
		out = out.With("clist", value.List(value.String("x"), value.String("y"))).
			With("cmap", value.MapOf(value.Entry{Key: "k", Value: value.String("v")})).With("num", value.Int(1048576))
	case "zoo:index:Typed":
		out = out.With("osec", value.String("hush"))
	}
	return out
}

func (z *zoo) Create(_ context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	if r.Preview {
		return provider.CreateResponse{Outputs: r.Inputs}, nil
	}
	return provider.CreateResponse{ID: "id-" + r.Name, Outputs: z.outputs(r.Subject, r.Inputs)}, nil
}

func (z *zoo) Update(_ context.Context, r provider.UpdateRequest) (provider.UpdateResponse, error) {
	return provider.UpdateResponse{Outputs: z.outputs(r.Subject, r.News)}, nil
}

func (z *zoo) Read(_ context.Context, r provider.ReadRequest) (provider.ReadResponse, error) {
	return provider.ReadResponse{ID: r.ID, Inputs: r.Inputs, Outputs: r.Outputs.With("computed",
		value.String("read-"+r.ID))}, nil
}

func (z *zoo) Invoke(_ context.Context, r provider.InvokeRequest) (provider.InvokeResponse, error) {
	result := func(pairs ...value.Entry) (provider.InvokeResponse, error) {
		return provider.InvokeResponse{Result: value.MapOf(pairs...)}, nil
	}
	switch r.Token {
	case "zoo:index:echo":
		text, err := value.Text(r.Args.Get("value"))
		if err != nil {
			text = value.String("many")
		}
		return result(value.Entry{Key: "value", Value: r.Args.Get("value")}, value.Entry{Key: "result", Value: text},
			value.Entry{Key: "list", Value: value.List(text)})
	case "zoo:index:scalar":
		return result(value.Entry{Key: "result", Value: r.Args.Get("text")})
	case "zoo:index:secretFn":
		return result(value.Entry{Key: "open", Value: value.String("o")}, value.Entry{Key: "hidden",
			Value: value.String("h").Secret()})
	case "zoo:mod/getThing:getThing":
		return result(value.Entry{Key: "s", Value: r.Args.Get("id")})
	case "zoo:index:fails":
		why, _ := r.Args.Get("why").AsString()
		return provider.InvokeResponse{Failures: []provider.Failure{{Property: "why", Reason: "refused: " + why}}}, nil
	}
	return provider.InvokeResponse{}, errors.New("no such function")
}
