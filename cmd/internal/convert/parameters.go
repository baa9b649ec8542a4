package convert

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// limits are the constraints of a parameter's length and value, by the type that they apply to: the condition under
// which a value violates one, and what it must do instead.
var limits = []struct{ field, typed, violated, rule string }{
	{"MinLength", "string", "length(%s) < %s", "have at least %s characters"},
	{"MaxLength", "string", "length(%s) > %s", "have at most %s characters"},
	{"MinValue", "number", "%s < %s", "be at least %s"},
	{"MaxValue", "number", "%s > %s", "be at most %s"},
}

// parameter declares a configuration value, and messages that check the constraints of the parameter. A default that is
// secret, or that only CloudFormation can resolve, must not be in the program.
func (c *cloudFormation) parameter(key, value *yamlnode.Node) {
	name, kind := c.params[key.Value], yamlnode.TextAt(value, "Type")
	// The name was chosen by template, before anything could refer to it.
	item := c.begin(key, strings.TrimSpace("parameter "+kind), name)
	out := mapping()
	added := put(c.sections["config"], name, out)
	added.SetNotes(key.Notes())
	// At the end, when it is known which parts of the parameter were converted: the comments of the others are kept.
	defer func() { c.keep(added, out, key, value) }()
	given := yamlnode.Member(value, "Default")
	if given != nil && given.Kind != yamlnode.Scalar {
		c.leaveOut("", "Default", "it is not a text", given)
		given = nil
	}
	typed := "string"
	reference := name
	switch {
	case kind == "Number":
		typed = "number"
	case kind == "List<Number>":
		typed = "list<number>"
	// Lists of types of AWS, such as List<AWS::EC2::VPC::Id>, are lists of IDs.
	case kind == "CommaDelimitedList" || strings.HasPrefix(kind, "List<"):
		typed = "list<string>"
	case strings.HasPrefix(kind, "AWS::SSM::Parameter::Value<"):
		function := "getSsmParameterString"
		if strings.Contains(kind, "List<") || strings.Contains(kind, "CommaDelimitedList") {
			function = "getSsmParameterList"
		}
		// The configuration has the name of the parameter in the store, and a variable its value, which Ref gives.
		reference = c.unique(name + "Value")
		put(c.sections["variables"], reference, text(`${invoke("aws-native:index:`+function+`", {name = `+name+`}).value}`))
	// A single type of AWS is an ID, which is a string.
	case kind != "String" && !strings.HasPrefix(kind, "AWS::"):
		item.remark("its type %q is not known: it is a string here", kind)
	}
	put(out, "type", text(typed))
	if given != nil {
		put(out, "default", parameterDefault(typed, given))
	}
	secret := strings.EqualFold(yamlnode.TextAt(value, "NoEcho"), "true")
	if secret {
		put(out, "secret", boolean(true))
	}
	switch {
	case given == nil || given.Value == "" && !secret:
	case secret: // an empty one too: a secret has no default
		remove(out, "default")
		item.remark("its default is not in the program, because it is a secret: set it with `yamlhost config set "+
			"--secret %s`", name)
	case dynamic().MatchString(given.Value):
		remove(out, "default")
		item.remark("its default %s is for CloudFormation: set its value with `yamlhost config set %s`", given.Value, name)
	case literal.Text(given.Value) != given.Value:
		c.further = true
	}
	if about := yamlnode.TextAt(value, "Description"); about != "" {
		put(out, "description", text(about))
	}
	// Set before the constraints are written, which refer to the configuration itself.
	c.refs[key.Value] = reference
	used := c.constraints(key, value, name, typed, item)
	if value.Kind != yamlnode.Map {
		c.leaveOut("", key.Value, "it is not a map", value)
	}
	each(value, func(field, value *yamlnode.Node) {
		switch {
		case used[field.Value], field.Value == "Default":
		case slices.Contains([]string{"Type", "Description", "NoEcho"}, field.Value) && value.Kind == yamlnode.Scalar:
		// A constraint of another type is named, unless it is empty or zero and so would constrain nothing.
		case field.Value == "ConstraintDescription":
			c.leaveOut("", field.Value, "it explains a constraint, and none is checked", entryOf(field, value))
		case strings.HasPrefix(field.Value, "Allowed"), strings.HasPrefix(field.Value, "M"):
			if value.Value != "" && value.Value != "0" || len(value.Content) > 0 {
				c.leaveOut("", field.Value, "it says nothing of a value of this type", entryOf(field, value))
			}
		default:
			c.leaveOut("", field.Value, "the field is not known", entryOf(field, value))
		}
	})
}

