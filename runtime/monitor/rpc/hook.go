package rpc

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/internal/transport"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/wire"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

var _ monitor.HookRegistrar = (*Client)(nil)

// callbacks is the server that the engine calls for hooks and transforms of the program. It is safe for concurrent use.
type callbacks struct {
	pulumirpc.UnimplementedCallbacksServer

	mu      sync.Mutex // guards the rest
	end     func()     // stops the server; nil before it is started
	address string
	answers map[string]answerer // by token
}

// answerer answers a request, which it decodes itself. It returns an error if it cannot answer.
type answerer func(ctx context.Context, request []byte) (proto.Message, error)

// add adds a callback, and starts the server for the first one.
func (c *callbacks) add(a answerer) (*pulumirpc.Callback, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end == nil {
		var err error
		c.address, c.end, err = transport.Serve("callbacks", func(s *grpc.Server) {
			pulumirpc.RegisterCallbacksServer(s, c)
		})
		if err != nil {
			return nil, err
		}
		c.answers = map[string]answerer{}
	}
	token := strconv.Itoa(len(c.answers))
	c.answers[token] = a
	return &pulumirpc.Callback{Target: c.address, Token: token, AcceptsByteString: true}, nil
}

func (c *callbacks) stop() {
	c.mu.Lock()
	end := c.end
	c.mu.Unlock()
	if end != nil {
		end()
	}
}

// RegisterHook registers a hook and serves it until the client is closed.
func (c *Client) RegisterHook(ctx context.Context, h monitor.Hook) error {
	callback, err := c.callbacks.add(answerHook(h))
	if err != nil {
		return err
	}
	if h.OnError {
		_, err = c.remote.RegisterErrorHook(ctx, &pulumirpc.RegisterErrorHookRequest{Name: h.Name, Callback: callback})
	} else {
		_, err = c.remote.RegisterResourceHook(ctx, &pulumirpc.RegisterResourceHookRequest{
			Name: h.Name, Callback: callback, OnDryRun: h.OnDryRun, IgnoreErrors: h.IgnoreErrors,
		})
	}
	if isUnimplemented(err) {
		return fmt.Errorf("this engine is too old to run the hook %s", h.Name)
	}
	return err
}

// Invoke answers the engine. An error of a hook is part of the response, never a failure of the call.
func (c *callbacks) Invoke(ctx context.Context, r *pulumirpc.CallbackInvokeRequest) (*pulumirpc.CallbackInvokeResponse,
	error) {
	c.mu.Lock()
	answer, found := c.answers[r.GetToken()]
	c.mu.Unlock()
	if !found {
		return nil, status.Error(codes.NotFound, "there is no callback with this token")
	}
	message, err := answer(ctx, r.GetRequest())
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	bytes, err := proto.Marshal(message)
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &pulumirpc.CallbackInvokeResponse{Response: bytes}, nil
}

// answering returns an answerer that decodes each request for answer.
func answering[M any, P interface {
	*M
	proto.Message
}](answer func(ctx context.Context, request P) (proto.Message, error)) answerer {
	return func(ctx context.Context, request []byte) (proto.Message, error) {
		m := P(new(M))
		if err := proto.Unmarshal(request, m); err != nil {
			return nil, err
		}
		return answer(ctx, m)
	}
}

func answerHook(h monitor.Hook) answerer {
	if !h.OnError {
		return answering(func(ctx context.Context, r *pulumirpc.ResourceHookRequest) (proto.Message, error) {
			args, err := hookArgs(r, r.GetNewOutputs())
			if err != nil {
				return nil, err
			}
			_, failure := runHook(ctx, h, args)
			return &pulumirpc.ResourceHookResponse{Error: failure}, nil
		})
	}
	return answering(func(ctx context.Context, r *pulumirpc.ErrorHookRequest) (proto.Message, error) {
		args, err := hookArgs(r, nil)
		if err != nil {
			return nil, err
		}
		args = args.With("failedOperation", value.String(r.GetFailedOperation())).
			With("errors", value.Strings(r.GetErrors()))
		retry, failure := runHook(ctx, h, args)
		return &pulumirpc.ErrorHookResponse{Retry: retry, Error: failure}, nil
	})
}

// hookRequest has the common methods of both kinds of hook requests.
type hookRequest interface {
	GetUrn() string
	GetId() string
	GetName() string
	GetType() string
	GetNewInputs() *structpb.Struct
	GetOldInputs() *structpb.Struct
	GetOldOutputs() *structpb.Struct
}

