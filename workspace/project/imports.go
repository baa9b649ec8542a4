package project

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// Imports are the names of the environments that the stack imports, in order (F3.11).
func (s *Settings) Imports() (names []string) {
	for _, item := range s.imports().Content {
		names = append(names, importName(item))
	}
	return names
}

// imports is the list of the stack's environments; an empty one if there is none.
func (s *Settings) imports() *yaml.Node {
	list := s.environment
	if list != nil && list.Kind == yaml.MappingNode {
		list = valueOf(list, "imports")
	}
	if list == nil || list.Kind != yaml.SequenceNode {
		return &yaml.Node{}
	}
	return list
}

// importName is the name in an entry: the entry itself, or the one key of a map with options.
func importName(item *yaml.Node) string {
	item = follow(item)
	if item.Kind == yaml.MappingNode && len(item.Content) > 0 {
		return item.Content[0].Value
	}
	return item.Value
}

// AddImport adds an environment behind the others, and reports whether it was missing.
func (s *Settings) AddImport(name string) bool {
	if slices.Contains(s.Imports(), name) {
		return false
	}
	list := s.imports()
	if list.Kind == 0 {
		list = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		if s.environment != nil && s.environment.Kind == yaml.MappingNode {
			s.environment.Content = append([]*yaml.Node{stringNode("imports"), list}, s.environment.Content...)
		} else {
			s.setEnvironment(list)
		}
	}
	list.Content = append(list.Content, stringNode(name))
	return true
}

// RemoveImport removes an environment, and reports whether it was there. A list without entries is removed, too.
func (s *Settings) RemoveImport(name string) bool {
	list := s.imports()
	i := slices.Index(s.Imports(), name)
	if i < 0 {
		return false
	}
	list.Content = slices.Delete(list.Content, i, i+1)
	if len(list.Content) == 0 && list == s.environment {
		s.setEnvironment(nil)
	}
	return true
}

// setEnvironment sets the key `environment`, in front of the configuration; nil removes it.
func (s *Settings) setEnvironment(v *yaml.Node) {
	s.environment = v
	s.setEntry("environment", v)
}
