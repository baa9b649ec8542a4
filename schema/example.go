package schema

import (
	"strings"
	"unicode"

	"github.com/yamlhost/yamlhost/internal/literal"
)

// Example returns a valid value of a property, as YAML on one line: its constant or default if the schema has one, and
// else a value of its type with the required members.
func Example(p *Property) string { return exampleValue(p, p.Type, 0) }

// ExampleName returns a name for a resource of a type: the token's last part in lower camel case.
func ExampleName(token string) string {
	name := []rune(token[strings.LastIndexByte(token, ':')+1:])
	if len(name) > 0 {
		name[0] = unicode.ToLower(name[0])
	}
	return string(name)
}

func exampleValue(p *Property, t Type, depth int) string {
	if p != nil && p.Const != nil {
		return quoteExample(p.Const)
	}
	if p != nil && p.Default != nil {
		return quoteExample(p.Default)
	}
	const deepest = 16 // required members are not recursive (F8.19), except in invalid schemas
	switch t := Required(t).(type) {
	case Primitive:
		switch t {
		case Bool:
			return "true"
		case Integer, Number:
			return "1"
		case Asset:
			return "{fn::fileAsset: ./file}"
		case Archive:
			return "{fn::fileArchive: ./folder}"
		case AnyResource:
			return "${resource}"
		}
		return `"..."`
	case *Enum:
		if len(t.Values) > 0 {
			return quoteExample(t.Values[0].Value)
		}
	case *Array:
		return "[" + exampleItem(t.Item, depth+1) + "]"
	case *Map:
		return "{key: " + exampleItem(t.Item, depth+1) + "}"
	case *Union:
		return exampleValue(nil, t.Members[0], depth)
	case *ResourceType:
		return "${" + ExampleName(t.Token) + "}"
	case *Token:
		return exampleValue(nil, t.Underlying, depth)
	case *Object:
		if depth >= deepest {
			return "{}"
		}
		var members []string
		for _, m := range t.Properties() {
			if m.Required {
				members = append(members, m.Name+": "+inBrackets(exampleValue(m, m.Type, depth+1)))
			}
		}
		return "{" + strings.Join(members, ", ") + "}"
	}
	return `"..."`
}

// exampleItem is exampleValue inside of brackets, where an interpolation needs quotes.
func exampleItem(t Type, depth int) string { return inBrackets(exampleValue(nil, t, depth)) }

func inBrackets(text string) string {
	if strings.HasPrefix(text, "${") {
		return `"` + text + `"`
	}
	return text
}

func quoteExample(v any) string {
	text, isText := v.(string)
	if !isText {
		return ScalarText(v)
	}
	return literal.Flow(literal.Text(text))
}