// hookArgs returns the arguments of the hook for a request. newOutputs is nil for an error hook.
func hookArgs(r hookRequest, newOutputs *structpb.Struct) (value.Value, error) {
	args := map[string]value.Value{
		"urn": value.String(r.GetUrn()), "id": value.String(r.GetId()), "name": value.String(r.GetName()),
		"type": value.String(r.GetType()),
	}
	for name, s := range map[string]*structpb.Struct{"newInputs": r.GetNewInputs(), "oldInputs": r.GetOldInputs(),
		"newOutputs": newOutputs, "oldOutputs": r.GetOldOutputs()} {
		if s == nil {
			continue // the operation has none
		}
		v, err := wire.KeepAll().Decode(s)
		if err != nil {
			return value.Null, fmt.Errorf("%s cannot be read: %w", name, err)
		}
		args[name] = v
	}
	return value.Map(args), nil
}

// runHook runs a hook. It returns an error or a panic of the hook as a text that names the hook.
func runHook(ctx context.Context, h monitor.Hook, args value.Value) (retry bool, failure string) {
	defer func() {
		if fault := recover(); fault != nil {
			retry, failure = false, fmt.Sprintf("hook %s: %v", h.Name, fault)
		}
	}()
	retry, err := h.Run(ctx, args)
	if err != nil {
		return false, fmt.Sprintf("hook %s: %s", h.Name, err)
	}
	return retry, ""
}

// RegisterResourceHook registers a hook of a program in another process: the engine calls the program back to run it
// (E2.75).
func (s *server) RegisterResourceHook(ctx context.Context, r *pulumirpc.RegisterResourceHookRequest) (*emptypb.Empty,
	error) {
	return s.registerHook(ctx, monitor.Hook{
		Name: r.GetName(), OnDryRun: r.GetOnDryRun(), IgnoreErrors: r.GetIgnoreErrors(),
		Run: func(ctx context.Context, args value.Value) (bool, error) {
			request := &pulumirpc.ResourceHookRequest{
				Urn: text(args, "urn"), Id: text(args, "id"), Name: text(args, "name"), Type: text(args, "type"),
			}
			if err := properties(args, map[string]**structpb.Struct{"newInputs": &request.NewInputs,
				"oldInputs": &request.OldInputs, "newOutputs": &request.NewOutputs,
				"oldOutputs": &request.OldOutputs}); err != nil {
				return false, err
			}
			response := &pulumirpc.ResourceHookResponse{}
			if err := s.programs.call(ctx, r.GetCallback(), request, response); err != nil {
				return false, err
			}
			return false, faultOf(response.GetError())
		},
	})
}

// RegisterErrorHook registers an error hook of a program in another process (E5.46).
func (s *server) RegisterErrorHook(ctx context.Context, r *pulumirpc.RegisterErrorHookRequest) (*emptypb.Empty, error) {
	return s.registerHook(ctx, monitor.Hook{
		Name: r.GetName(), OnError: true,
		Run: func(ctx context.Context, args value.Value) (bool, error) {
			request := &pulumirpc.ErrorHookRequest{
				Urn: text(args, "urn"), Id: text(args, "id"), Name: text(args, "name"), Type: text(args, "type"),
				FailedOperation: text(args, "failedOperation"),
			}
			told, _ := args.Lookup("errors")
			items, _ := told.AsList()
			for _, item := range items {
				line, _ := item.AsString()
				request.Errors = append(request.Errors, line)
			}
			if err := properties(args, map[string]**structpb.Struct{"newInputs": &request.NewInputs,
				"oldInputs": &request.OldInputs, "oldOutputs": &request.OldOutputs}); err != nil {
				return false, err
			}
			response := &pulumirpc.ErrorHookResponse{}
			if err := s.programs.call(ctx, r.GetCallback(), request, response); err != nil {
				return false, err
			}
			return response.GetRetry(), faultOf(response.GetError())
		},
	})
}

func (s *server) registerHook(ctx context.Context, h monitor.Hook) (*emptypb.Empty, error) {
	registrar, ok := s.monitor.(monitor.HookRegistrar)
	if !ok {
		return nil, unsupported("hooks that call back into the program")
	}
	return &emptypb.Empty{}, registrar.RegisterHook(ctx, h)
}

func text(args value.Value, name string) string {
	s, _ := args.Get(name).AsString()
	return s
}

// properties encodes the maps among a hook's arguments, and leaves out missing ones.
func properties(args value.Value, fields map[string]**structpb.Struct) (err error) {
	for name, field := range fields {
		v, _ := args.Lookup(name)
		*field, err = wire.Options{KeepUnknowns: true, KeepSecrets: true, KeepResources: true}.Encode(v)
		if err != nil {
			return fmt.Errorf("%s of the hook: %w", name, err)
		}
	}
	return nil
}

func faultOf(text string) error {
	if text == "" {
		return nil
	}
	return errors.New(text)
}
