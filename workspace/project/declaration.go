package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// Declaration is one entry of the project file's `config` (F3.4): a declaration of a key of the project's own, or a
// value for a key of another namespace.
type Declaration struct {
	Key      Key
	Place    diag.Range // of the key
	Own      bool       // the key is of the project's namespace
	Type     *Type      // nil when not declared
	Secret   bool
	Optional bool  // `optional: true` or `default: null`: the value may be missing
	Default  *Data // nil when absent
	Value    *Data // nil when absent
}

// Data is a value written in the project file.
type Data struct {
	Text  string // as programs get it
	Range diag.Range
	data  any
}

// Data returns the value in the form of settings.
func (d *Data) Data() any { return d.data }

// Type is a declared type (L2.11).
type Type struct {
	Name string // string, integer, number, boolean, object or array
	Item *Type  // of an array; nil when open
}

// String returns the type in the spelling of programs.
func (t *Type) String() string {
	if t.Name == "array" && t.Item != nil {
		return "array of " + t.Item.String()
	}
	return t.Name
}

// readConfig reads the `config` block, which used to be the directory of the stacks' files (F3.1).
func (p *Project) readConfig(d *document, config, stackConfigDir entry) {
	if isText(config.value) {
		if !isNull(stackConfigDir.value) {
			d.report(diag.Diagnostic{Code: diag.Duplicate, Subject: config.key.Range,
				Summary: "config and stackConfigDir both name the directory of the stack files", Detail: "remove config",
				Related: []diag.Related{{Range: stackConfigDir.key.Range, Message: "the other one"}}})
			return
		}
		p.StackConfigDir = d.slashed(Literal{config.value.Value, d.at(config.value)})
		return
	}
	var entries []entry
	d.alike(func() { entries = d.entries("config", config.value) })
	for _, e := range entries {
		if decl := p.readDeclaration(d, e); decl != nil {
			p.Config = append(p.Config, decl)
		}
	}
}

func (p *Project) readDeclaration(d *document, e entry) *Declaration {
	key, err := ParseKey(e.key.Text, p.Name.Text)
	if err != nil && p.Name.Text != "" {
		d.add(diag.WrongKind, e.key.Range, err.Error(), "")
		return nil
	}
	decl := &Declaration{Key: key, Place: e.key.Range, Own: key.Namespace == p.Name.Text}
	place := "config." + e.key.Text
	if e.value.Kind != yamlnode.Map {
		p.readShorthand(d, place, decl, e.value)
		decl.Secret = hasSecret(e.value)
		return decl
	}
	var fields record
	d.alike(func() {
		fields = d.fields(place, e.value, "type", "items", "description", "secret", "optional", "default", "value", "name")
		decl.Secret, decl.Optional = fields.flag("secret"), fields.flag("optional")
		if decl.Optional {
			d.report(diag.Diagnostic{Severity: diag.Portability, Code: diag.YamlhostOnly, Subject: fields.key("optional"),
				Summary: "the field `optional` of a configuration value is understood by yamlhost only"})
		}
		fields.text("description")
	})
	if !fields.isNull("type") {
		decl.Type = d.readType(place+".type", fields.node("type"), fields.node("items"))
	}
	if n := fields.node("default"); n != nil {
		if isNull(n) || isExpression(n) { // the program computes an expression
			decl.Optional = true
		} else {
			decl.Default = d.data(place+".default", n)
		}
	}
	if !fields.isNull("value") {
		decl.Value = d.data(place+".value", fields.node("value"))
	}
	for _, field := range []string{"default", "value"} {
		n := fields.node(field)
		if n == nil {
			continue
		}
		if decl.Secret = decl.Secret || hasSecret(n); decl.Secret && !isExpression(n) {
			rng := d.at(n)
			rng.Source.Hide(rng)
		}
	}
	p.checkDeclaration(d, place, decl, fields)
	return decl
}

// readShorthand reads a bare scalar or list: a default for a key of the project, a value for any other key.
func (p *Project) readShorthand(d *document, place string, decl *Declaration, n *yamlnode.Node) {
	if isNull(n) {
		d.add(diag.WrongKind, decl.Place, place+" has no value",
			"write a value, or `{type: string}` to require one from the stack")
		decl.Optional = true
		return
	}
	data := d.data(place, n)
	if decl.Own {
		decl.Default, decl.Optional = data, data == nil
	} else {
		decl.Value = data
	}
}

// hasSecret reports whether data has a call of fn::secret in it, which is no call there. Its author means a secret.
func hasSecret(n *yamlnode.Node) bool {
	for i, child := range n.Content { // what an alias stands for is looked at where it stands
		if n.Kind == yamlnode.Map && i%2 == 0 && strings.EqualFold(child.Value, "fn::secret") || hasSecret(child) {
			return true
		}
	}
	return false
}

