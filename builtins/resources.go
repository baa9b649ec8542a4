package builtins

import (
	"context"

	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/value"
)

// resourceFuncs ask about resources, stacks and providers.
var resourceFuncs = []*Func{
	{
		Name:    "pulumiResourceName",
		Summary: "The logical name of a resource: the last part of its URN.",
		Params:  []Param{{Name: "resource", Type: schema.AnyResource, Doc: "the resource, as in ${server}", Marked: true}},
		Result:  always(schema.String),
		Example: `fn::pulumiResourceName: ${server}`,
		Call:    `pulumiResourceName(server)`,
		Gives:   `"web"`,
		Since:   "0.1.0", Rule: "L6.28", Portable: true,
		Eval: ofResource(func(r *value.ResourceRef) string { return r.URN.Name() }),
	},
	{
		Name:    "pulumiResourceType",
		Summary: "The type token of a resource.",
		Params:  []Param{{Name: "resource", Type: schema.AnyResource, Doc: "the resource, as in ${server}", Marked: true}},
		Result:  always(schema.String),
		Example: `fn::pulumiResourceType: ${server}`,
		Call:    `pulumiResourceType(server)`,
		Gives:   `"docs:index:Server"`,
		Since:   "0.1.0", Rule: "L6.28", Portable: true,
		Eval: ofResource(func(r *value.ResourceRef) string { return r.URN.Type() }),
	},
	{
		Name:    "stackReference",
		Summary: "An output of another stack; null when the stack has no such output.",
		Params: []Param{
			{Name: "stack", Type: schema.String, Doc: "the stack, as organization/project/stack", Literal: true},
			{Name: "output", Type: schema.String, Doc: "the name of the output"},
		},
		Shape:   Positional,
		Result:  always(schema.Any),
		Example: `fn::stackReference: [organization/network/prod, vpcId]`,
		Call:    `stackReference("organization/network/prod", "vpcId")`,
		Gives:   `"vpc-1"`,
		Since:   "0.1.0", Rule: "L6.30", Portable: true,
		Warning: "fn::stackReference is deprecated; declare a resource of type pulumi:pulumi:StackReference and use its " +
			"outputs",
		Eval: func(ctx context.Context, env Env, args []value.Value) (value.Value, error) {
			return env.StackOutput(ctx, str(args[0]), str(args[1]))
		},
	},
	{
		Name:    "invoke",
		Summary: "The result of a provider's function.",
		Params: []Param{
			{Name: "function", Type: schema.String, Doc: "the function's token, such as aws:index:getRegion", Literal: true},
			{Name: "arguments", Type: anyMap, Doc: "the function's arguments by name", Optional: true},
			{Name: "return", Type: schema.String, Doc: "the name of the output to return", Optional: true,
				Literal: true},
			{Name: "options", Type: anyMap, Doc: "parent, provider, version, pluginDownloadURL and dependsOn", Optional: true},
		},
		Shape:   Fields,
		Result:  always(schema.Any),
		Example: `fn::invoke: {function: 'docs:index:getImage', arguments: {family: base}, return: id}`,
		Gives:   `"img-base"`,
		Since:   "0.1.0", Rule: "L6.40", Portable: true,
	},
	{
		Name:    "call",
		Summary: "The result of a method of a resource.",
		Params: []Param{
			{Name: "resource", Type: schema.AnyResource, Doc: "the resource, as in ${server}"},
			{Name: "method", Type: schema.String, Doc: "the method's name", Literal: true},
			{Name: "arguments", Type: anyMap, Doc: "the method's arguments by name", Optional: true},
			{Name: "return", Type: schema.String, Doc: "the name of the output to return", Optional: true,
				Literal: true},
		},
		Shape:   Fields,
		Result:  always(schema.Any),
		Example: `fn::call: {resource: '${server}', method: ping, arguments: {count: 3}, return: answer}`,
		Gives:   `"3 pings to web"`,
		Since:   "0.2.0", Rule: "L10.C8",
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
