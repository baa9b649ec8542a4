package schema

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/jsontext"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/runtime/plugin"
)

// checkOptions are the arguments and flags of schema check.
type checkOptions struct {
	file     string
	dangling bool
}

// newSchemaCheck returns the command schema check.
func newSchemaCheck(a *console.Console) *cobra.Command {
	o := &checkOptions{}
	cmd := &cobra.Command{
		Use: "check FILE", Short: "Check the schema of a package", Args: cobra.ExactArgs(1),
		Long: "check reports the faults of a package schema in JSON, each with its place: wrong names and versions, types " +
			"that do not exist, references to nothing, required properties that are not declared, and enums without " +
			"values. FILE may be gzipped; - is the standard input. It ends with exit code 12 if there is any error.",
		RunE: console.RunWith(a, checkSchema, o, &o.file),
	}
	cmd.Flags().BoolVar(&o.dangling, "allow-dangling-references", false, "allow references to types that are not in the schema")
	return cmd
}

// checkSchema reports errors in the text of a schema.
func checkSchema(_ context.Context, a *console.Console, o *checkOptions) error {
	name, text, err := "standard input", []byte(nil), error(nil)
	if o.file == "-" {
		text, err = io.ReadAll(a.Streams.In)
	} else {
		name = a.Short(a.Path(o.file))
		text, err = plugin.ReadSchemaFile(a.Path(o.file))
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", name, console.PlainError(err))
	}
	c := &schemaCheck{src: diag.NewSource(name, text), dangling: o.dangling}
	c.check()
	if err := a.Report(c.diags); err != nil {
		return err
	}
	fmt.Fprintf(a.Streams.Out, "%s: no errors\n", name)
	return nil
}

// schemaCheck is the check of one schema. It reads the JSON itself, because decoding into structs would lose the
// positions of members and skip unknown ones.
type schemaCheck struct {
	src      *diag.Source
	root     *item
	dangling bool
	diags    diag.Diagnostics
}

// An item is a JSON value with its position in bytes.
type item struct {
	start, end int
	kind       byte // the first byte of its text: {, [, ", t, f, n; anything else is a number
	text       string
	keys       []string
	members    []*item // values of an object, or items of a list
}

// member returns the value of a key; nil if there is none. Like the other methods, it takes a nil item for an empty
// one.
func (n *item) member(key string) *item {
	if n == nil || n.kind != '{' {
		return nil
	}
	if i := slices.Index(n.keys, key); i >= 0 {
		return n.members[i]
	}
	return nil
}

// textOf returns the string of a key; "" if there is none.
func (n *item) textOf(key string) string {
	if m := n.member(key); m != nil && m.kind == '"' {
		return m.text
	}
	return ""
}

// each calls fn for the members of an object.
func (n *item) each(fn func(key string, value *item)) {
	if n != nil && n.kind == '{' {
		for i, key := range n.keys {
			fn(key, n.members[i])
		}
	}
}

// readItem reads the next value. After a syntax error, which s.Err keeps, it returns what it has read.
func readItem(s *jsontext.Scanner) *item {
	n := &item{kind: s.Next()}
	n.start = s.Pos
	switch n.kind {
	case '{':
		s.Object(func(key string) {
			n.keys = append(n.keys, key)
			n.members = append(n.members, readItem(s))
		})
	case '[':
		s.List(func() { n.members = append(n.members, readItem(s)) })
	case '"':
		n.text = s.Text()
	default:
		s.Skip()
	}
	n.end = s.Pos
	return n
}

// fault adds an error about an item. For an object or a list it marks the bracket at its beginning only.
func (c *schemaCheck) fault(n *item, detail, format string, args ...any) {
	end := n.end
	// The whole text of an object would be most of the file.
	if n.kind == '{' || n.kind == '[' {
		end = n.start + 1
	}
	c.diags.Add(diag.Diagnostic{Code: diag.WrongKind, Subject: diag.NewRange(c.src, n.start, end), Detail: detail,
		Summary: fmt.Sprintf(format, args...)})
}

