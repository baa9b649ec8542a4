package rpc

import (
	"context"
	"errors"
	"fmt"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/wire"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// RegisterResourceHook announces a hook that a program in another process has: when the engine runs it, the program is
// called back (E2.75).
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

// RegisterErrorHook announces an error hook that a program in another process has (E5.46).
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

// properties encodes the maps among a hook's arguments; those that the operation does not have stay out.
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
