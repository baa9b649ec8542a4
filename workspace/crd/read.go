package crd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamltree"
)

const definitionKind = "CustomResourceDefinition"

// convert makes a schema of the definitions in a text, which may have several documents and lists; other objects are
// passed over. A text that cannot be read has one finding.
func convert(src *diag.Source) (schema []byte, fault *diag.Diagnostic) {
	c := &converter{types: spec{metadataType: metadata()}, resources: spec{}}
	r := &reader{src: src, converter: c}
	decoder := yaml.NewDecoder(bytes.NewReader(src.Text()))
	for r.fault == nil {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			r.syntax(err)
			break
		}
		if len(doc.Content) > 0 {
			r.object(yamltree.Resolve(doc.Content[0]), 0)
		}
	}
	if r.fault != nil {
		return nil, r.fault
	}
	schema, err := json.Marshal(spec{"name": Package, "types": c.types, "resources": c.resources})
	if err != nil {
		r.add(nil, err.Error(), "")
	}
	return schema, r.fault
}

// reader looks for definitions in a text, up to the first fault.
type reader struct {
	src       *diag.Source
	converter *converter
	fault     *diag.Diagnostic
}

// object reads an object: a definition, or a list that may have some.
func (r *reader) object(n *yaml.Node, depth int) {
	kind := yamltree.Text(n, "kind")
	if items := yamltree.Member(n, "items"); items != nil && strings.HasSuffix(kind, "List") && depth < 4 {
		for _, item := range items.Content {
			if r.fault == nil {
				r.object(yamltree.Resolve(item), depth+1)
			}
		}
		return
	}
	if kind == definitionKind && strings.HasPrefix(yamltree.Text(n, "apiVersion"), "apiextensions.k8s.io/") {
		r.definition(n)
	}
}

func (r *reader) definition(n *yaml.Node) {
	const form = "a definition has spec.group, spec.names.kind and spec.versions, each with a name and a schema"
	s := yamltree.Member(n, "spec")
	group, kind := yamltree.Text(s, "group"), yamltree.Text(s, "names", "kind")
	for _, path := range [][]string{{"spec", "group"}, {"spec", "names", "kind"}} {
		if yamltree.Text(n, path...) == "" {
			r.add(nearest(n, path), "the definition has no "+strings.Join(path, "."), form)
			return
		}
	}
	versions := yamltree.Member(s, "versions")
	if versions == nil && yamltree.Text(s, "version") != "" { // apiextensions.k8s.io/v1beta1
		r.version(group, kind, yamltree.Text(s, "version"), s, s)
		return
	}
	if versions == nil || versions.Kind != yaml.SequenceNode || len(versions.Content) == 0 {
		r.add(nearest(n, []string{"spec", "versions"}), "the definition of "+kind+" has no versions", form)
		return
	}
	for _, v := range versions.Content {
		v = yamltree.Resolve(v)
		name := yamltree.Text(v, "name")
		if name == "" {
			r.add(v, "a version of "+kind+" has no name", form)
			return
		}
		if yamltree.Text(v, "served") != "false" {
			r.version(group, kind, name, v, s)
		}
		if r.fault != nil {
			return
		}
	}
}

// version reads a version of a kind. In apiextensions.k8s.io/v1beta1 one schema may be for all of them.
func (r *reader) version(group, kind, version string, v, s *yaml.Node) {
	schema := yamltree.Member(v, "schema", "openAPIV3Schema")
	for _, owner := range []*yaml.Node{v, s} {
		if schema == nil {
			schema = yamltree.Member(owner, "validation", "openAPIV3Schema")
		}
	}
	if schema != nil && schema.Kind != yaml.MappingNode {
		r.add(schema, fmt.Sprintf("the schema of %s %s is not a map", kind, version), "")
		return
	}
	deprecation := ""
	if truth(v, "deprecated") {
		deprecation = cmp.Or(yamltree.Text(v, "deprecationWarning"),
			fmt.Sprintf("%s/%s %s is deprecated", group, version, kind))
	}
	if err := r.converter.kind(group, version, kind, deprecation, schema); err != nil {
		r.add(schema, err.Error(), "")
	}
}

// nearest returns the deepest key on a path; the map itself where it has none of them.
func nearest(n *yaml.Node, path []string) *yaml.Node {
	found := n
	for _, key := range path {
		var next *yaml.Node
		for k, v := range yamltree.Entries(n) {
			if k.Value == key {
				found, next = k, v
			}
		}
		n = next
	}
	return found
}

func (r *reader) add(n *yaml.Node, summary, detail string) {
	line := 1
	start := 0
	if n != nil && n.Line > 0 {
		line = n.Line
		start = r.src.Offset(diag.Position{Line: n.Line, Column: n.Column})
	}
	end := r.src.Offset(diag.Position{Line: line, Column: 1}) + len(bytes.TrimRight(r.src.Line(line), " \t\r"))
	r.fault = &diag.Diagnostic{Code: diag.BadDefinition, Subject: diag.NewRange(r.src, start, max(start, end)),
		Summary: summary, Detail: detail}
}

func (r *reader) syntax(err error) {
	line, message := yamltree.SyntaxError(err)
	detail := ""
	if bytes.Contains(r.src.Text(), []byte("{{")) {
		detail = "this is a template: render it first, as with `helm template`"
	}
	r.add(&yaml.Node{Line: min(line, r.src.Lines()), Column: 1}, "the file is no YAML: "+message, detail)
}
