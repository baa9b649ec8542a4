package packages

import (
	"iter"
	"strings"

	"github.com/yamlhost/yamlhost/parser/ast"
)

// InvokeName is the function that calls provider functions by their tokens.
const InvokeName = "invoke"

// Field returns the value of a map's key in any capitalisation (L1.20); nil for a nil map.
func Field(m *ast.Map, name string) ast.Expr {
	if m == nil {
		return nil
	}
	for _, entry := range m.Entries {
		if key, ok := entry.Key.(*ast.String); ok && strings.EqualFold(key.Value, name) {
			return entry.Value
		}
	}
	return nil
}

// invokeArgument returns an argument of fn::invoke, given by its name in a map or by its position; nil for any other
// call. It knows the order of the parameters of fn::invoke, as builtins declares them, since packages are loaded before
// calls are bound.
func invokeArgument(e *ast.Call, name string, position int) ast.Expr {
	if !strings.EqualFold(e.Name.Value, InvokeName) {
		return nil
	}
	if m, ok := e.Argument.(*ast.Map); ok {
		return Field(m, name)
	}
	if position < len(e.Args) {
		return e.Args[position]
	}
	return nil
}

// ProviderCall returns the token of the called provider function, as written, with the version and download URL if the
// options give them as literal texts; nil for any other call. It reads the text alone, also of a program that has not
// been checked.
func ProviderCall(e *ast.Call) (token *ast.Literal, version, url string) {
	if token = Called(e); token != nil {
		version, url = callVersion(e)
	}
	return token, version, url
}

// Called returns the token of the called provider function, as written; nil for any other call.
func Called(e *ast.Call) *ast.Literal {
	if strings.Contains(e.Name.Value, ":") {
		return &e.Name
	}
	if s, ok := invokeArgument(e, "function", 0).(*ast.String); ok {
		return &ast.Literal{Value: s.Value, Range: s.Range()}
	}
	return nil
}

// callOptions returns the options of fn::invoke; nil if there are none.
func callOptions(e *ast.Call) *ast.Map {
	options, _ := invokeArgument(e, "options", 3).(*ast.Map)
	return options
}

// callVersion returns the options version and pluginDownloadURL where they are literal. Others are reported by the
// check of the call.
func callVersion(e *ast.Call) (version, url string) {
	options := callOptions(e)
	if s, ok := Field(options, "version").(*ast.String); ok {
		version = s.Value
	}
	if s, ok := Field(options, "pluginDownloadURL").(*ast.String); ok {
		url = s.Value
	}
	return version, url
}

// Calls yields the calls of provider functions in a unit, which may be nil, with their tokens as written.
func Calls(unit *ast.Unit) iter.Seq2[*ast.Call, *ast.Literal] {
	return func(yield func(*ast.Call, *ast.Literal) bool) {
		if unit == nil {
			return
		}
		for _, call := range unit.Calls {
			if token := Called(call); token != nil && !yield(call, token) {
				return
			}
		}
	}
}

// NamesProvider reports whether a call of a provider function names its provider.
func NamesProvider(e *ast.Call) bool { return Field(callOptions(e), "provider") != nil }

// OfPolicies returns the uses of packages by the types that the policies of a pack match.
func OfPolicies(policies []*ast.Policy) (uses []Use) {
	for _, p := range policies {
		for i := range p.Match.Types {
			if glob := &p.Match.Types[i]; !strings.Contains(Of(glob.Value), "*") && Valid(glob.Value) {
				uses = append(uses, Use{Token: glob})
			}
		}
	}
	return uses
}
