package langhost

import (
	"context"
	"errors"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/proto/go/codegen"
	"google.golang.org/grpc/status"

	"github.com/yamlhost/yamlhost/internal/transport"
	"github.com/yamlhost/yamlhost/schema"
)

// schemasIfAny is like schemas, but returns a nil loader if neither the engine nor the options offer one.
func (h *Host) schemasIfAny(target string) (_ schema.Loader, close func(), err error) {
	if target == "" && h.options.Schemas == nil {
		return nil, func() {}, nil
	}
	return h.schemas(target)
}

// schemas returns the schema loader of the engine at target, or our own if target is empty (F9.15). The caller must
// call close.
func (h *Host) schemas(target string) (_ schema.Loader, close func(), err error) {
	if target == "" {
		if h.options.Schemas == nil {
			return nil, nil, errors.New("the engine names no schema loader")
		}
		return schema.NewLoader(h.options.Schemas), func() {}, nil
	}
	conn, err := transport.Dial(target)
	if err != nil {
		return nil, nil, fmt.Errorf("connect to the schema loader at %s: %w", target, err)
	}
	client := codegen.NewLoaderClient(conn)
	fetch := func(ctx context.Context, d schema.Descriptor) ([]byte, error) {
		request := &codegen.GetSchemaRequest{Package: d.Name, Version: d.Version, DownloadUrl: d.DownloadURL}
		if p := d.Parameterization; p != nil {
			request.Parameterization = &codegen.Parameterization{Name: p.Name, Version: p.Version, Value: p.Value}
		}
		got, err := client.GetSchema(ctx, request)
		if err != nil {
			return nil, errors.New(status.Convert(err).Message())
		}
		return got.GetSchema(), nil
	}
	return schema.NewLoader(fetch), func() { _ = conn.Close() }, nil
}
