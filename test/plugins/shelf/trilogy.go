package main

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Trilogy is a component of three volumes in a slipcase. Each volume depends on the one before.
type Trilogy struct {
	pulumi.ResourceState
	TrilogyArgs
	First  pulumi.StringOutput      `pulumi:"first"` // the path of the first volume
	Titles pulumi.StringArrayOutput `pulumi:"titles"`
}

// TrilogyArgs are the inputs of a trilogy.
type TrilogyArgs struct {
	Title pulumi.StringInput `pulumi:"title"`
	Note  pulumi.StringInput `pulumi:"note,optional" provider:"secret"`
	// Bound reports whether the volumes are bound together: the second and third are children of the first.
	Bound bool `pulumi:"bound,optional"`
}

// slipcase is a component inside of the component.
type slipcase struct{ pulumi.ResourceState }

// volume is an item that the component registers as a program would.
type volume struct {
	pulumi.CustomResourceState
	Title pulumi.StringOutput `pulumi:"title"`
	Path  pulumi.StringOutput `pulumi:"path"`
}

// NewTrilogy constructs the component.
func NewTrilogy(ctx *pulumi.Context, name string, args TrilogyArgs, options ...pulumi.ResourceOption) (*Trilogy,
	error) {
	t := &Trilogy{TrilogyArgs: args}
	if err := ctx.RegisterComponentResource("shelf:index:Trilogy", name, t, options...); err != nil {
		return nil, err
	}
	box := &slipcase{}
	if err := ctx.RegisterComponentResource("shelf:index:Slipcase", name+"-case", box, pulumi.Parent(t)); err != nil {
		return nil, err
	}
	var titles pulumi.StringArray
	var before *volume
	for i := 1; i <= 3; i++ {
		inputs := pulumi.Map{"title": pulumi.Sprintf("%s, volume %d", args.Title, i)}
		if args.Note != nil {
			inputs["note"] = args.Note
		}
		var parent pulumi.Resource = box
		if before != nil {
			inputs["tags"] = pulumi.StringMap{"follows": before.Path}
			if args.Bound {
				parent = before
			}
		}
		v := &volume{}
		if err := ctx.RegisterResource("shelf:index:Item", fmt.Sprintf("%s-%d", name, i), inputs, v,
			pulumi.Parent(parent)); err != nil {
			return nil, err
		}
		if before == nil {
			t.First = v.Path
		}
		titles = append(titles, v.Title)
		before = v
	}
	t.Titles = titles.ToStringArrayOutput()
	return t, ctx.RegisterResourceOutputs(t, pulumi.Map{"first": t.First, "titles": t.Titles, "title": args.Title})
}
