// Package parser parses the text of a program into a syntax tree.
//
// Parse reads YAML, including JSON, and returns an ast.File and all faults that can be found without knowing the
// meaning of names: syntax errors, unknown and repeated keys, fields of the wrong kind, malformed interpolations. It
// resolves aliases and merge keys, splits scalars into text and expressions, and parses the expressions inside of
// `${…}`, in Pulumi's grammar if possible and otherwise in HCL's. It always returns a usable tree.
//
// The package does not know what names refer to, which functions or resource types exist, or what types values have;
// that is the task of package check. It is the only package that uses HCL expressions, and it does not expose them.
// Package yamlnode reads the YAML.
//
// The files of this package, in the order in which a text passes through them:
//
//	yaml.go       the YAML of a program                               findings.go its diagnostics
//	cut.go        divides a text into stretches                       blocks.go   a parsed stretch
//	document.go   a text that is being edited
//	mapping.go    keys, merge keys, and how far aliases may expand
//	fields.go     maps whose keys the language defines
//	scope.go      the names in scope                                  section.go  the entries of sections
//	program.go, config.go, resource.go, option.go                     one for each section
//	include.go    a program in several texts
//	expression.go a node as an expression
//	interpolation.go, access.go                                       Pulumi's grammar inside a scalar
//	operators.go  HCL's grammar                                       lower.go    its tree, lowered into ast
//
// A nodeReader reads nodes as maps, lists and literals. An exprReader reads nodes as expressions in a scope. A
// bodyReader reads the sections of a program or a component, with one reader for each kind of declaration that has many
// fields. An outline holds the sections of a text until all names are known that the texts of the program declare.
package parser
