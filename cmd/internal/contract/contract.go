// Package contract names what the program writes for other programs: the JSON of commands, and files of its own. Each
// package that writes such a form says so beside the Go type that it is made of; the manual makes JSON schemas of the
// types, which docs/json.md lists.
package contract

import "reflect"

// Contract is a JSON form that releases keep: new members may come, and none goes or changes its meaning.
type Contract struct {
	Name  string // of its schema: lower case, with hyphens
	About string // what it tells, in a few words
	From  string // what writes it, in Markdown
	Type  reflect.Type
	Lines bool // a document on each line
}

// Of describes the form that values of T have.
func Of[T any](name, about, from string) Contract {
	return Contract{Name: name, About: about, From: from, Type: reflect.TypeFor[T]()}
}

// EachLine returns the contract of a stream that has one document on each line.
func (c Contract) EachLine() Contract {
	c.Lines = true
	return c
}
