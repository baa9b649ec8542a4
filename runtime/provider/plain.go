package provider

import "context"

// Plain is what providers have in common that only manage resources: it accepts every configuration, and has no
// parameters, schema, functions, methods and components. They embed it.
type Plain struct{}

// Parameterize refuses.
func (Plain) Parameterize(context.Context, ParameterizeRequest) (ParameterizeResponse, error) {
	return ParameterizeResponse{}, lacks("parameters")
}

// Schema refuses.
func (Plain) Schema(context.Context, SchemaRequest) ([]byte, error) { return nil, lacks("schema") }

// CheckConfig accepts every configuration.
func (Plain) CheckConfig(_ context.Context, r CheckRequest) (CheckResponse, error) {
	return CheckResponse{Inputs: r.News}, nil
}

// DiffConfig never finds a difference.
func (Plain) DiffConfig(context.Context, DiffRequest) (DiffResponse, error) {
	return DiffResponse{Changes: DiffNone}, nil
}

// Cancel has nothing to cancel.
func (Plain) Cancel(context.Context) error { return nil }

// Close has nothing to close.
func (Plain) Close() error { return nil }

// Invoke refuses.
func (Plain) Invoke(_ context.Context, r InvokeRequest) (InvokeResponse, error) {
	return InvokeResponse{}, lacks("function " + r.Token)
}

// Call refuses.
func (Plain) Call(_ context.Context, r CallRequest) (CallResponse, error) {
	return CallResponse{}, lacks("method " + r.Token)
}

// Construct refuses.
func (Plain) Construct(_ context.Context, r ConstructRequest) (ConstructResponse, error) {
	return ConstructResponse{}, lacks("component " + r.Type)
}

func lacks(what string) error {
	return &Error{Message: "the provider has no " + what, Unimplemented: true}
}
