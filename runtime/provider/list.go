package provider

import (
	"context"

	"github.com/yamlhost/yamlhost/internal/value"
)

// Lister is a Configured provider that can list existing resources, including those created elsewhere. Implementing it
// is optional.
type Lister interface {
	// List returns one page of the resources of a type. If the provider cannot list that type at all, the error is an
	// *Error with Unimplemented set.
	List(ctx context.Context, r ListRequest) (ListResponse, error)
}

// ListRequest asks for existing resources.
type ListRequest struct {
	Type  string
	Query value.Value // a map: the provider's filter
	// Limit is the maximum number of resources on all pages together; 0 for all.
	Limit int
	// Continuation is the token of the previous page; empty for the first page.
	Continuation string
}

// ListResponse is one page of resources.
type ListResponse struct {
	Resources    []Listed
	Continuation string // token for the next page; empty after the last
	// Unknown reports whether the result depends on something that does not exist yet.
	Unknown bool
}

// Listed is an existing resource.
type Listed struct {
	ID   string // in the form that Read accepts
	Name string // empty if the provider has none
}

// MaxListed is the maximum number of resources on a page.
const MaxListed = 100_000

// List returns a page of resources if c is a Lister. A type that wraps a Configured must forward List itself.
func List(ctx context.Context, c Configured, r ListRequest) (ListResponse, error) {
	if l, ok := c.(Lister); ok {
		return l.List(ctx, r)
	}
	return ListResponse{}, &Error{Unimplemented: true, Message: "the provider cannot list resources"}
}
