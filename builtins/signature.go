package builtins

import (
	"strings"

	"github.com/yamlhost/yamlhost/schema"
)

// Signature is how the function is called inside ${…}, with the types of parameters and result: an optional parameter
// has a question mark behind its name, one that takes any number of arguments three dots.
func (f *Func) Signature() string {
	params := make([]string, len(f.Params))
	for i, p := range f.Params {
		params[i] = f.ParamName(i) + ": " + schema.TypeName(p.Type)
	}
	return f.Name + "(" + strings.Join(params, ", ") + ") " + schema.TypeName(f.ResultType())
}

// ParamName is the name of the i-th parameter with the mark of how often it is given.
func (f *Func) ParamName(i int) string {
	switch {
	case f.Variadic && i == len(f.Params)-1:
		return f.Params[i].Name + "..."
	case f.Params[i].Optional:
		return f.Params[i].Name + "?"
	}
	return f.Params[i].Name
}

// ResultType is the type of the result as far as it does not depend on the arguments.
func (f *Func) ResultType() schema.Type {
	types := make([]schema.Type, len(f.Params))
	for i, p := range f.Params {
		types[i] = p.Type
	}
	return f.Result(types)
}
