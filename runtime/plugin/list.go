package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/yamlhost/yamlhost/runtime/provider"
)

var _ provider.Lister = (*configured)(nil)

// List asks for one page, which a plugin sends as a stream. It cancels a stream with more than provider.MaxListed
// resources and returns an error.
func (c *configured) List(ctx context.Context, r provider.ListRequest) (provider.ListResponse, error) {
	request := &pulumirpc.ListRequest{Token: r.Type, Limit: int64(r.Limit),
		ContinuationToken: r.Continuation}
	query := sent{"the query", r.Query.MapOrEmpty(), c.request(withoutUnknowns), "query"}
	if err := c.encodeInto(request, query); err != nil {
		return provider.ListResponse{}, err
	}
	what := "list " + r.Type
	ctx, end := context.WithCancel(ctx)
	defer end() // for a stream that is not read to its end
	stream, err := c.remote.List(ctx, request)
	if err != nil {
		return provider.ListResponse{}, c.fail(ctx, what, err)
	}
	var page provider.ListResponse
	for {
		got, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return page, nil
		}
		if err != nil {
			return provider.ListResponse{}, c.fail(ctx, what, err)
		}
		switch x := got.GetResponse().(type) {
		case *pulumirpc.ListResponse_Result_:
			if len(page.Resources) == provider.MaxListed {
				return provider.ListResponse{}, fmt.Errorf("plugin %s lists more than %d of %s at once", c.name,
					provider.MaxListed, r.Type)
			}
			page.Resources = append(page.Resources, provider.Listed{ID: x.Result.GetId(), Name: x.Result.GetName()})
		case *pulumirpc.ListResponse_Continuation_:
			page.Continuation = x.Continuation.GetContinuationToken()
		case *pulumirpc.ListResponse_Computed_:
			page.Unknown = true
		}
	}
}
