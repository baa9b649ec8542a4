package convert

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/schema"
)

// awsPackage is the provider package whose types follow those of CloudFormation.
const awsPackage = "aws-native"

// forTools is the reason for keeping metadata as a comment, without a remark in the report.
const forTools = "tools and the console of CloudFormation read it"

// cloudFormation converts one template. Each map is complete before the first value is converted (see template), since
// values refer to anything in the template. It is made by read and ends with template: nothing of it is used by the
// program afterwards, except by a stack that nests the template.
type cloudFormation struct {
	*Program
	nesting *nesting
	src     *diag.Source
	schema  *schema.Package // nil if there is none
	types   map[string]string
	diags   diag.Diagnostics
	refs    map[string]string // expressions for Ref, by logical name
	params  map[string]string // configuration names of parameters
	res     map[string]*templateResource
	conds   map[string]string // variable names of conditions
	maps    map[string]string // variable names of mappings
	missing map[string]string // configuration names that replace missing values
	exports bool              // reports whether an output is exported

	current *templateResource
	// policies are those of the current resource that were found by their shape.
	policies policies
}

// templateResource is a resource of the template. It is made for resources that are left out, too, so that references
// to them can say why. declare sets all fields but uses, which grows while values are converted.
type templateResource struct {
	logical     string
	node        *yamlnode.Node
	kind        string
	name        string // name in the program; empty if it was left out
	decl        *schema.Resource
	nested      *cloudFormation // the converted template of a nested stack, or nil
	conditional bool
	item        *Item
	line        int
	uses        map[string]int // lines of references to other resources, by logical name
}

// CloudFormation converts a template, with the templates of its nested stacks as components. The report has the items
// of all templates, in the order of their files and lines.
func CloudFormation(src *diag.Source, o Options) (*Program, diag.Diagnostics) {
	n := &nesting{options: o, templates: map[string]*cloudFormation{}, left: newBudget()}
	c, diags := n.read(src)
	if diags.HasErrors() {
		return nil, diags
	}
	// Components are those of all levels, since the sections of a program cannot be inside of a component.
	c.parts = n.parts
	for _, part := range n.parts {
		c.Items = append(c.Items, part.Items...)
	}
	slices.SortStableFunc(c.Items, func(a, b *Item) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line)
	})
	return c.Program, diags
}

// read converts one template. n.open is the way from the outermost template to this one, by which a template that nests
// itself is found.
func (n *nesting) read(src *diag.Source) (*cloudFormation, diag.Diagnostics) {
	n.open = append(n.open, src.Name())
	defer func() { n.open = n.open[:len(n.open)-1] }()
	// The budget is that of the whole conversion: a hundred templates may not use a hundred times as much.
	in, diags := documents(src, n.left)
	if diags.HasErrors() {
		return nil, diags
	}
	const advice = "a template has a section Resources with at least one resource"
	if len(in.documents) == 0 {
		return nil, fault(src, 1, advice, "the file is empty")
	}
	root := in.documents[0]
	for _, other := range in.documents[1:] {
		// An empty document, as after a last ---, is no second template.
		if !yamlnode.IsNull(other) || len(commentLines(other)) > 0 {
			return nil, fault(src, lineOf(src, other), "convert each template on its own",
				"the file has %d documents, and a template is one", len(in.documents))
		}
	}
	// A template without a version is of the newest, which is the same one.
	if version := yamlnode.TextAt(root, "AWSTemplateFormatVersion"); version != "" && version != "2010-09-09" {
		line := lineOf(src, yamlnode.Member(root, "AWSTemplateFormatVersion"))
		return nil, fault(src, line, "the one version that there is, is 2010-09-09",
			"the template has the version %s, which is not known here", version)
	}
	if resources := yamlnode.Member(root, "Resources"); resources == nil || len(resources.Content) == 0 {
		return nil, fault(src, lineOf(src, root), advice, "this is not a template of CloudFormation: it has no Resources")
	}
	// The name is that of the project; nest gives a component its own.
	c := &cloudFormation{Program: newProgram(n.options.Name), nesting: n, src: src,
		schema: n.options.schemaOf(awsPackage), types: map[string]string{},
		refs: map[string]string{}, params: map[string]string{}, res: map[string]*templateResource{},
		conds: map[string]string{}, maps: map[string]string{}, missing: map[string]string{}}
	if c.schema != nil {
		// Types are found by service and name in lower case, since tokens have other capitals than templates.
		for _, token := range c.schema.ResourceTokens() {
			_, name, _ := strings.Cut(schema.CollapseToken(token), ":")
			c.types[strings.ToLower(name)] = token
		}
	}
	// First, so that what belongs to no section stands at the top.
	c.outside(src, in)
	c.template(longForms(root))
	return c, c.diags
}

