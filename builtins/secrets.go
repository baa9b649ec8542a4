package builtins

import (
	"context"

	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/value"
)

// secretFuncs change the secrecy of values.
var secretFuncs = []*Func{
	{
		Name:    "secret",
		Summary: "The argument, marked secret: it is encrypted in state and never shown.",
		Params: []Param{{Name: "value", Type: schema.Any, Doc: "any value; all members of a resource become secret",
			Marked: true}},
		Result:  argument(0),
		Example: `fn::secret: hush`,
		Call:    `secret("hush")`,
		Gives:   `secret "hush"`,
		Since:   "0.1.0", Rule: "L6.25", Portable: true,
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			return args[0].Secret(), nil
		},
	},
	{
		Name:    "unsecret",
		Summary: "The argument, no longer marked secret, at any depth of lists and maps.",
		Params:  []Param{{Name: "value", Type: schema.Any, Doc: "anything", Marked: true}},
		Result:  argument(0),
		Example: `fn::unsecret: {fn::secret: hush}`,
		Call:    `unsecret(secret("hush"))`,
		Gives:   `"hush"`,
		Since:   "0.1.0", Rule: "L6.26", Portable: true,
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			return args[0].DeepPublic(), nil
		},
	},
}
