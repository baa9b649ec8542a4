// Package contract describes the JSON that the program writes for other programs: output of commands, and files of its
// own. Each package that writes such a form declares a Contract beside the Go type of the form. The manual generates
// JSON schemas from these types; docs/json.md lists them.
package contract

import "reflect"

// A Contract is a JSON form that stays compatible across releases: members may be added, but none is removed or changes
// its meaning.
type Contract struct {
	Name  string // name of its schema: lower case, with hyphens
	About string // what the JSON describes, in a few words
	From  string // the command or file that contains it, in Markdown
	Type  reflect.Type
	Lines bool // each line is one JSON document
}

// Of returns a contract for the JSON form of type T.
func Of[T any](name, about, from string) Contract {
	return Contract{Name: name, About: about, From: from, Type: reflect.TypeFor[T]()}
}

// EachLine returns the contract of a stream of such documents, one on each line.
func (c Contract) EachLine() Contract {
	c.Lines = true
	return c
}