// longForms replaces tags such as !Ref by maps such as {Ref: …}, in place. From here on there is one notation of calls.
// The comments go to the new map, where they were, and the inner node keeps the place.
func longForms(node *yamlnode.Node) *yamlnode.Node {
	// Inner calls first: the argument of a call may be one in short form.
	for i := range node.Content {
		node.Content[i] = longForms(node.Content[i])
	}
	tag, short := strings.CutPrefix(node.TagText(), "!")
	if !short || strings.HasPrefix(tag, "!") || tag == "" {
		return node
	}
	// The argument keeps its kind: !Sub may have a text or a list.
	inner := *node
	inner.Style &^= yamlnode.TaggedStyle
	inner.Tag = yamlnode.NoTag
	inner.SetNotes(yamlnode.Comments{})
	if inner.Kind == yamlnode.Scalar {
		// Without its tag, YAML would read !Ref 1 as a number.
		inner.Tag = yamlnode.StringTag
		if inner.Value == "" && inner.Style == 0 {
			inner.Tag = yamlnode.NullTag
		}
	}
	key := "Fn::" + tag
	// These two have no prefix in the long form either.
	if tag == "Ref" || tag == "Condition" {
		key = tag
	}
	m := mappingOf(key, &inner)
	m.Start, m.Content[0].Start = node.Start, node.Start
	notes := node.Notes()
	m.SetNotes(notes)
	return m
}

// counterparts are the sections of the program for those of a template.
var counterparts = map[string]string{"Parameters": "config", "Mappings": "variables", "Conditions": "variables",
	"Resources": "resources", "Outputs": "outputs"}

// template converts the sections. Names come first, in the order of their right to be short: the variables of pseudo
// parameters, parameters, resources, mappings, conditions; a later one of equal names gets a number. Then the values,
// in the order in which they need each other. Comments of a section that is not written go to the top of the program.
func (c *cloudFormation) template(root *yamlnode.Node) {
	c.mention(root.Head())
	if len(root.Content) > 0 {
		c.mention(root.Content[0].Head())
		// YAML attaches the comment above a text to its first key, and that section may not come first in the program.
		root.Content[0].SetHead("")
	}
	each(root, func(key, value *yamlnode.Node) {
		section, known := counterparts[key.Value]
		switch {
		case known && value.Kind != yamlnode.Map && value.ShortTag() != yamlnode.NullTag:
			c.diags.Add(fault(c.src, lineOf(c.src, key), "write a map of names", "%s is not a map", key.Value)...)
		// Comments of a section that has a counterpart go with it; the others are handled below.
		case known:
			of, notes := key.Notes(), value.Notes()
			beside := c.beside[section]
			beside.Head = joined(beside.Head, of.Head, of.Line, notes.Head, notes.Line)
			beside.Foot = joined(beside.Foot, of.Foot, notes.Foot)
			c.beside[section] = beside
			return
		case key.Value == "AWSTemplateFormatVersion":
		case key.Value == "Description" && value.Kind == yamlnode.Scalar:
			c.about = value.Value
		case key.Value == "Transform":
			reason := "CloudFormation runs the macros that it names; what they change is not in this program"
			// The transform is one name or a list of names.
			if value.Value == samTransform || slices.ContainsFunc(value.Content,
				func(n *yamlnode.Node) bool { return n.Value == samTransform }) {
				reason += "; of AWS SAM, " + transformed
			}
			c.section(key, value, reason)
		case key.Value == "Globals":
			c.section(key, value, "AWS SAM merges it into the resources of its own types: "+transformed)
		case key.Value == "Rules":
			c.section(key, value, "rules about parameters have no counterpart")
		case key.Value == "Metadata":
			c.leaveOut("", key.Value, forTools, entryOf(key, value))
		default:
			c.section(key, value, "the section is not known")
		}
		// Nothing of this section is in the program, so its comments are kept here.
		c.mention(c.lost(nil, key, value))
	})
	// Their names are taken even if the template does not use them: a parameter of such a name gets a number.
	for _, p := range pseudo {
		c.names[p.variable] = true
	}
	resources := yamlnode.Member(root, "Resources")
	each(yamlnode.Member(root, "Parameters"), func(key, _ *yamlnode.Node) { c.params[key.Value] = c.unique(camel(key.Value)) })
	each(resources, c.declare)
	each(yamlnode.Member(root, "Mappings"), func(key, _ *yamlnode.Node) { c.maps[key.Value] = c.unique(camel(key.Value)) })
	each(yamlnode.Member(root, "Conditions"), func(key, _ *yamlnode.Node) { c.conds[key.Value] = c.unique(camel(key.Value)) })
	// From here on values are converted. Mappings contain no calls, parameters need no other section, conditions refer
	// to both.
	each(yamlnode.Member(root, "Mappings"), func(key, value *yamlnode.Node) {
		c.begin(key, "mapping", c.maps[key.Value])
		c.add("variables", c.maps[key.Value], key, value, data(value, false))
	})
	each(yamlnode.Member(root, "Parameters"), c.parameter)
	each(yamlnode.Member(root, "Conditions"), func(key, value *yamlnode.Node) {
		c.begin(key, "condition", c.conds[key.Value])
		c.add("variables", c.conds[key.Value], key, value, text("${"+c.expr(value)+"}"))
	})
	each(resources, func(key, _ *yamlnode.Node) { c.resource(key, c.res[key.Value]) })
	each(yamlnode.Member(root, "Outputs"), c.output)
	// What follows is about the template as a whole, and no item gets its remarks.
	c.at = nil
	for _, section := range sectionNames {
		if len(c.sections[section].Content) == 0 { // it is not written
			beside := c.beside[section]
			c.mention(joined(beside.Head, beside.Foot))
		}
	}
	c.cycles()
}

