package project

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// Template is the section `template` of a project file, in Pulumi's own form. It describes the creation of projects
// from that file.
type Template struct {
	Description string // of the template, or else of the project; empty if there is none
	Quickstart  string // the next steps after the creation of a project; may be empty
	Config      []TemplateValue
}

// TemplateValue is a configuration value that is asked for when a project is created.
type TemplateValue struct {
	Key         string // as written, with or without a namespace
	Description string
	Default     string // empty when there is none
	Secret      bool
}

// Placeholders for a project's name and description in the texts of a template.
const (
	templateName        = "${PROJECT}"
	templateDescription = "${DESCRIPTION}"
)

// ReadTemplate reads a project file as a template. Its name need not be valid, as in `name: ${PROJECT}`.
func ReadTemplate(src *diag.Source) (*Template, diag.Diagnostics) {
	t, d := &Template{}, &document{src: src}
	root := d.parse()
	if root == nil || root.Kind != yamlnode.Map {
		if root != nil {
			d.wrongKind("a project file", "a map", root)
		}
		return t, d.diags
	}
	r := d.record("", d.entries("a project file", root))
	fields := d.openFields("template", r.node("template"), "displayName", "description", "quickstart", "important",
		"metadata", "config")
	t.Description, t.Quickstart = fields.text("description"), fields.text("quickstart")
	if own := r.text("description"); t.Description == "" && own != templateDescription {
		t.Description = own
	}
	for _, e := range d.entries("template.config", fields.node("config")) {
		place := "template.config." + e.key.Text
		v := d.openFields(place, e.value, "description", "default", "secret")
		t.Config = append(t.Config, TemplateValue{Key: e.key.Text, Description: v.text("description"),
			Default: d.scalar(place+".default", v.node("default")), Secret: v.flag("secret")})
	}
	return t, d.diags
}

// scalar returns the text of a value of any kind but lists and maps; empty for null.
func (d *document) scalar(field string, n *yamlnode.Node) string {
	if isNull(n) {
		return ""
	}
	if n.Kind != yamlnode.Scalar {
		d.wrongKind(field, "a text, a number, or true or false", n)
		return ""
	}
	return n.Value
}

// CheckName returns an error if a project cannot have that name.
func CheckName(name string) error {
	if projectName().MatchString(name) {
		return nil
	}
	return fmt.Errorf("%q cannot be a project's name: a name has 1 to 100 letters, digits, hyphens, underscores and dots",
		name)
}

// Fill returns a text of a template with its placeholders replaced by a project's name and description.
func Fill(text []byte, name, description string) []byte {
	text = bytes.ReplaceAll(text, []byte(templateName), []byte(name))
	return bytes.ReplaceAll(text, []byte(templateDescription), []byte(description))
}

// FromTemplate returns the project file of a new project: the template's file with another name and description, its
// placeholders filled, and without the section `template`. All other lines are unchanged. The template must be valid.
func FromTemplate(text []byte, name, description string) ([]byte, error) {
	text = StripBOM(text)
	root, err := yamlnode.Parse(text)
	if err != nil {
		return nil, err
	}
	if root == nil || root.Kind != yamlnode.Map || root.Flow() {
		return nil, errors.New("the project file of a template has one key on each line, without braces around them")
	}
	head, err := header(name, description)
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(string(text), "\n")
	for i := len(root.Content) - 2; i >= 0; i -= 2 { // from the end, so that line numbers stay valid
		from, to := entryLines(text, lines, root, i)
		switch root.Content[i].Value {
		case "template":
			for from > 0 && strings.HasPrefix(lines[from-1], "#") {
				from--
			}
			for to < len(lines) && strings.TrimSpace(lines[to]) == "" {
				to++
			}
			lines = slices.Delete(lines, from, to)
		case "description":
			lines = slices.Delete(lines, from, to)
		case "name":
			lines = slices.Replace(lines, from, to, head)
			head = ""
		}
	}
	made := strings.TrimRight(head+string(Fill([]byte(strings.Join(lines, "")), name, description)), "\r\n") + "\n"
	return []byte(made), nil
}

// isNote reports whether a line is empty or a comment that starts at the margin.
func isNote(line string) bool {
	return strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#")
}

// header returns the lines with a project's name and description.
func header(name, description string) (string, error) {
	root := &yamlnode.Node{Kind: yamlnode.Map, Content: []*yamlnode.Node{scalarNode("name"), scalarNode(name)}}
	if description != "" {
		root.Content = append(root.Content, scalarNode("description"), scalarNode(description))
	}
	text, err := yamlnode.Encode(root)
	return string(text), err
}