// parameterDefault returns the default of a parameter. Templates write lists as texts with commas.
func parameterDefault(typed string, given *yamlnode.Node) *yamlnode.Node {
	if inner, isList := strings.CutPrefix(typed, "list<"); isList {
		items := list()
		if given.Value == "" {
			return items
		}
		// CloudFormation removes the blanks around items, too.
		for part := range strings.SplitSeq(given.Value, ",") {
			n := text(literal.Text(strings.TrimSpace(part)))
			if inner == "number>" {
				// Without a tag the library writes the digits as they are.
				n = &yamlnode.Node{Kind: yamlnode.Scalar, Value: strings.TrimSpace(part)}
			}
			items.Content = append(items.Content, n)
		}
		return items
	}
	if typed == "number" {
		return &yamlnode.Node{Kind: yamlnode.Scalar, Value: strings.TrimSpace(given.Value)}
	}
	return text(literal.Text(given.Value))
}

// constraints writes messages that check the constraints of a parameter, and returns the fields that it has used. A
// message of the level error stops the run before anything is created, as a violated constraint does in CloudFormation.
func (c *cloudFormation) constraints(key, value *yamlnode.Node, name, typed string, item *Item) map[string]bool {
	used := map[string]bool{}
	// condition holds when the constraint is violated, as the field `if` of a message wants it.
	ask := func(field, condition, problem string) {
		used[field] = true
		// Messages are a section of programs, which a component has not.
		if len(c.nesting.open) > 1 {
			item.remark("a component does not check that it must %s", problem)
			return
		}
		// It stands behind our words and not in their place: one text explains all constraints of the parameter.
		if own := yamlnode.TextAt(value, "ConstraintDescription"); own != "" {
			used["ConstraintDescription"] = true
			problem += " (" + own + ")"
		}
		message := mappingOf("level", text("error"))
		put(message, "if", text("${"+condition+"}"))
		put(message, "message", text(literal.Text(key.Value+" must "+problem)))
		messages := c.sections["messages"]
		messages.Content = append(messages.Content, message)
	}
	if allowed := yamlnode.Member(value, "AllowedValues"); allowed != nil && allowed.Kind == yamlnode.List &&
		!slices.ContainsFunc(allowed.Content, func(n *yamlnode.Node) bool { return n.Kind != yamlnode.Scalar }) {
		var items, shown []string
		for _, v := range allowed.Content {
			shown = append(shown, v.Value)
			items = append(items, literal.Quoted(v.Value))
			if typed == "number" {
				// Compared as numbers, since the configuration is one; the message shows what the template has.
				items[len(items)-1] = v.Value
			}
		}
		condition := "!contains([" + strings.Join(items, ", ") + "], " + name + ")"
		if strings.HasPrefix(typed, "list<") {
			// Each item of a list has to be allowed.
			condition = "!allTrue([for x in " + name + " : contains([" + strings.Join(items, ", ") + "], x)])"
		}
		ask("AllowedValues", condition, "be one of "+strings.Join(shown, ", "))
	}
	if pattern := yamlnode.TextAt(value, "AllowedPattern"); pattern != "" && typed == "string" {
		// CloudFormation matches the whole value.
		whole := "^(?:" + pattern + ")$"
		// The templates are for the expressions of Java, which know more.
		if _, err := regexp.Compile(whole); err != nil {
			used["AllowedPattern"] = true
			item.remark("AllowedPattern %s is not checked: it is not in the syntax of RE2", pattern)
		} else {
			ask("AllowedPattern", "!can(regex("+literal.Quoted(whole)+", "+name+"))", "match "+pattern)
		}
	}
	for _, limit := range limits {
		n := yamlnode.TextAt(value, limit.field)
		// Every text has at least no characters.
		if typed == limit.typed && n != "" && !(limit.field == "MinLength" && n == "0") {
			ask(limit.field, fmt.Sprintf(limit.violated, name, n), fmt.Sprintf(limit.rule, n))
		}
	}
	return used
}
