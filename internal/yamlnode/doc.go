// Package yamlnode reads YAML texts, including JSON, as trees of nodes with exact places.
//
// A Tree reads one Text. Screen rejects what cannot be YAML, Read parses the first document, Explain makes a finding of
// a syntax error, and Mend parses a text in spite of its syntax errors. A Node has the kind, the tag, the notation and
// the byte offsets of what it stands for; a ScalarText also finds the source of each part of a scalar's text.
//
// It is the only package that uses the YAML library. It does not know what the nodes mean.
//
// The files of this package, in the order in which they use each other:
//
//	lines.go   lines, blanks and keys as they are written    node.go    nodes, their kinds and tags
//	text.go    a text and its position                       scalar.go  from a scalar's text back to its source
//	locate.go  where each node of the library begins and ends
//	plain.go   a fast parser for common YAML                 lexer.go   tokens, tolerating errors
//	escapes.go escapes that only JSON has                    tree.go    a text as a tree
//	screen.go  rejects binary data and excessive depth
//	syntax.go  explains syntax errors                        repair.go  parses a text in spite of them
package yamlnode