// isExpression reports whether a default is a call of a built-in function, which only the program can evaluate.
func isExpression(n *yamlnode.Node) bool {
	return n.Kind == yamlnode.Map && len(n.Content) == 2 && strings.HasPrefix(strings.ToLower(n.Content[0].Value),
		"fn::")
}

func (d *document) data(field string, n *yamlnode.Node) *Data {
	dec := decoder{}
	v, err := dec.decode(n, 0)
	var text string
	if err == nil {
		text, err = dataText(v)
	}
	if err != nil {
		d.add(diag.WrongKind, d.at(n), fmt.Sprintf("%s cannot be read: %s", field, err), "")
		return nil
	}
	if loss, found := rounded(v, d.at(n)); found {
		d.alike(func() { d.report(loss) })
	}
	if !strings.HasPrefix(field, "config.pulumi:autonaming") { // the engine replaces the placeholders in it
		d.warnLiteral(field, n)
	}
	return &Data{Text: text, Range: d.at(n), data: v}
}

// warnLiteral warns of texts that look like expressions in the value of a field: values of a project file are data
// (L2.17).
func (d *document) warnLiteral(field string, n *yamlnode.Node) {
	n = n.Target()
	if n.Kind == yamlnode.Scalar {
		if strings.Contains(n.Value, "${") {
			d.report(diag.Diagnostic{Severity: diag.Warning, Code: diag.Ignored, Subject: d.at(n),
				Summary: field + " is this text itself: nothing takes the place of `${…}`",
				Detail:  "write the value itself, let each stack set it, or make it a variable of the program"})
		}
		return
	}
	for i, child := range n.Content {
		if n.Kind == yamlnode.List || i%2 == 1 {
			d.warnLiteral(field, child)
		}
	}
}

// checkDeclaration reports fields that exclude each other (F3.4, L2.12, L2.13, L2.16).
func (p *Project) checkDeclaration(d *document, place string, decl *Declaration, fields record) {
	if decl.Own {
		if decl.Default != nil && decl.Value != nil {
			d.alike(func() {
				d.add(diag.ConfigDefault, fields.key("value"), place+" has both a default and a value", "keep one of them")
			})
		}
	} else if p.Name.Text != "" {
		for _, name := range []string{"type", "default"} {
			if fields.node(name) != nil {
				d.add(diag.ConfigDefault, fields.key(name), fmt.Sprintf("%s cannot have a %s: the key is not of this project", place,
					name), "give it a value: `value: …`")
			}
		}
		if decl.Value == nil && fields.node("default") == nil {
			d.add(diag.ConfigMissing, decl.Place, place+" needs a value: the key is not of this project",
				"write `value: …` in it")
		}
	}
	if decl.Type == nil {
		return
	}
	for _, data := range []*Data{decl.Default, decl.Value} {
		if data == nil {
			continue
		}
		field := "default"
		if data == decl.Value {
			field = "value"
		}
		_, isText := data.data.(string)
		switch {
		case !fits(decl.Type, data.data, true):
			advice := ""
			switch kind := dataKind(data.data); {
			case decl.Type.Name == "boolean":
				advice = "write `true` or `false`"
			case decl.Type.Name == "string" && kind != "array" && kind != "object":
				advice = "write it in quotes"
			}
			d.alike(func() {
				d.add(diag.ConfigDefault, data.Range, fmt.Sprintf("the %s of `%s` is %s, its type is %s", field,
					diag.Excerpt(decl.Key.Name), diag.WithArticle(dataKind(data.data)), decl.Type), advice)
			})
		case isText && (decl.Type.Name == "array" || decl.Type.Name == "object"):
			d.report(diag.Diagnostic{Severity: diag.Portability, Code: diag.YamlhostOnly, Subject: data.Range,
				Summary: fmt.Sprintf("the %s of `%s`, a text that holds JSON, is understood by yamlhost only", field,
					diag.Excerpt(decl.Key.Name)), Detail: "write it without the quotes"})
		}
		if decl.Secret && decl.Own {
			d.report(diag.Diagnostic{Code: diag.ConfigDefault, Subject: data.Range, Confidential: true,
				Summary: fmt.Sprintf("the %s of `%s` is not encrypted, but the key is secret", field, diag.Excerpt(decl.Key.Name)),
				Detail:  "remove it and set the value per stack: yamlhost config set --secret " + decl.Key.Name})
		}
	}
}

// ValueType returns the declared type or else the kind of the default (L2.33); nil when there is neither.
func (d *Declaration) ValueType() *Type {
	if d.Type != nil {
		return d.Type
	}
	for _, data := range []*Data{d.Value, d.Default} {
		if data == nil {
			continue
		}
		if kind := dataKind(data.data); kind != "integer" {
			return &Type{Name: kind}
		}
		return &Type{Name: "number"}
	}
	return nil
}

// typeNames are the spellings of types that Pulumi's own reader of project files accepts (L2.11).
var typeNames = []string{"string", "integer", "boolean", "array", "object"}

