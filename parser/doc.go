// Package parser parses the text of a program into a syntax tree.
//
// Parse reads YAML, including JSON, and returns an ast.File and all faults that can be found without knowing the
// meaning of names: syntax errors, unknown and repeated keys, fields of the wrong kind, malformed interpolations. It
// resolves aliases and merge keys, splits scalars into text and expressions, and parses the expressions inside of
// `${…}`, in Pulumi's grammar if possible and otherwise in HCL's. It always returns a usable tree.
//
// The package does not know what names refer to, which functions or resource types exist, or what types values have;
// that is the task of package check. It is the only package that uses YAML nodes or HCL expressions, and it does not
// expose them.
//
// The files of this package, in the order in which a text passes through them:
//
//	screen.go     rejects binary data and excessive depth             lexer.go   scans YAML tokens, tolerating errors
//	yaml.go       parses a text into a tree                           escapes.go escapes that only JSON has
//	locate.go     finds where each node begins and ends               node.go    a node with its position
//	syntax.go     explains YAML syntax errors                         repair.go  parses a text in spite of them
//	cut.go        divides a text into stretches                       blocks.go  a parsed stretch
//	document.go   a text that is being edited                         plain.go   a fast parser for common YAML
//	passage.go    positions of a text                                 findings.go its diagnostics
//	mapping.go    keys, merge keys, and how far aliases may expand
//	fields.go     maps whose keys the language defines
//	scope.go      the names in scope                                  section.go the entries of sections
//	program.go, config.go, resource.go, option.go                     one for each section
//	include.go    a program in several texts
//	expression.go a node as an expression                             scalar.go  from a scalar's text back to its source
//	interpolation.go, access.go                                       Pulumi's grammar inside a scalar
//	operators.go  HCL's grammar                                       lower.go   its tree, lowered into ast
//
// Each type uses only the ones before it in this list. A yamlText has a passage and findings, and yields a tree of
// nodes. A nodeReader reads nodes as maps, lists and literals. An exprReader reads nodes as expressions in a scope. A
// bodyReader reads the sections of a program or a component, with one reader for each kind of declaration that has many
// fields. An outline holds the sections of a text until all names are known that the texts of the program declare.
package parser
