package monitor

import "context"

// Transform changes what a program asks for before anything is done about it (E2.70). It gets a registration whose
// inputs carry their dependencies, with the provider found and the options of the parent applied, and returns the
// registration to use. It may not change type, name, parent and kind of the resource. An error fails the registration.
type Transform func(ctx context.Context, r RegisterRequest) (RegisterRequest, error)

// InvokeTransform changes the arguments and the provider, version, URL and checksums of a function call.
type InvokeTransform func(ctx context.Context, r InvokeRequest) (InvokeRequest, error)

// TransformRegistrar is a Monitor that lets programs change what they and their components ask for (E2.69–E2.74). A
// Monitor that does not implement it has no transforms, and ignores the ones in a RegisterRequest.
type TransformRegistrar interface {
	// RegisterStackTransform applies t to every resource that is registered from now on, after the resource's own
	// transforms and its ancestors', in the order in which transforms are registered.
	RegisterStackTransform(ctx context.Context, t Transform) error
	// RegisterStackInvokeTransform applies t to every function call from now on.
	RegisterStackInvokeTransform(ctx context.Context, t InvokeTransform) error
}
