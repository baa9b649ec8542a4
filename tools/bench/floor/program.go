package main

import (
	"crypto/sha1"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// program is a decoded program.
type program struct {
	variables map[string]string // including the items of lists, such as zones[0]
	resources []*resource
}

// members yields the members of a map.
func members(n *yamlnode.Node) iter.Seq2[string, *yamlnode.Node] {
	return func(yield func(string, *yamlnode.Node) bool) {
		for i := 0; i < len(n.Content) && yield(n.Content[i].Value, n.Content[i+1]); i += 2 {
		}
	}
}

func member(n *yamlnode.Node, key string) *yamlnode.Node {
	for name, value := range members(n) {
		if name == key {
			return value
		}
	}
	return nil
}

// readProgram reads a program with the reader of nodes that yamlhost itself uses, which is the fastest one known here.
func readProgram(path string) *program {
	root := must(yamlnode.Parse(must(os.ReadFile(path))))
	p, byName := &program{variables: map[string]string{}}, map[string]*resource{}
	for name, n := range members(member(root, "variables")) {
		p.variables[name] = n.Value
		for i, item := range n.Content {
			p.variables[fmt.Sprintf("%s[%d]", name, i)] = item.Value
		}
	}
	for name, n := range members(member(root, "resources")) {
		r := &resource{name: name, typ: member(n, "type").Value, properties: member(n, "properties")}
		r.urn = "urn:pulumi:dev::generated::" + r.typ + "::" + name
		byName[name], p.resources = r, append(p.resources, r)
	}
	for _, r := range p.resources {
		r.findNeeds(r.properties, byName)
	}
	return p
}

// findNeeds finds the resources that a part of the properties refers to.
func (r *resource) findNeeds(n *yamlnode.Node, byName map[string]*resource) {
	for _, after, found := strings.Cut(n.Value, "${"); found; _, after, found = strings.Cut(after, "${") {
		if need := byName[after[:strings.IndexAny(after, ".[}")]]; need != nil && !slices.Contains(r.needs, need) {
			r.needs = append(r.needs, need)
		}
	}
	for _, child := range n.Content {
		r.findNeeds(child, byName)
	}
}

// fields appends a map as a google.protobuf.Struct, with references replaced by outputs.
func (p *program) fields(m message, r *resource, n *yamlnode.Node) message {
	for name, n := range members(n) {
		open, entry, value := m.entry(name)
		m = p.value(open, r, n).end(value).end(entry)
	}
	return m
}

func (p *program) value(m message, r *resource, n *yamlnode.Node) message {
	switch {
	case n.Kind == yamlnode.Map && strings.HasPrefix(n.Content[0].Value, "fn::"):
		return m.text(stringField, p.function(r, n.Content[0].Value, n.Content[1]))
	case n.Kind == yamlnode.Map:
		m, start := m.begin(structField)
		return p.fields(m, r, n).end(start)
	case n.Kind == yamlnode.List:
		m, list := m.begin(listField)
		for _, item := range n.Content {
			open, start := m.begin(1)
			m = p.value(open, r, item).end(start)
		}
		return m.end(list)
	case n.Tag == yamlnode.IntTag:
		return m.number(must(strconv.ParseFloat(n.Value, 64)))
	case n.Tag == yamlnode.BoolTag:
		return m.bool(boolField, n.Value == "true")
	}
	return m.text(stringField, p.interpolate(r, n.Value))
}

func (p *program) function(r *resource, name string, argument *yamlnode.Node) string {
	if name == "fn::sha1" {
		return fmt.Sprintf("%x", sha1.Sum([]byte(p.function(r, argument.Content[0].Value, argument.Content[1]))))
	}
	items := make([]string, len(argument.Content[1].Content)) // it is fn::join
	for i, item := range argument.Content[1].Content {
		items[i] = p.interpolate(r, item.Value)
	}
	return strings.Join(items, argument.Content[0].Value)
}

func (p *program) interpolate(r *resource, text string) string {
	before, after, found := strings.Cut(text, "${")
	if !found {
		return text
	}
	path, rest, _ := strings.Cut(after, "}")
	value := p.variables[path]
	name, attribute, _ := strings.Cut(path, ".")
	for _, need := range r.needs {
		if need.name == name && attribute == "id" {
			value = need.id
		} else if need.name == name {
			value = need.outputs.property(attribute)
		}
	}
	return before + value + p.interpolate(r, rest)
}
