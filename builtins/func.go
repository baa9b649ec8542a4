package builtins

import (
	"context"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/schema"
)

// Func describes a function. Records are immutable.
type Func struct {
	Name     string   // without "fn::", in its canonical spelling
	Aliases  []string // other names, without "fn::"
	Summary  string   // one sentence
	Params   []Param
	Variadic bool  // the last parameter takes any number of arguments
	Shape    Shape // how the argument of the fn:: form becomes parameters
	// Result is the type of the result, given the types of the arguments.
	Result resultType
	// Example calls the function in YAML, in the fn:: form; Call does the same as an expression, for use inside ${…}. Both
	// give what Gives says: JSON, with "secret " before it for a secret, or an asset or archive in words. Empty for the
	// one function that has no such form. A test runs them all.
	Example  string
	Call     string
	Gives    string
	Since    string // version of yamlhost
	Rule     string // the rule it follows, such as L6.10
	Portable bool   // understood by Pulumi YAML too
	Warning  string // printed when the function is used, such as a deprecation; may be empty

	// Eval computes the result. The shell calls it only with arguments that fit the parameters and, but for parameters
	// that opt in, are fully known and have no marks. An optional argument that was left out is null.
	Eval evalFunc
	// Lazy takes the place of Eval for functions that choose which arguments to evaluate.
	//
	// The evaluator itself carries out the two functions with neither: invoke and call.
	Lazy lazyFunc
}

type (
	evalFunc   = func(ctx context.Context, env Env, args []value.Value) (value.Value, error)
	lazyFunc   = func(ctx context.Context, env Env, args []Thunk) (value.Value, error)
	resultType = func(args []schema.Type) schema.Type
)

// gives returns the body of a function that cannot fail and needs nothing but its arguments.
func gives(body func(args []value.Value) value.Value) evalFunc {
	return func(_ context.Context, _ Env, args []value.Value) (value.Value, error) { return body(args), nil }
}

// plainly returns the body of a function that needs nothing but its arguments.
func plainly(body func(args []value.Value) (value.Value, error)) evalFunc {
	return func(_ context.Context, _ Env, args []value.Value) (value.Value, error) { return body(args) }
}

// Param describes a parameter.
type Param struct {
	Name     string
	Type     schema.Type
	Doc      string
	Optional bool
	// Literal reports whether the argument of the fn:: form must be a text without interpolation.
	Literal bool
	// Path reports whether the text names a file, or an address that may be one, so that a run may restrict it (L6.23).
	Path bool
	// Marked lets the body see unknown and secret values and dependencies; it then answers for them itself.
	Marked bool
}

// Shape is how the one argument of the fn:: form becomes parameters.
type Shape uint8

// The shapes.
const (
	Whole      Shape = iota // the argument is the only parameter
	Positional              // a list with an item for each parameter
	Fields                  // a map with a key for each parameter
)

// Thunk evaluates one argument when it is asked to.
type Thunk func(ctx context.Context) (value.Value, error)

// Env gives functions access to files, environment and engine. Implementations are safe for concurrent use.
type Env interface {
	// ReadFile reads a file; a relative path is relative to the program directory.
	ReadFile(path string) ([]byte, error)
	// StackOutput reads an output of another stack (L6.30); null when the stack has no such output.
	StackOutput(ctx context.Context, stack, output string) (value.Value, error)
	// Env looks up an environment variable, secret unless the program says that it is public (L10.C9). An error says that
	// the program may not read it.
	Env(name string) (v value.Value, found bool, err error)
	// ParseYAML reads a text as data: nothing in it is interpolated or called. The error says where in the text the fault
	// is.
	ParseYAML(text string) (value.Value, error)
	// Bundle makes texts, by their names in an archive, of a source file and what it imports. The error says where the
	// fault is.
	Bundle(ctx context.Context, r BundleRequest) (map[string]string, error)
	// Recoverable reports whether err is a fault that try and can may pass over, and whether it is the failure of
	// something that the argument needs, which recover may pass over besides (L10.C5). Neither holds for the end of
	// the whole operation.
	Recoverable(err error) (fault, failure bool)
}

// Min returns the least number of arguments.
func (f *Func) Min() int {
	n := 0
	for i, p := range f.Params {
		if !p.Optional && !(f.Variadic && i == len(f.Params)-1) {
			n++
		}
	}
	return n
}

// Max returns the greatest number of arguments; -1 for any number.
func (f *Func) Max() int {
	if f.Variadic {
		return -1
	}
	return len(f.Params)
}

// Param returns the parameter that the i-th argument (0-based) belongs to; nil when there is none.
func (f *Func) Param(i int) *Param {
	switch {
	case i < len(f.Params):
		return &f.Params[i]
	case f.Variadic:
		return &f.Params[len(f.Params)-1]
	}
	return nil
}

// Signature is how the function is called inside ${…}, with the types of parameters and result: an optional parameter
// has a question mark behind its name, one that takes any number of arguments three dots.
func (f *Func) Signature() string {
	params := make([]string, len(f.Params))
	for i, p := range f.Params {
		params[i] = f.ParamName(i) + ": " + schema.TypeName(p.Type)
	}
	return f.Name + "(" + strings.Join(params, ", ") + ") " + schema.TypeName(f.ResultType())
}

// ParamName returns the name of the i-th parameter with the mark of how often it is given.
func (f *Func) ParamName(i int) string {
	switch {
	case f.Variadic && i == len(f.Params)-1:
		return f.Params[i].Name + "..."
	case f.Params[i].Optional:
		return f.Params[i].Name + "?"
	}
	return f.Params[i].Name
}

// ResultType returns the type of the result as far as it does not depend on the arguments.
func (f *Func) ResultType() schema.Type {
	types := make([]schema.Type, len(f.Params))
	for i, p := range f.Params {
		types[i] = p.Type
	}
	return f.Result(types)
}
