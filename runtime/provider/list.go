package provider

import (
	"context"

	"github.com/yamlhost/yamlhost/internal/value"
)

// Lister is a Configured provider that can tell what exists, also what others made. Providers may leave it out.
type Lister interface {
	// List returns one page of the resources of a type. Whether the provider can list that type at all shows in the error:
	// an *Error whose Unimplemented is set.
	List(ctx context.Context, r ListRequest) (ListResponse, error)
}

// ListRequest asks for resources that exist.
type ListRequest struct {
	Type  string
	Query value.Value // a map: what the provider is to choose by
	// Limit is how many resources are wanted on all pages together; 0 for all.
	Limit int
	// Continuation is the token of the previous page; empty for the first page.
	Continuation string
}

// ListResponse is a page.
type ListResponse struct {
	Resources    []Listed
	Continuation string // for the next page; empty after the last
	// Unknown reports whether the provider cannot tell before something else exists.
	Unknown bool
}

// Listed is a resource that exists.
type Listed struct {
	ID   string // as Read takes it
	Name string // empty when the provider has none
}

// MaxListed is the most resources that a page may have.
const MaxListed = 100_000

// List asks a provider for a page, if it is a Lister. A type that wraps a Configured passes List on with it.
func List(ctx context.Context, c Configured, r ListRequest) (ListResponse, error) {
	if l, ok := c.(Lister); ok {
		return l.List(ctx, r)
	}
	return ListResponse{}, &Error{Unimplemented: true, Message: "the provider cannot list resources"}
}