// readType reads a type in the spelling of project files or of programs (L2.11, L2.20).
func (d *document) readType(field string, n, items *yamlnode.Node) *Type {
	var l *Literal
	if d.alike(func() { l = d.text(field, n) }); l == nil {
		return nil
	}
	t := parseType(l.Text)
	if t == nil {
		finding := diag.Diagnostic{Code: diag.WrongKind, Subject: l.Range,
			Summary: fmt.Sprintf("%s must be a type, found %q", field, l.Text), Detail: "the types are: " +
				strings.Join(typeNames, ", ") + " and number"}
		if near := nearest(l.Text, typeNames); near != "" {
			finding.Summary += "; did you mean " + near + "?"
			finding.Fixes = []diag.Fix{{Label: "Change to " + near, Edits: []diag.Edit{{Range: l.Range, Text: near}}}}
		}
		d.report(finding)
		return nil
	}
	if !slices.Contains(typeNames, l.Text) {
		d.report(diag.Diagnostic{Severity: diag.Portability, Code: diag.YamlhostOnly, Subject: l.Range,
			Summary: fmt.Sprintf("the type %s in a project file is understood by yamlhost only", l.Text),
			Detail:  "portable types are: " + strings.Join(typeNames, ", ")})
	}
	if t.Name != "array" || t.Item != nil {
		return t
	}
	if isNull(items) {
		d.add(diag.WrongKind, l.Range, strings.TrimSuffix(field, ".type")+" is an array without items",
			"add the type of its items: `items: {type: string}`")
		return t
	}
	fields := d.fields(strings.TrimSuffix(field, "type")+"items", items, "type", "items")
	if !fields.isNull("type") {
		t.Item = d.readType(strings.TrimSuffix(field, "type")+"items.type", fields.node("type"), fields.node("items"))
	} else if items.Kind == yamlnode.Map {
		d.add(diag.WrongKind, d.at(items), strings.TrimSuffix(field, "type")+"items has no type", "")
	}
	return t
}

// parseType reads the spelling of a type; nil for none.
func parseType(text string) *Type {
	text = strings.ToLower(strings.ReplaceAll(text, " ", ""))
	switch text {
	case "string", "integer", "number", "boolean", "object", "array":
		return &Type{Name: text}
	case "int":
		return &Type{Name: "integer"}
	case "bool":
		return &Type{Name: "boolean"}
	}
	if inner, ok := strings.CutPrefix(text, "list<"); ok && strings.HasSuffix(inner, ">") {
		if item := parseType(strings.TrimSuffix(inner, ">")); item != nil {
			return &Type{Name: "array", Item: item}
		}
	}
	return nil
}

// Check returns an error if a text, as a person enters it, is not of the declared type. It does not tell a secret.
func (d *Declaration) Check(text string) error {
	switch {
	case fits(d.Type, text, false):
		return nil
	case d.Secret:
		return fmt.Errorf("%s takes a value of type %s", d.Key.Name, d.Type)
	}
	return fmt.Errorf("%s takes a value of type %s, not %q", d.Key.Name, d.Type, diag.Shorten(text, 40))
}

// fits reports whether v is of type t (F3.6, L2.15). Texts with the form of a number, a boolean, or JSON fit, too. Only
// texts are strings if strict is set, for typed defaults (L2.12).
func fits(t *Type, v any, strict bool) bool {
	if t == nil {
		return true
	}
	text, isText := v.(string)
	switch t.Name {
	case "string":
		switch v.(type) {
		case []any, map[string]any:
			return false
		}
		_, isTime := v.(time.Time)
		return !strict || isText || isTime
	case "integer":
		switch x := v.(type) {
		case int64, uint64, json.Number:
			return true
		case float64:
			return x == math.Trunc(x)
		}
		_, err := strconv.ParseInt(text, 10, 64)
		return isText && (err == nil || errors.Is(err, strconv.ErrRange))
	case "number":
		switch v.(type) {
		case int64, uint64, float64, json.Number:
			return true
		}
		f, err := strconv.ParseFloat(text, 64)
		return isText && err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
	case "boolean":
		_, isBool := v.(bool)
		return isBool || text == "true" || text == "false"
	case "object":
		_, ok := read(v).(map[string]any)
		return ok
	case "array":
		list, ok := read(v).([]any)
		return ok && !slices.ContainsFunc(list, func(item any) bool { return !fits(t.Item, item, strict) })
	}
	return true
}

// read returns what a text holds as JSON, which is how a stack keeps lists and maps set as text; all other data is
// returned unchanged.
func read(v any) any {
	text, isText := v.(string)
	if !isText {
		return v
	}
	if parsed, err := FromJSON([]byte(text)); err == nil {
		return parsed
	}
	return v
}

// dataKind returns the kind of data for messages, such as "array".
func dataKind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case int64, uint64, json.Number:
		return "integer"
	case float64:
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "string"
}
