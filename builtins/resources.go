package builtins

import (
	"context"

	"github.com/yamlhost/yamlhost/internal/value"
)

// resourceEvals are the functions on resources and stacks.
var resourceEvals = map[string]evalFunc{
	"pulumiResourceName": ofResource(func(r *value.ResourceRef) string { return r.URN.Name() }),
	"pulumiResourceType": ofResource(func(r *value.ResourceRef) string { return r.URN.Type() }),
	"stackReference": func(ctx context.Context, env Env, args []value.Value) (value.Value, error) {
		return env.StackOutput(ctx, str(args[0]), str(args[1]))
	},
}

func ofResource(part func(*value.ResourceRef) string) evalFunc {
	return gives(func(args []value.Value) value.Value {
		ref, ok := args[0].AsResource()
		if !ok {
			return value.UnknownFrom(value.KindString, args[0])
		}
		return value.String(part(ref)).WithMarksOf(args[0])
	})
}

// secretEvals are the functions that make values secret or public.
var secretEvals = map[string]evalFunc{
	"secret":   gives(func(args []value.Value) value.Value { return args[0].Secret() }),
	"unsecret": gives(func(args []value.Value) value.Value { return args[0].DeepPublic() }),
}

// secretResults are the result types that depend on the arguments.
var secretResults = map[string]resultType{
	"secret":   argument(0),
	"unsecret": argument(0),
}