// packageName matches names of packages.
var packageName = lazyregexp.New(`^[a-zA-Z][-a-zA-Z0-9_]*$`)

// check checks the whole schema. Faults are independent of each other, so that all are reported, except after one that
// leaves nothing to check.
func (c *schemaCheck) check() {
	// The depth is bounded, as the text may be anybody's.
	s := jsontext.New(string(c.src.Text()), jsontext.Options{MaxDepth: 1000})
	// Read as a whole before the first check, since references lead anywhere.
	c.root = readItem(s)
	s.End()
	if s.Err != nil {
		i, text := 0, s.Err.Error()
		if fault, ok := errors.AsType[*jsontext.Error](s.Err); ok {
			i, text = min(fault.Offset, len(c.src.Text())), fault.Problem
		}
		c.diags.Add(diag.Diagnostic{Code: diag.Syntax, Subject: diag.NewRange(c.src, i, i),
			Summary: "the schema is not JSON: " + text, Detail: "is the file whole?"})
		return
	}
	if c.root.kind != '{' {
		c.fault(c.root, "", "a schema is an object")
		return
	}
	switch name := c.root.member("name"); {
	case name == nil:
		c.fault(c.root, `add "name"`, "the schema has no name")
	case !packageName().MatchString(name.text):
		c.fault(name, "a name has letters, digits, - and _, and begins with a letter", "%q is not the name of a package",
			name.text)
	}
	// A schema without a version is complete: the plugin that serves it has one.
	if version := c.root.member("version"); version != nil && version.text != "" {
		if _, err := semver.StrictNewVersion(strings.TrimPrefix(version.text, "v")); err != nil {
			c.fault(version, "a version is such as 1.2.3", "%q is not a version", version.text)
		}
	}
	c.properties(c.root.member("config"), "variables", "defaults")
	if provider := c.root.member("provider"); provider != nil {
		c.resource(provider)
	}
	c.root.member("types").each(func(token string, t *item) {
		c.token(token, t)
		c.named(t)
	})
	c.root.member("resources").each(func(token string, r *item) {
		c.token(token, r)
		c.resource(r)
	})
	c.root.member("functions").each(func(token string, f *item) {
		c.token(token, f)
		c.properties(f.member("inputs"), "properties", "required")
		// The result is an object with properties, or one type.
		if outputs := f.member("outputs"); outputs.member("properties") != nil {
			c.properties(outputs, "properties", "required")
		} else if outputs != nil {
			c.typed(outputs)
		}
	})
}

// token checks that a token has the form package:module:name.
func (c *schemaCheck) token(token string, owner *item) {
	parts := strings.Split(token, ":")
	names := []string{c.root.textOf("name"), "pulumi"}
	if allowed := c.root.member("allowedPackageNames"); allowed != nil {
		for _, n := range allowed.members {
			names = append(names, n.text)
		}
	}
	switch {
	case len(parts) != 3 || slices.Contains(parts, ""):
		c.fault(owner, "a token has the form package:module:name", "%q is not a token", token)
	case !slices.Contains(names, parts[0]):
		c.fault(owner, "name the other package in allowedPackageNames if it may have members of it",
			"the token %s is of the package %s, not of %s", token, parts[0], names[0])
	}
}

// resource checks a resource or the provider.
func (c *schemaCheck) resource(r *item) {
	c.properties(r, "properties", "required")
	c.properties(r, "inputProperties", "requiredInputs")
	if state := r.member("stateInputs"); state != nil {
		c.properties(state, "properties", "required")
	}
	r.member("methods").each(func(_ string, target *item) {
		if c.root.member("functions").member(target.text) == nil {
			c.fault(target, "declare it in functions", "the schema has no function %q", target.text)
		}
	})
}

