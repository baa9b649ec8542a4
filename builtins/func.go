package builtins

import (
	"context"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/schema"
)

// Func describes a function. It is immutable.
type Func struct {
	Name     string   // without "fn::", in its canonical spelling
	Aliases  []string // other names, without "fn::"
	Summary  string   // one sentence
	Params   []Param
	Variadic bool  // the last parameter accepts any number of arguments
	Shape    Shape // how the fn:: form passes arguments
	// Result returns the type of the result for the given types of the arguments.
	Result resultType
	// Example is a call in the fn:: form, in YAML. Call is the same call as an expression inside ${…}. The result of
	// both is Gives: JSON, prefixed by "secret " for a secret, or a description of an asset or archive. A field is
	// empty if a function has no such form. A test evaluates all examples.
	Example  string
	Call     string
	Gives    string
	Since    string // first version of yamlhost that has the function
	Rule     string // the rule that specifies it, such as L6.10
	Portable bool   // Pulumi YAML has the function too
	Warning  string // printed when the function is used, such as a deprecation; may be empty

	// Eval computes the result. Apply calls it only with arguments that fit the parameters. They are fully known and
	// have no marks, except those of Marked parameters. An omitted optional argument is null.
	Eval evalFunc
	// Lazy replaces Eval in functions that choose which arguments to evaluate.
	//
	// The evaluator implements the two functions with neither, invoke and call.
	Lazy lazyFunc
}

type (
	evalFunc   = func(ctx context.Context, env Env, args []value.Value) (value.Value, error)
	lazyFunc   = func(ctx context.Context, env Env, args []Thunk) (value.Value, error)
	resultType = func(args []schema.Type) schema.Type
)

// gives returns the body of a function that cannot fail and only depends on its arguments.
func gives(body func(args []value.Value) value.Value) evalFunc {
	return func(_ context.Context, _ Env, args []value.Value) (value.Value, error) { return body(args), nil }
}

// plainly returns the body of a function that only depends on its arguments.
func plainly(body func(args []value.Value) (value.Value, error)) evalFunc {
	return func(_ context.Context, _ Env, args []value.Value) (value.Value, error) { return body(args) }
}

// Param describes a parameter.
type Param struct {
	Name     string
	Type     schema.Type
	Doc      string
	Optional bool
	// Literal reports whether the argument of the fn:: form must be a string without interpolation.
	Literal bool
	// Path reports whether the argument is a file name, and URI whether it is an address that may be that of a file, so
	// that a run can restrict it (L6.23).
	Path, URI bool
	// Marked reports whether the body receives unknown and secret values and dependencies, and handles them itself.
	Marked bool
}

// Shape is the way in which the single argument of the fn:: form is passed to the parameters.
type Shape uint8

// The shapes.
const (
	Whole      Shape = iota // the argument is the only parameter
	Positional              // a list with an item for each parameter
	Fields                  // a map with a key for each parameter
)

// Thunk evaluates one argument on demand.
type Thunk func(ctx context.Context) (value.Value, error)

// Env gives functions access to files, the environment and the engine. Implementations must be safe for concurrent use.
type Env interface {
	// ReadFile reads a file. A relative path is relative to the program directory.
	ReadFile(path string) ([]byte, error)
	// StackOutput returns an output of another stack (L6.30), or null if the stack has no such output.
	StackOutput(ctx context.Context, stack, output string) (value.Value, error)
	// Env looks up an environment variable. The value is secret unless the program declares it public (L10.C9). Env
	// returns an error if the program may not read the variable.
	Env(name string) (v value.Value, found bool, err error)
	// LosesDigits warns that an argument has an integer whose digits the result does not keep.
	LosesDigits()
	// ParseYAML parses a text as data, without interpolation or calls, and calls LosesDigits where it applies. The
	// error contains the position of the fault.
	ParseYAML(text string) (value.Value, error)
	// Bundle compiles a source file and everything it imports. The result maps names in the archive to texts. The error
	// contains the position of the fault.
	Bundle(ctx context.Context, r BundleRequest) (map[string]string, error)
	// Recoverable reports whether err is a fault that try and can may ignore, and whether it is the failure of
	// something that the argument depends on, which recover may ignore too (L10.C5). Both are false if the whole
	// operation has ended.
	Recoverable(err error) (fault, failure bool)
}

// Min returns the minimum number of arguments.
func (f *Func) Min() int {
	n := 0
	for i, p := range f.Params {
		if !p.Optional && !(f.Variadic && i == len(f.Params)-1) {
			n++
		}
	}
	return n
}

// Max returns the maximum number of arguments, or -1 if there is no limit.
func (f *Func) Max() int {
	if f.Variadic {
		return -1
	}
	return len(f.Params)
}

// Param returns the parameter for the i-th argument (0-based), or nil if there is none.
func (f *Func) Param(i int) *Param {
	switch {
	case i < len(f.Params):
		return &f.Params[i]
	case f.Variadic:
		return &f.Params[len(f.Params)-1]
	}
	return nil
}

// Signature returns the function's signature inside ${…}, with the types of its parameters and result. The name of an
// optional parameter is followed by a question mark, that of a variadic one by three dots.
func (f *Func) Signature() string {
	params := make([]string, len(f.Params))
	for i, p := range f.Params {
		params[i] = f.ParamName(i) + ": " + schema.TypeName(p.Type)
	}
	return f.Name + "(" + strings.Join(params, ", ") + ") " + schema.TypeName(f.ResultType())
}

// ParamName returns the name of the i-th parameter, followed by "?" if it is optional or "..." if it is variadic.
func (f *Func) ParamName(i int) string {
	switch {
	case f.Variadic && i == len(f.Params)-1:
		return f.Params[i].Name + "..."
	case f.Params[i].Optional:
		return f.Params[i].Name + "?"
	}
	return f.Params[i].Name
}

// ResultType returns the type of the result for arguments of the parameters' types.
func (f *Func) ResultType() schema.Type {
	types := make([]schema.Type, len(f.Params))
	for i, p := range f.Params {
		types[i] = p.Type
	}
	return f.Result(types)
}
