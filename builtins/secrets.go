package builtins

import (
	"context"

	"github.com/yamlhost/yamlhost/internal/value"
)

// secretEvals change the secrecy of values.
var secretEvals = map[string]evalFunc{
	"secret": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		return args[0].Secret(), nil
	},
	"unsecret": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		return args[0].DeepPublic(), nil
	},
}

// secretResults are the types of results that depend on the arguments.
var secretResults = map[string]resultType{
	"secret":   argument(0),
	"unsecret": argument(0),
}