// named checks the definition of an object type or an enum.
func (c *schemaCheck) named(t *item) {
	values := t.member("enum")
	if values == nil {
		if kind := t.member("type"); kind != nil && kind.text != "object" {
			c.fault(kind, "a named type is an object, or has an enum", "a type of its own is no %s", kind.text)
		}
		c.properties(t, "properties", "required")
		return
	}
	if values.kind != '[' || len(values.members) == 0 {
		c.fault(values, "list its values", "the enum has no values")
	}
	seen := map[string]bool{}
	for _, v := range values.members {
		value := v.member("value")
		switch {
		case value == nil:
			c.fault(v, `add "value"`, "the value of an enum has no value")
		// Numbers have no text here, so that only texts are compared.
		case seen[value.text] && value.kind == '"':
			c.fault(value, "remove one of them", "the enum has the value %q twice", value.text)
		case t.textOf("type") == "string" && value.kind != '"':
			c.fault(value, "", "the enum is of strings")
		default:
			seen[value.text] = true
		}
	}
}

// properties checks the properties of an object and the list of required ones.
func (c *schemaCheck) properties(owner *item, field, required string) {
	properties := owner.member(field)
	if properties != nil && properties.kind != '{' {
		c.fault(properties, "", "%s is a map from names to types", field)
		return
	}
	properties.each(func(name string, p *item) {
		// Both would hide what every resource has.
		if name == "id" && field == "inputProperties" || name == "urn" {
			c.fault(p, "choose another name", "the name %s is taken: every resource has one", name)
		}
		c.typed(p)
	})
	if list := owner.member(required); list != nil && list.kind == '[' {
		seen := map[string]bool{}
		for _, n := range list.members {
			switch {
			case properties.member(n.text) == nil:
				c.fault(n, "declare it in "+field, "%q is required, and is not declared", n.text)
			case seen[n.text]:
				c.fault(n, "remove one of them", "%q is in %s twice", n.text, required)
			}
			seen[n.text] = true
		}
	}
}

// schemaTypes are the names of types in JSON Schema that a package schema may use.
var schemaTypes = []string{"boolean", "integer", "number", "string", "array", "object"}

// typed checks the type of a property, an item or a result.
func (c *schemaCheck) typed(t *item) {
	kind, ref, union := t.member("type"), t.member("$ref"), t.member("oneOf")
	switch {
	case t.kind != '{':
		c.fault(t, "", "a type is an object")
	// A reference wins over a type beside it, as for the reader of schemas.
	case ref != nil:
		c.reference(ref)
	case union != nil:
		if union.kind != '[' || len(union.members) == 0 {
			c.fault(union, "list the types", "the union has no types")
		}
		for _, m := range union.members {
			c.typed(m)
		}
		t.member("discriminator").member("mapping").each(func(_ string, target *item) { c.reference(target) })
	case kind == nil:
		c.fault(t, "add type, $ref or oneOf", "the type is missing")
	case !slices.Contains(schemaTypes, kind.text):
		c.fault(kind, "it is one of "+strings.Join(schemaTypes, ", "), "there is no type %q", kind.text)
	case kind.text == "array":
		if items := t.member("items"); items != nil {
			c.typed(items)
		} else {
			c.fault(t, `add "items"`, "the array does not say what its items are")
		}
	case kind.text == "object":
		if values := t.member("additionalProperties"); values != nil && values.kind == '{' {
			c.typed(values)
		}
	}
}

// reference checks that the target of a reference is in the schema. References to other schemas are not checked.
func (c *schemaCheck) reference(ref *item) {
	// Others begin with a path or the name of a package: /random/v4.0.0/schema.json#/…
	rest, own := strings.CutPrefix(ref.text, "#/")
	if !own || c.dangling || ref.text == "#/provider" {
		return
	}
	section, token, _ := strings.Cut(rest, "/")
	// A reference is a URL with a JSON pointer as its fragment, so both ways of escaping occur.
	token = strings.NewReplacer("%2F", "/", "%2f", "/", "~1", "/", "~0", "~").Replace(token)
	if section != "types" && section != "resources" || c.root.member(section).member(token) == nil {
		c.fault(ref, "declare it, or allow such references with --allow-dangling-references", "%s does not exist", ref.text)
	}
}
