package types

import (
	"context"
	"slices"

	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// The checks of the kinds of declarations. Each returns what it has found and changes nothing. The dependencies of the
// declaration have been checked, and the Program has what was found out about them.

// Config checks a configuration value.
func (b *Body) Config(ctx context.Context, n *program.Node) Outcome {
	c := b.checker(ctx, n.Unit())
	found := c.checkConfig(n)
	o := c.outcome(found.typ)
	o.Value, o.Text = found.value, found.text
	return o
}

// Variable checks a variable.
func (b *Body) Variable(ctx context.Context, v *ast.Variable) Outcome {
	c := b.checker(ctx, v.Unit)
	t := c.typer.infer(v.Value)
	c.noEffects(v.Unit)
	return c.outcome(t)
}

// Resource checks a resource, whose type has been resolved: n.Type is that of one instance. The reserved keys come
// last, since they look at the calls that were resolved before.
func (b *Body) Resource(ctx context.Context, n *program.Node) Outcome {
	c := b.checker(ctx, n.Unit())
	c.checkResource(n)
	t := c.instancesType(n.Resource.Decl, n.Type)
	c.reportReservedKeys(n.Resource.Decl)
	return c.outcome(t)
}

// Instances returns the type of a resource before its check: it needs the collection of forEach only. Its outcome is
// dropped: the check of the node infers the collection again and reports its faults once.
func (b *Body) Instances(ctx context.Context, n *program.Node) schema.Type {
	c := b.checker(ctx, n.Unit())
	return c.outcome(c.instancesType(n.Resource.Decl, n.Type)).Type
}

// Output checks an output.
func (b *Body) Output(ctx context.Context, decl *ast.Output) Outcome {
	c := b.checker(ctx, decl.Unit)
	t := c.typer.infer(decl.Value)
	c.reservedOutput(decl)
	return c.outcome(t)
}

// Version checks pulumi.requiredVersion.
func (b *Body) Version(ctx context.Context, unit *ast.Unit, e ast.Expr) Outcome {
	c := b.checker(ctx, unit)
	c.typer.operand(e, schema.String, "pulumi.requiredVersion")
	c.noEffects(unit)
	return c.outcome(schema.Invalid)
}

// Hook checks a hook.
func (b *Body) Hook(ctx context.Context, h *program.Hook) Outcome {
	c := b.checker(ctx, h.Decl.Unit)
	c.checkHook(h)
	return c.outcome(schema.Invalid)
}

// Message checks a message.
func (b *Body) Message(ctx context.Context, m *ast.Message) Outcome {
	c := b.checker(ctx, m.Unit)
	c.checkMessage(m)
	return c.outcome(schema.Invalid)
}

// Policy checks a policy.
func (b *Body) Policy(ctx context.Context, p *program.Policy) Outcome {
	c := b.checker(ctx, p.Decl.Unit)
	c.checkPolicy(p)
	return c.outcome(schema.Invalid)
}

// Transform checks a transform of the stack, which can change what m holds.
func (b *Body) Transform(ctx context.Context, t *ast.Transform, m *program.Matched) Outcome {
	c := b.checker(ctx, t.Unit)
	t.Exprs(func(e ast.Expr) { c.typer.infer(e) })
	c.checkTransform(t, m, false)
	return c.outcome(schema.Invalid)
}

// TransformOf checks a transform in the options of a resource that has been checked, and whose facts are fact. It
// infers nothing anew.
func (b *Body) TransformOf(ctx context.Context, unit *ast.Unit, fact *program.Fact, t *ast.Transform,
	m *program.Matched) Outcome {
	c := b.checker(ctx, unit)
	// Copies, because the facts belong to an outcome that an earlier check may share.
	c.decl.types, c.decl.calls = slices.Clone(fact.Types), slices.Clone(fact.Calls)
	c.checkTransform(t, m, true)
	return c.outcome(schema.Invalid)
}
