package main

import (
	"crypto/sha1"
	"encoding/hex"
	"os"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// program is a decoded program.
type program struct {
	variables *yaml.Node
	resources map[string]*resource
}

// resource is one of a program, of a state, or of both.
type resource struct {
	typ             string
	properties      *yaml.Node
	name, urn, id   string
	needs, users    []*resource // by references
	inputs, outputs message     // google.protobuf.Struct
	text            []byte      // of the state; nil for none
	waits           int
}

// member returns a value of a map.
func member(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// readProgram decodes into nodes: what yaml.v3 makes of nodes in other types costs as much again.
func readProgram(path string) (p *program, all []*resource, err error) {
	text, err := os.ReadFile(path)
	var document yaml.Node
	if err == nil {
		err = yaml.Unmarshal(text, &document)
	}
	if err != nil {
		return nil, nil, err
	}
	resources := member(document.Content[0], "resources").Content
	p = &program{member(document.Content[0], "variables"), make(map[string]*resource, len(resources)/2)}
	for i := 0; i < len(resources); i += 2 {
		name, n := resources[i].Value, resources[i+1]
		r := &resource{name: name, typ: member(n, "type").Value, properties: member(n, "properties")}
		r.urn = "urn:pulumi:dev::generated::" + r.typ + "::" + name
		p.resources[name], all = r, append(all, r)
	}
	for _, r := range all {
		r.findNeeds(r.properties, p.resources)
	}
	return p, all, nil
}

// findNeeds finds the resources that a part of the properties refers to.
func (r *resource) findNeeds(n *yaml.Node, byName map[string]*resource) {
	for _, after, found := strings.Cut(n.Value, "${"); found; _, after, found = strings.Cut(after, "${") {
		if need := byName[after[:strings.IndexAny(after, ".[}")]]; need != nil && !slices.Contains(r.needs, need) {
			r.needs, need.users = append(r.needs, need), append(need.users, r)
		}
	}
	for _, child := range n.Content {
		r.findNeeds(child, byName)
	}
}

// fields writes a map whose references have their outputs as a google.protobuf.Struct.
func (p *program) fields(m message, r *resource, n *yaml.Node) message {
	for i := 0; i < len(n.Content); i += 2 {
		open, entry, value := m.entry(n.Content[i].Value)
		m = p.value(open, r, n.Content[i+1]).end(value).end(entry)
	}
	return m
}

func (p *program) value(m message, r *resource, n *yaml.Node) message {
	switch {
	case n.Kind == yaml.MappingNode && strings.HasPrefix(n.Content[0].Value, "fn::"):
		return m.text(stringField, p.function(r, n.Content[0].Value, n.Content[1]))
	case n.Kind == yaml.MappingNode:
		m, start := m.begin(structField)
		return p.fields(m, r, n).end(start)
	case n.Kind == yaml.SequenceNode:
		m, list := m.begin(listField)
		for _, item := range n.Content {
			open, start := m.begin(1)
			m = p.value(open, r, item).end(start)
		}
		return m.end(list)
	case n.Tag == "!!int":
		f, _ := strconv.ParseFloat(n.Value, 64) // as the program's writer made it
		return m.number(f)
	case n.Tag == "!!bool" && n.Value == "true":
		return m.bool(boolField, 1)
	case n.Tag == "!!bool":
		return m.bool(boolField, 0)
	}
	return m.text(stringField, p.interpolate(r, n.Value))
}

func (p *program) function(r *resource, name string, argument *yaml.Node) string {
	if name == "fn::sha1" {
		sum := sha1.Sum([]byte(p.function(r, argument.Content[0].Value, argument.Content[1])))
		return hex.EncodeToString(sum[:])
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
	return before + p.lookup(r, path) + p.interpolate(r, rest)
}

func (p *program) lookup(r *resource, path string) string {
	name, attribute, _ := strings.Cut(path, ".")
	for _, need := range r.needs {
		if need.name == name && attribute == "id" {
			return need.id
		} else if need.name == name {
			return need.outputs.property(attribute)
		}
	}
	name, index, indexed := strings.Cut(strings.TrimSuffix(path, "]"), "[")
	n := member(p.variables, name)
	if indexed {
		i, _ := strconv.Atoi(index) // as the program's writer made it
		return n.Content[i].Value
	}
	return n.Value
}
