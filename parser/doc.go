// Package parser turns the text of a program into its tree.
//
// Parse reads YAML, and JSON as a part of it, and returns an ast.File and the faults of the text as such: syntax,
// unknown and repeated keys, fields of the wrong kind, malformed interpolation. It resolves aliases and merge keys,
// splits scalars into text and expressions, and reads the expressions inside of `${…}`, first in Pulumi's grammar,
// otherwise in HCL's. It always returns a usable tree.
//
// The package does not know what a name stands for, which functions or resource types exist, and what type anything
// has; that is package check. It is the only one that sees YAML nodes or HCL expressions: neither leaves it.
//
// The way of a text through the files of this package:
//
//	screen.go     is it text at all, and of a reasonable depth        lexer.go   a tolerant look at YAML tokens
//	yaml.go       from a text to its tree                             escapes.go escapes that only JSON has
//	locate.go     where each node begins and ends                     node.go    a node with its place
//	syntax.go     what is wrong when there is no tree                 repair.go  how it is read all the same
//	cut.go        stretches of a text that are read one by one        blocks.go  one of them, read
//	document.go   a text that is being edited
//	passage.go    where a text stands                                 findings.go what is wrong with it
//	mapping.go    keys, merge keys, and how far aliases may expand
//	fields.go     maps whose keys the language defines
//	scope.go      the names in scope                                  section.go the entries of sections
//	program.go, config.go, resource.go, option.go                     one for each section
//	include.go    a program in several texts
//	expression.go a node as an expression                             scalar.go  from a scalar's text back to its source
//	interpolation.go, access.go                                       Pulumi's grammar inside a scalar
//	operators.go  HCL's grammar                                       lower.go   its tree, lowered into ast
//
// Each type knows the ones before it, and none behind. A yamlText has a passage and findings, and gives a tree of
// nodes. A nodeReader reads nodes as maps, lists and literals. An exprReader reads nodes as expressions, in a scope. A
// bodyReader reads the sections of a program or a component, with one reader for each kind of declaration that has many
// fields. An outline holds the sections of a text until the names are known that all texts of the program declare.
package parser
