package provider

import "context"

// Refusing is a Configured provider that refuses every call. Providers embed it for the calls that they do not
// implement. The function returns the error for the requested item, such as "function pkg:index:get".
type Refusing func(what string) error

// Check refuses.
func (f Refusing) Check(_ context.Context, r CheckRequest) (CheckResponse, error) {
	return CheckResponse{}, f("resource " + r.Type)
}

// Diff refuses.
func (f Refusing) Diff(_ context.Context, r DiffRequest) (DiffResponse, error) {
	return DiffResponse{}, f("resource " + r.Type)
}

// Create refuses.
func (f Refusing) Create(_ context.Context, r CreateRequest) (CreateResponse, error) {
	return CreateResponse{}, f("resource " + r.Type)
}

// Read refuses.
func (f Refusing) Read(_ context.Context, r ReadRequest) (ReadResponse, error) {
	return ReadResponse{}, f("resource " + r.Type)
}

// Update refuses.
func (f Refusing) Update(_ context.Context, r UpdateRequest) (UpdateResponse, error) {
	return UpdateResponse{}, f("resource " + r.Type)
}

// Delete refuses.
func (f Refusing) Delete(_ context.Context, r DeleteRequest) error { return f("resource " + r.Type) }

// Invoke refuses.
func (f Refusing) Invoke(_ context.Context, r InvokeRequest) (InvokeResponse, error) {
	return InvokeResponse{}, f("function " + r.Token)
}

// Call refuses.
func (f Refusing) Call(_ context.Context, r CallRequest) (CallResponse, error) {
	return CallResponse{}, f("method " + r.Token)
}

// Construct refuses.
func (f Refusing) Construct(_ context.Context, r ConstructRequest) (ConstructResponse, error) {
	return ConstructResponse{}, f("component " + r.Type)
}
