package rpc

import (
	"context"
	"fmt"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/internal/value/wire"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// RegisterStackTransform registers a transform of a program in another process (E2.69).
func (s *server) RegisterStackTransform(ctx context.Context, c *pulumirpc.Callback) (*emptypb.Empty, error) {
	registrar, err := s.transformRegistrar()
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, registrar.RegisterStackTransform(ctx, s.transform(c))
}

// RegisterStackInvokeTransform registers a transform of function calls.
func (s *server) RegisterStackInvokeTransform(ctx context.Context, c *pulumirpc.Callback) (*emptypb.Empty, error) {
	registrar, err := s.transformRegistrar()
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, registrar.RegisterStackInvokeTransform(ctx, s.invokeTransform(c))
}

func (s *server) transformRegistrar() (monitor.TransformRegistrar, error) {
	registrar, ok := s.monitor.(monitor.TransformRegistrar)
	if !ok {
		return nil, unsupported("transforms")
	}
	return registrar, nil
}

// transformsOf returns the transforms of one registration.
func (s *server) transformsOf(callbacks []*pulumirpc.Callback) ([]monitor.Transform, error) {
	if len(callbacks) == 0 {
		return nil, nil
	}
	if _, err := s.transformRegistrar(); err != nil {
		return nil, err
	}
	list := make([]monitor.Transform, len(callbacks))
	for i, c := range callbacks {
		list[i] = s.transform(c)
	}
	return list, nil
}

// transform returns a transform that calls the program back (E2.70).
func (s *server) transform(c *pulumirpc.Callback) monitor.Transform {
	return func(ctx context.Context, r monitor.RegisterRequest) (monitor.RegisterRequest, error) {
		request, err := transformRequest(r, c.GetAcceptsByteString())
		if err != nil {
			return r, err
		}
		answer := &pulumirpc.TransformResponse{}
		if err := s.programs.call(ctx, c, request, answer); err != nil {
			return r, err
		}
		return withTransformResponse(r, answer)
	}
}

// invokeTransform returns a transform of function calls that calls the program back.
func (s *server) invokeTransform(c *pulumirpc.Callback) monitor.InvokeTransform {
	return func(ctx context.Context, r monitor.InvokeRequest) (monitor.InvokeRequest, error) {
		args, err := encode(transformEncoding(c.GetAcceptsByteString()), r.Args)
		if err != nil {
			return r, err
		}
		request := &pulumirpc.TransformInvokeRequest{Token: r.Token, Args: args, Options: invokeOptions(r)}
		answer := &pulumirpc.TransformInvokeResponse{}
		if err := s.programs.call(ctx, c, request, answer); err != nil {
			return r, err
		}
		return withTransformInvokeResponse(r, answer)
	}
}

// transformEncoding is lossless except for the kinds of unknowns; byte strings are kept only for callers that know
// them.
func transformEncoding(byteStrings bool) wire.Options {
	o := wire.KeepAll()
	o.KeepUnknownKinds, o.KeepByteStrings = false, byteStrings
	return o
}

// withTransformInvokeResponse applies a transform's answer to a function call.
func withTransformInvokeResponse(r monitor.InvokeRequest, answer *pulumirpc.TransformInvokeResponse) (
	monitor.InvokeRequest, error) {
	var err error
	if answer.GetArgs() != nil {
		if r.Args, err = known("arguments of a transform", answer.GetArgs()); err != nil {
			return r, err
		}
	}
	if o := answer.GetOptions(); o != nil {
		r.Provider, r.Version = o.GetProvider(), o.GetVersion()
		r.PluginDownloadURL, r.PluginChecksums = o.GetPluginDownloadUrl(), orNone(o.GetPluginChecksums())
	}
	return r, nil
}

var _ monitor.TransformRegistrar = (*Client)(nil)

// RegisterStackTransform registers a transform and serves it until the client is closed.
func (c *Client) RegisterStackTransform(ctx context.Context, t monitor.Transform) error {
	return c.announce(ctx, answerTransform(t), c.remote.RegisterStackTransform)
}

// RegisterStackInvokeTransform registers a transform of function calls and serves it until the client is closed.
func (c *Client) RegisterStackInvokeTransform(ctx context.Context, t monitor.InvokeTransform) error {
	return c.announce(ctx, answerInvokeTransform(t), c.remote.RegisterStackInvokeTransform)
}

// announce serves a transform and registers it with the engine.
func (c *Client) announce(ctx context.Context, a answerer,
	register func(context.Context, *pulumirpc.Callback, ...grpc.CallOption) (*emptypb.Empty, error)) error {
	callback, err := c.callbacks.add(a)
	if err != nil {
		return err
	}
	if _, err = register(ctx, callback); isUnimplemented(err) {
		return fmt.Errorf("this engine is too old for transforms")
	}
	return err
}

// offer serves the transforms of a registration.
func (c *callbacks) offer(transforms []monitor.Transform) ([]*pulumirpc.Callback, error) {
	var list []*pulumirpc.Callback
	for _, t := range transforms {
		callback, err := c.add(answerTransform(t))
		if err != nil {
			return nil, err
		}
		list = append(list, callback)
	}
	return list, nil
}

func answerTransform(t monitor.Transform) answerer {
	return answering(func(ctx context.Context, q *pulumirpc.TransformRequest) (proto.Message, error) {
		r, err := withTransformResponse(monitor.RegisterRequest{Type: q.GetType(), Name: q.GetName(),
			Custom: q.GetCustom(), Parent: urn.URN(q.GetParent())},
			&pulumirpc.TransformResponse{Properties: q.GetProperties(), Options: q.GetOptions()})
		if err != nil {
			return nil, err
		}
		if r, err = t(ctx, r); err != nil {
			return nil, err
		}
		changed, err := transformRequest(r, true)
		if err != nil {
			return nil, err
		}
		return &pulumirpc.TransformResponse{Properties: changed.GetProperties(), Options: changed.GetOptions()}, nil
	})
}

func answerInvokeTransform(t monitor.InvokeTransform) answerer {
	return answering(func(ctx context.Context, q *pulumirpc.TransformInvokeRequest) (proto.Message, error) {
		r, err := withTransformInvokeResponse(monitor.InvokeRequest{Token: q.GetToken(), Args: value.EmptyMap()},
			&pulumirpc.TransformInvokeResponse{Args: q.GetArgs(), Options: q.GetOptions()})
		if err != nil {
			return nil, err
		}
		if r, err = t(ctx, r); err != nil {
			return nil, err
		}
		args, err := encode(transformEncoding(true), r.Args)
		if err != nil {
			return nil, err
		}
		return &pulumirpc.TransformInvokeResponse{Args: args, Options: invokeOptions(r)}, nil
	})
}

// invokeOptions returns the options of a call in the format of transforms.
func invokeOptions(r monitor.InvokeRequest) *pulumirpc.TransformInvokeOptions {
	return &pulumirpc.TransformInvokeOptions{Provider: r.Provider, Version: r.Version,
		PluginDownloadUrl: r.PluginDownloadURL, PluginChecksums: r.PluginChecksums}
}