// begin adds an item to the report, which remarks are about until the next one begins.
func (c *cloudFormation) begin(key *yamlnode.Node, kind, as string) *Item {
	c.at = &Item{Name: key.Value, Kind: kind, As: as, File: c.src.Name(), Line: lineOf(c.src, key)}
	c.Items = append(c.Items, c.at)
	return c.at
}

const (
	samTransform = "AWS::Serverless-2016-10-31"
	// transformed tells how templates of AWS SAM are converted.
	transformed = "convert the transformed template, which `sam validate --debug` prints, or, once it is deployed, " +
		"`aws cloudformation get-template --template-stage Processed`"
	// ofSAM is the reason to leave out what AWS SAM replaces.
	ofSAM = "AWS SAM replaces it by types of CloudFormation: " + transformed
)

// section records a section of the template that cannot be converted.
func (c *cloudFormation) section(key, value *yamlnode.Node, reason string) {
	c.drop(c.begin(key, "section", ""), entryOf(key, value), reason)
	// The comment that follows belongs to no item.
	c.at = nil
}

// declare names a resource and finds its type. A resource without a name is left out; whether it is must be known
// before any reference to it is converted.
func (c *cloudFormation) declare(key, value *yamlnode.Node) {
	r := &templateResource{logical: key.Value, node: value, kind: yamlnode.TextAt(value, "Type"), line: lineOf(c.src, key),
		uses: map[string]int{}, conditional: yamlnode.Member(value, "Condition") != nil}
	r.item = &Item{Name: key.Value, Kind: r.kind, File: c.src.Name(), Line: lineOf(c.src, key)}
	// A repeated name cannot occur: read has kept the last one.
	c.res[key.Value] = r
	c.Items = append(c.Items, r.item)
	reason := ""
	token := c.token(r.kind)
	stack := r.kind == "AWS::CloudFormation::Stack"
	if stack {
		// References to the outputs of a nested template need its sections, so it is converted before any value of this
		// one.
		r.nested = c.nest(r)
	}
	switch {
	case r.nested != nil:
	case strings.HasPrefix(key.Value, "Fn::"):
		reason = "CloudFormation writes resources with it before it creates them"
	case r.kind == "":
		reason = "it has no Type"
	case strings.HasPrefix(r.kind, "Custom::") || r.kind == "AWS::CloudFormation::CustomResource":
		reason = "custom resources run by CloudFormation only; a dynamic type or a command can take its place"
	case strings.HasPrefix(r.kind, "AWS::Serverless::"):
		reason = ofSAM
	case token == "":
		reason = "the package " + awsPackage + " has no type for " + r.kind
	case c.schema != nil:
		r.decl, _ = c.schema.Resource(token)
	}
	if reason != "" {
		c.drop(r.item, entryOf(key, value), reason)
		return
	}
	if stack && r.nested == nil {
		r.item.remark("the nested template is not converted: CloudFormation deploys it as before")
	}
	r.name = c.unique(camel(key.Value))
	r.item.As = r.name
	// Only resources that the program has can get remarks about their properties.
	c.items[r.name] = r.item
}

