package project

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// Query is the file of `import --query`: the resources to look for.
type Query struct {
	Resources []QueriedType
}

// QueriedType is the query for resources of a type.
type QueriedType struct {
	Type     Literal
	Provider Literal // a name or a URN of a provider in the stack; empty for the default
	// Version and DownloadURL identify the provider's plugin; empty for any.
	Version, DownloadURL string
	// Source is the plugin that Parameters turn into the type's package, as in a project's `packages`; empty for the
	// project's package of that name.
	Source     Literal
	Parameters []string
	// Filter is a JSON object with conditions that the provider defines, and Keys are its members; nil for everything.
	Filter json.RawMessage
	Keys   []Literal
	At     diag.Range // of the filter, or else of the type
	Limit  int        // 0 for all
	Name   string     // the name of found resources, see NameOf
}

// ParseQuery reads a query file, in YAML or JSON. The query is valid only if no diagnostic is an error.
func ParseQuery(src *diag.Source) (*Query, diag.Diagnostics) {
	q, d := &Query{}, &document{src: src}
	root := d.parse()
	if d.diags.HasErrors() {
		return q, d.diags
	}
	list := d.fields("a query", root, "resources").node("resources")
	switch {
	case isNull(list) || list.Kind == yamlnode.List && len(list.Content) == 0:
		d.add(diag.RequiredMissing, d.at(root), "the query names no resources",
			"write a list of types: `resources: [{type: …}]`")
	case list.Kind != yamlnode.List:
		d.wrongKind("resources", "a list", list)
	default:
		for n, item := range list.Content {
			q.Resources = append(q.Resources, d.queriedType(fmt.Sprintf("resources[%d]", n), item.Target()))
		}
	}
	return q, d.diags
}

func (d *document) queriedType(field string, n *yamlnode.Node) QueriedType {
	r := d.fields(field, n, "type", "provider", "source", "version", "parameters", "pluginDownloadURL", "query",
		"limit", "name")
	literal := func(key string) Literal {
		if l := r.literal(key); l != nil {
			return *l
		}
		return Literal{}
	}
	q := QueriedType{Type: literal("type"), Provider: literal("provider"), Version: r.text("version"),
		DownloadURL: r.text("pluginDownloadURL"), Source: literal("source"), Parameters: r.texts("parameters")}
	if q.Type.Text == "" && (r.isNull("type") || isText(r.node("type"))) {
		d.add(diag.RequiredMissing, d.at(n), field+" has no type", "write the type of resources to look for, such as "+
			"`type: aws:s3/bucket:Bucket`")
	}
	switch {
	case q.Source.Text == "" && len(q.Parameters) > 0:
		d.add(diag.RequiredMissing, r.key("parameters"), field+" has parameters and no source",
			"write the plugin that makes a package of them, such as `source: terraform-provider`")
	case q.Source.Text != "" && r.isNull("parameters"):
		d.add(diag.RequiredMissing, q.Source.Range, field+" has a source and no parameters",
			"write what the plugin is to make the package of, such as `parameters: [hashicorp/random]`")
	}
	q.At = q.Type.Range
	if filter := r.node("query"); !isNull(filter) {
		q.At = d.at(filter)
		q.Keys, q.Filter = d.filter(field+".query", filter)
	}
	if limit := r.node("limit"); !isNull(limit) {
		number, _ := limit.Data()
		if n, whole := number.(int); limit.Kind == yamlnode.Scalar && whole && n >= 1 && n <= math.MaxInt32 {
			q.Limit = n
		} else {
			d.wrongKind(field+".limit", "a whole number from 1", limit)
		}
	}
	name := literal("name")
	for _, part := range placeholders().FindAllString(name.Text, -1) {
		if !slices.Contains([]string{"${name}", "${id}", "$${"}, part) {
			d.add(diag.BadInterpolation, name.Range, fmt.Sprintf("%s.name has %s, which has no value", field, part),
				"names are made of `${name}`, which is the provider's name of the resource or else its ID, and `${id}`")
		}
	}
	q.Name = name.Text
	return q
}

// filter returns a map as JSON, and its keys.
func (d *document) filter(field string, n *yamlnode.Node) (keys []Literal, text json.RawMessage) {
	for _, e := range d.entries(field, n) {
		keys = append(keys, e.key)
	}
	if d.diags.HasErrors() {
		return keys, nil
	}
	data, err := (&decoder{}).decode(n, 0)
	if err == nil {
		text, err = json.Marshal(data)
	}
	if err != nil {
		d.add(diag.WrongKind, d.at(n), fmt.Sprintf("%s cannot be sent to a provider: %s", field, err), "")
	}
	return keys, text
}

// placeholders finds placeholders and escapes in a name.
var placeholders = lazyregexp.New(`\$\$\{|\$\{[^}]*\}?`)

// NameOf returns the name of a found resource: ${name} is the provider's name for it, or else its ID, and ${id} is the
// ID. Without a template it is ${name}.
func (q *QueriedType) NameOf(id, name string) string {
	name = cmp.Or(name, id)
	if q.Name == "" {
		return name
	}
	return strings.NewReplacer("$${", "${", "${name}", name, "${id}", id).Replace(q.Name)
}
