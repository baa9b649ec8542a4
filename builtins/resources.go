package builtins

import (
	"context"

	"github.com/yamlhost/yamlhost/internal/value"
)

// resourceEvals ask about resources, stacks and providers.
var resourceEvals = map[string]evalFunc{
	"pulumiResourceName": ofResource(func(r *value.ResourceRef) string { return r.URN.Name() }),
	"pulumiResourceType": ofResource(func(r *value.ResourceRef) string { return r.URN.Type() }),
	"stackReference": func(ctx context.Context, env Env, args []value.Value) (value.Value, error) {
		return env.StackOutput(ctx, str(args[0]), str(args[1]))
	},
}

func ofResource(part func(*value.ResourceRef) string) evalFunc {
	return func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		ref, ok := args[0].AsResource()
		if !ok {
			return value.UnknownFrom(value.KindString, args[0]), nil
		}
		return value.String(part(ref)).WithMarksOf(args[0]), nil
	}
}