// token returns the type token for a CloudFormation type, or "" if there is none. Without the schema the token follows
// from the rule that made it.
func (c *cloudFormation) token(kind string) string {
	parts := strings.Split(kind, "::")
	if len(parts) != 3 || parts[0] != "AWS" {
		return ""
	}
	service := strings.ToLower(parts[1])
	if service == "config" {
		service = "configuration"
	}
	if c.schema != nil {
		return c.types[service+":"+strings.ToLower(parts[2])]
	}
	return awsPackage + ":" + service + ":" + upperFirst(words(parts[2]))
}

// resource converts a resource that is not left out. Every field is either converted or left out with a reason.
func (c *cloudFormation) resource(key *yamlnode.Node, r *templateResource) {
	if r.name == "" {
		return
	}
	c.current, c.policies, c.at = r, nil, r.item
	out, options := mapping(), mapping()
	// The entry is put first and filled below, so that resources keep the order of the template.
	added := put(c.sections["resources"], r.name, out)
	added.SetNotes(key.Notes())
	defer func() {
		// At the end it is known which comments have been written or quoted; the others are kept above the resource.
		c.keep(added, out, key, r.node)
		c.current, c.at = nil, nil
	}()
	if r.nested != nil {
		put(out, "type", text("components:"+r.nested.name))
	} else {
		put(out, "type", text(schema.CollapseToken(c.token(r.kind))))
	}
	each(r.node, func(field, value *yamlnode.Node) {
		switch field.Value {
		// The type has been written, and the properties follow when the options are complete.
		case "Type", "Properties":
		case "Condition":
			if name := c.conds[value.Value]; name != "" {
				put(out, "if", text("${"+name+"}"))
			} else {
				c.leaveOut(r.name, "Condition", "the template has no condition of that name", value)
			}
		case "DependsOn":
			names := []*yamlnode.Node{value}
			if value.Kind == yamlnode.List {
				names = value.Content
			}
			deps := list()
			for _, name := range names {
				if name.Kind != yamlnode.Scalar {
					c.leaveOut(r.name, "DependsOn", "it is not the name of a resource", name)
				} else if target := c.res[name.Value]; target != nil && target.name != "" {
					// The use counts for cycles, as one by a value does.
					r.uses[name.Value] = lineOf(c.src, name)
					deps.Content = append(deps.Content, text("${"+target.name+"}"))
				} else {
					c.leaveOut(r.name, "DependsOn "+name.Value, "the program does not have that resource", nil)
				}
			}
			if len(deps.Content) > 0 {
				put(options, "dependsOn", deps)
			}
		case "DeletionPolicy":
			switch value.Value {
			case "Retain", "RetainExceptOnCreate", "Snapshot":
				put(options, "retainOnDelete", boolean(true))
				if value.Value == "Snapshot" {
					r.item.remark("DeletionPolicy Snapshot: the program keeps the object, as it makes no snapshot")
				}
			case "Delete":
			default:
				c.leaveOut(r.name, "DeletionPolicy", "the policy is not known", value)
			}
		case "UpdateReplacePolicy":
			// A policy that equals the one for deletion is covered by the same option.
			if value.Kind != yamlnode.Scalar || value.Value != "Delete" && value.Value != yamlnode.TextAt(r.node, "DeletionPolicy") {
				c.leaveOut(r.name, "UpdateReplacePolicy", "there is no option for replacements alone", value)
			}
		case "CreationPolicy", "UpdatePolicy":
			c.leaveOut(r.name, field.Value, "CloudFormation itself waits for signals and rolls updates out", value)
		case "Metadata":
			if yamlnode.Member(value, "AWS::CloudFormation::Init") != nil {
				c.leaveOut(r.name, field.Value, "cfn-init on the machine reads it from CloudFormation: do in UserData what it "+
					"asks for", value)
			} else {
				c.remarks[r.name] = append(c.remarks[r.name], "left out: Metadata: "+forTools+c.quote(value))
			}
		default:
			c.leaveOut(r.name, field.Value, "the field is not known", value)
		}
	})
	properties := mapping()
	given := yamlnode.Member(r.node, "Properties")
	var inputs *schema.Object
	if r.decl != nil {
		inputs = r.decl.Inputs
	}
	switch {
	case r.nested != nil:
		properties = c.arguments(r)
	case given == nil || given.ShortTag() == yamlnode.NullTag:
	case given.Kind != yamlnode.Map:
		c.leaveOut(r.name, "Properties", "it is not a map", given)
	default:
		if name, arg := intrinsic(given); name != "" {
			c.leaveOut(r.name, "Properties", "CloudFormation computes them with "+name, arg)
		} else {
			properties = c.object(given, inputs, "")
		}
	}
	// Without its required properties the resource would not pass the check.
	for _, p := range inputs.Properties() {
		if p.Required && p.Const == nil && p.Default == nil && yamlnode.Member(properties, p.Name) == nil {
			put(properties, p.Name, text("${"+c.need(r.logical+"."+p.Name, "any", p.Name+" of "+r.logical)+"}"))
			r.item.remark("it needs %s, which the template does not give: the program takes it from its configuration", p.Name)
		}
	}
	if len(properties.Content) > 0 {
		put(out, "properties", properties)
	}
	if len(options.Content) > 0 {
		put(out, "options", options)
	}
}

