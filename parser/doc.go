// Package parser turns the text of a program into its tree.
//
// Parse reads YAML, and JSON as a part of it, and answers with an ast.File and everything that is wrong with the text
// as such: syntax, unknown and repeated keys, fields of the wrong kind, malformed interpolation. It resolves aliases
// and merge keys, splits scalars into text and expressions, and reads the expressions inside of `${…}`, in Pulumi's
// grammar first and in that of HCL otherwise. It always answers with a usable tree.
//
// The package does not know what a name stands for, which functions or resource types exist, and what type anything
// has; that is package check. It is the only one that sees YAML nodes or HCL expressions: neither leaves it.
//
// The way of a text through the files of this package:
//
//	screen.go     is it text at all, and of a reasonable depth        lexer.go   a tolerant look at YAML tokens
//	yaml.go       the YAML tree                                       syntax.go  what is wrong when there is none
//	blocks.go     stretches of a text that are read one by one        document.go a text that is being edited
//	locate.go     where each node begins and ends
//	scope.go      the names in scope, the entries of sections
//	mapping.go    keys, aliases, merge keys                           fields.go  maps whose keys the language defines
//	program.go, config.go, resource.go, option.go                     one for each section
//	include.go    a program in several texts                          package.go a package of components in several texts
//	expression.go a node as an expression                             scalar.go  from a scalar's text back to its source
//	interpolation.go, access.go                                       Pulumi's grammar inside a scalar
//	operators.go                                                      HCL's grammar, lowered into ast
package parser
