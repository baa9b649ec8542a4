// Package yamlnode reads YAML texts, including JSON, as trees of nodes with exact places.
//
// A Tree reads one Text. Screen rejects what cannot be YAML, Read parses the first document, Explain makes a finding of
// a syntax error, and Mend parses a text in spite of its syntax errors. A Node has the kind, the tag, the notation and
// the byte offsets of what it stands for; a ScalarText also finds the source of each part of a scalar's text.
//
// It is the only package that uses the YAML library. It does not know what the nodes mean.
//
// The files of this package, in the order in which they use each other: what a file uses is declared above it.
//
//	lines.go     lines, blanks and keys as they are written
//	node.go      nodes, their kinds, tags and comments        edit.go      trees that are made, edited and written
//	members.go   members of maps                              text.go      a text and its position
//	scalar.go    from a scalar's text back to its source      plain.go     a fast parser for common YAML
//	locate.go    where each node of the library begins and ends
//	lexer.go     tokens, tolerating errors                    escapes.go   escapes that only JSON has
//	secret.go    hides the texts of secrets                   tree.go      a text as a tree
//	screen.go    rejects binary data and excessive depth      syntax.go    explains syntax errors
//	repair.go    parses a text in spite of them               documents.go a text with several documents
package yamlnode