// need returns the name of a configuration value that replaces something the program cannot compute. The program stays
// complete in this way: it checks, and asks for the value when it is run.
func (c *cloudFormation) need(what, kind, about string) string {
	if name := c.missing[what]; name != "" {
		return name
	}
	// The error is reported once, at zero. What is returned afterwards is in no program, since there is none with
	// errors.
	if c.nesting.left.values--; c.nesting.left.values <= 0 {
		if c.nesting.left.values == 0 {
			line := 1
			if c.current != nil {
				line = c.current.line
			}
			c.diags.Add(fault(c.src, line, "convert the nested templates one by one", "the program would need more than %d "+
				"configuration values for what it cannot compute", maxValues)...)
		}
		return "missing"
	}
	name := c.unique(camel(strings.FieldsFunc(what, func(r rune) bool { return r == '.' })...))
	// The same attribute may be needed by many resources and is asked for once.
	c.missing[what] = name
	c.further = c.further || kind == "any"
	c.addConfig(name, kind, about)
	return name
}

// output converts an output. One with a condition is null if the condition is false, as outputs cannot be conditional
// here.
func (c *cloudFormation) output(key, value *yamlnode.Node) {
	item := c.begin(key, "output", key.Value)
	given, reason := yamlnode.Member(value, "Value"), "it has no Value"
	if given == nil {
		item.As = ""
		if strings.HasPrefix(key.Value, "Fn::") {
			reason = "CloudFormation writes outputs with it before it creates the stack"
		}
		c.drop(item, entryOf(key, value), reason)
		return
	}
	// The path marks that keys of maps stay as they are: outputs have no type.
	out := c.value(given, nil, "outputs")
	var notes []string
	if about := yamlnode.TextAt(value, "Description"); about != "" {
		notes = append(notes, about)
	}
	if export := yamlnode.Member(value, "Export", "Name"); export != nil {
		notes = append(notes, "exported by CloudFormation as "+c.expr(export))
		if !c.exports {
			item.remark("CloudFormation exports it: once this is a program, others read its outputs by stack references")
		}
		// The remark stands at the first export only.
		c.exports = true
	}
	each(value, func(field, value *yamlnode.Node) {
		name := c.conds[value.Value]
		export := yamlnode.Member(value, "Name")
		switch {
		case field.Value == "Value", field.Value == "Description" && value.Kind == yamlnode.Scalar:
		// An export with more than a name is named as unknown.
		case field.Value == "Export" && export != nil && len(value.Content) == 2:
		case field.Value == "Condition" && name != "":
			out = mappingOf("fn::if", list(text("${"+name+"}"), out, null()))
		case field.Value == "Condition":
			c.leaveOut("", "Condition", "the template has no condition of that name", value)
		default:
			c.leaveOut("", field.Value, "the field is not known", entryOf(field, value))
		}
	})
	added := put(c.sections["outputs"], key.Value, out)
	of := key.Notes()
	of.Head = joined(of.Head, comment(notes))
	added.SetNotes(of)
	c.keep(added, out, key, value)
}

// cycles reports resources that depend on each other. CloudFormation refuses them as well; one is enough to make the
// input faulty.
func (c *cloudFormation) cycles() {
	state := map[string]int{} // 1: on path, 2: done
	var path []string
	var visit func(name string) bool
	visit = func(name string) bool {
		r := c.res[name]
		if r == nil || state[name] == 2 {
			return false
		}
		if state[name] == 1 {
			circle := append(path[slices.Index(path, name):], name)
			c.diags.Add(fault(c.src, r.line, "remove one of these references", "resources need each other: %s",
				strings.Join(circle, " -> "))...)
			return true
		}
		state[name] = 1
		path = append(path, name)
		// Sorted, so that the same template has the same message each time.
		if slices.ContainsFunc(slices.Sorted(maps.Keys(r.uses)), visit) {
			return true
		}
		path = path[:len(path)-1]
		state[name] = 2
		return false
	}
	for _, item := range c.Items {
		if c.res[item.Name] != nil && visit(item.Name) {
			return
		}
	}
}
