package crd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

const definitionKind = "CustomResourceDefinition"

// convert makes a schema of the definitions in a text, which may have several documents and lists; other objects are
// passed over. A text that cannot be read has one finding.
func convert(src *diag.Source) (schema []byte, fault *diag.Diagnostic) {
	c := &converter{types: spec{metadataType: metadata()}, resources: spec{}}
	r := &reader{src: src, converter: c}
	documents, unreadable := yamlnode.Documents(src)
	if unreadable != nil {
		return nil, notYAML(src, *unreadable)
	}
	for _, document := range documents {
		if !objects(document, 0, r.object) {
			break
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

// Made is what manifests make that other objects may need.
type Made struct {
	Kinds      []string // the defined kinds, each as its group, a space and its name
	Namespaces []string
}

// Making returns what the manifests in a text make; nothing for a text that cannot be read.
func Making(src *diag.Source) (made Made) {
	if text := src.Text(); !bytes.Contains(text, []byte(definitionKind)) && !bytes.Contains(text, []byte("Namespace")) {
		return made // which most texts are, and reading YAML takes long
	}
	documents, _ := yamlnode.Documents(src)
	for _, document := range documents {
		objects(document, 0, func(kind string, n *yamlnode.Node) bool {
			version, name := yamlnode.TextAt(n, "apiVersion"), yamlnode.TextAt(n, "metadata", "name")
			s := yamlnode.Member(n, "spec")
			group, defined := yamlnode.TextAt(s, "group"), yamlnode.TextAt(s, "names", "kind")
			switch {
			case kind == "Namespace" && version == "v1" && name != "":
				made.Namespaces = append(made.Namespaces, name)
			case isDefinition(kind, n) && group != "" && defined != "":
				made.Kinds = append(made.Kinds, group+" "+defined)
			}
			return true
		})
	}
	return made
}

// objects calls do for an object and for those of a list, with their kinds, until it returns false.
func objects(n *yamlnode.Node, depth int, do func(kind string, n *yamlnode.Node) bool) bool {
	kind := yamlnode.TextAt(n, "kind")
	items := yamlnode.Member(n, "items")
	if items == nil || !strings.HasSuffix(kind, "List") || depth >= 4 {
		return do(kind, n)
	}
	for _, item := range items.Content {
		if !objects(item.Target(), depth+1, do) {
			return false
		}
	}
	return true
}

func isDefinition(kind string, n *yamlnode.Node) bool {
	return kind == definitionKind && strings.HasPrefix(yamlnode.TextAt(n, "apiVersion"), "apiextensions.k8s.io/")
}

// reader looks for definitions in a text, up to the first fault.
type reader struct {
	src       *diag.Source
	converter *converter
	fault     *diag.Diagnostic
}

// object reads an object if it is a definition. It returns false after a fault.
func (r *reader) object(kind string, n *yamlnode.Node) bool {
	if isDefinition(kind, n) {
		r.definition(n)
	}
	return r.fault == nil
}

func (r *reader) definition(n *yamlnode.Node) {
	const form = "a definition has spec.group, spec.names.kind and spec.versions, each with a name and a schema"
	s := yamlnode.Member(n, "spec")
	group, kind := yamlnode.TextAt(s, "group"), yamlnode.TextAt(s, "names", "kind")
	for _, path := range [][]string{{"spec", "group"}, {"spec", "names", "kind"}} {
		if yamlnode.TextAt(n, path...) == "" {
			r.add(nearest(n, path), "the definition has no "+strings.Join(path, "."), form)
			return
		}
	}
	versions := yamlnode.Member(s, "versions")
	if versions == nil && yamlnode.TextAt(s, "version") != "" { // apiextensions.k8s.io/v1beta1
		r.version(group, kind, yamlnode.TextAt(s, "version"), s, s)
		return
	}
	if versions == nil || versions.Kind != yamlnode.List || len(versions.Content) == 0 {
		r.add(nearest(n, []string{"spec", "versions"}), "the definition of "+kind+" has no versions", form)
		return
	}
	for _, v := range versions.Content {
		v = v.Target()
		name := yamlnode.TextAt(v, "name")
		if name == "" {
			r.add(v, "a version of "+kind+" has no name", form)
			return
		}
		if yamlnode.TextAt(v, "served") != "false" {
			r.version(group, kind, name, v, s)
		}
		if r.fault != nil {
			return
		}
	}
}

// version reads a version of a kind. In apiextensions.k8s.io/v1beta1 one schema may be for all of them.
func (r *reader) version(group, kind, version string, v, s *yamlnode.Node) {
	schema := yamlnode.Member(v, "schema", "openAPIV3Schema")
	for _, owner := range []*yamlnode.Node{v, s} {
		if schema == nil {
			schema = yamlnode.Member(owner, "validation", "openAPIV3Schema")
		}
	}
	if schema != nil && schema.Kind != yamlnode.Map {
		r.add(schema, fmt.Sprintf("the schema of %s %s is not a map", kind, version), "")
		return
	}
	deprecation := ""
	if truth(v, "deprecated") {
		deprecation = cmp.Or(yamlnode.TextAt(v, "deprecationWarning"),
			fmt.Sprintf("%s/%s %s is deprecated", group, version, kind))
	}
	if err := r.converter.kind(group, version, kind, deprecation, schema); err != nil {
		r.add(schema, err.Error(), "")
	}
}

// nearest returns the deepest key on a path; the map itself where it has none of them.
func nearest(n *yamlnode.Node, path []string) *yamlnode.Node {
	found := n
	for _, key := range path {
		var next *yamlnode.Node
		for k, v := range yamlnode.Entries(n) {
			if k.Value == key {
				found, next = k, v
			}
		}
		n = next
	}
	return found
}

// add reports a fault at a node, up to the end of its first line; nil is the start of the text.
func (r *reader) add(n *yamlnode.Node, summary, detail string) {
	start, end := 0, r.src.Len()
	if n != nil {
		start, end = n.Start, n.End
	}
	line := r.src.Position(start).Line
	first := r.src.Offset(diag.Position{Line: line, Column: 1})
	end = min(end, first+len(bytes.TrimRight(r.src.Line(line), " \t\r")))
	r.fault = &diag.Diagnostic{Code: diag.BadDefinition, Subject: diag.NewRange(r.src, start, max(start, end)),
		Summary: summary, Detail: detail}
}

// notYAML returns the fault of a text that is no YAML.
func notYAML(src *diag.Source, d diag.Diagnostic) *diag.Diagnostic {
	d.Code, d.Summary = diag.BadDefinition, "the file is no YAML: "+d.Summary
	if bytes.Contains(src.Text(), []byte("{{")) {
		d.Detail = "this is a template: render it first, as with `helm template`"
	}
	return &d
}
