package eval_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// TestMarksOfFunctions changes one leaf at a time in the arguments of every function's example (L6.5, L9.14, L9.31,
// L9.40). A secret leaf makes the result secret and changes nothing else. With an unknown leaf, every known part of the
// result has the value that it has with the leaf known. With a leaf from a resource, the result depends on the
// resource, unless the function only moves parts.
func TestMarksOfFunctions(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, f := range builtins.Table() {
		args, ok := exampleArguments(f)
		if !ok || f.Eval == nil && f.Lazy == nil {
			continue
		}
		tried++
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			call := func(args []value.Value) (value.Value, error) {
				return builtins.Apply(context.Background(), plainWorld{}, f, args)
			}
			want, err := call(args)
			require.NoError(t, err)
			leaves := 0
			for i := range args {
				leaves += countLeaves(args[i])
			}
			require.Positive(t, leaves)
			for leaf := range leaves {
				got, err := call(changed(args, leaf, value.Value.Secret))
				require.NoError(t, err, "leaf %d is secret", leaf)
				require.True(t, value.SameContent(want.DeepPublic(), got.DeepPublic()), "leaf %d is secret: %s", leaf, got)
				if f.Name != "unsecret" && f.Lazy == nil {
					require.True(t, got.ContainsSecret(), "leaf %d is secret", leaf)
				}

				got, err = call(changed(args, leaf, func(v value.Value) value.Value { return value.Unknown(v.Kind()) }))
				require.NoError(t, err, "leaf %d is unknown", leaf)
				if !got.ContainsUnknown() {
					require.True(t, value.SameContent(want, got), "known in spite of leaf %d, but another: %s", leaf, got)
				}

				got, err = call(changed(args, leaf, func(v value.Value) value.Value { return v.DependingOn(origin) }))
				require.NoError(t, err, "leaf %d depends", leaf)
				require.True(t, value.SameContent(want, got), "leaf %d depends", leaf)
				if len(got.AllDeps()) == 0 {
					require.True(t, moves[f.Name], "nothing depends on leaf %d", leaf)
				}
			}
		})
	}
	require.Greater(t, tried, 80)
}

const origin = urn.URN("urn:pulumi:dev::docs::docs:index:Server::origin")

// moves are the functions whose result may be independent of a leaf: they select or count parts (L9.44), or return the
// first usable argument.
var moves = map[string]bool{"select": true, "element": true, "slice": true, "lookup": true, "length": true,
	"coalesce":     true,
	"coalesceList": true, "merge": true, "keys": true, "if": true, "try": true, "can": true, "recover": true}

// exampleArguments returns the arguments of a function's example; false if they are not plain data.
func exampleArguments(f *builtins.Func) ([]value.Value, bool) {
	data, findings := parser.Data(diag.NewSource("example", []byte(f.Example)))
	m, ok := data.(*ast.Map)
	if !ok || findings.HasErrors() || len(m.Entries) != 1 || f.Shape == builtins.Fields ||
		strings.Contains(f.Example, "${") || strings.Count(f.Example, "fn::") > 1 {
		return nil, false
	}
	whole := plain(m.Entries[0].Value)
	items, isList := whole.AsList()
	if f.Shape == builtins.Positional && isList {
		return items, true
	}
	return []value.Value{whole}, true
}

// plain returns the value of data.
func plain(e ast.Expr) value.Value {
	switch e := e.(type) {
	case *ast.Bool:
		return value.Bool(e.Value)
	case *ast.Number:
		return value.Number(e.Value)
	case *ast.String:
		return value.String(e.Value)
	case *ast.List:
		items := make([]value.Value, len(e.Items))
		for i, item := range e.Items {
			items[i] = plain(item)
		}
		return value.List(items...)
	case *ast.Map:
		list := make([]value.Entry, len(e.Entries))
		for i, entry := range e.Entries {
			list[i] = value.Entry{Key: entry.Key.(*ast.String).Value, Value: plain(entry.Value)}
		}
		return value.MapOf(list...)
	}
	return value.Null
}

func isLeaf(v value.Value) bool { return v.Len() == 0 && !v.Is(value.KindNull) }

func countLeaves(v value.Value) int {
	n := 0
	v.Any(func(v value.Value) bool {
		if isLeaf(v) {
			n++
		}
		return false
	})
	return n
}

// changed returns a copy of args with one leaf changed.
func changed(args []value.Value, leaf int, change func(value.Value) value.Value) []value.Value {
	n := 0
	copied := make([]value.Value, len(args))
	for i, arg := range args {
		copied[i] = arg.Transform(func(v value.Value) value.Value {
			if !isLeaf(v) {
				return v
			}
			if n++; n-1 == leaf {
				return change(v)
			}
			return v
		})
	}
	return copied
}

// plainWorld provides the file and the environment variable of the examples.
type plainWorld struct{}

func (plainWorld) ReadFile(string) ([]byte, error) { return []byte("hello\n"), nil }

func (plainWorld) StackOutput(context.Context, string, string) (value.Value, error) {
	return value.String("vpc-1"), nil
}

func (plainWorld) Bundle(_ context.Context, r builtins.BundleRequest) (map[string]string, error) {
	return map[string]string{"index.js": r.Entry}, nil
}

// bundle implements Options.Bundle.
func (w plainWorld) bundle(ctx context.Context, _ string, r builtins.BundleRequest) (map[string]string, error) {
	return w.Bundle(ctx, r)
}

func (plainWorld) Env(string) (value.Value, bool, error) {
	return value.String("eu").Secret(), true, nil
}

func (plainWorld) LosesDigits() {}

func (plainWorld) ParseYAML(text string) (value.Value, error) {
	data, _ := parser.Data(diag.NewSource("text", []byte(text)))
	return plain(data), nil
}

func (plainWorld) Recoverable(error) (fault, failure bool) { return true, false }
