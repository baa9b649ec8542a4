package parser

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/jsontext"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// InJSON returns findings in which the advice about JSON files shows JSON.
func InJSON(found diag.Diagnostics) diag.Diagnostics {
	copied := false
	for i, d := range found {
		if d.Detail == "" || d.Subject.Source == nil || !strings.HasSuffix(d.Subject.Source.Name(), ".json") {
			continue
		}
		if !copied {
			found, copied = slices.Clone(found), true
		}
		found[i].Detail = adviceInJSON(d.Detail)
	}
	return found
}

// wordsInJSON are the words about the layout of YAML.
var wordsInJSON = strings.NewReplacer("indent ", "move ", ", each item after a dash", "", ", each entry on a line", ", as in",
	"without the list", "without the brackets")

func adviceInJSON(advice string) string {
	const example = "for example: "
	advice = wordsInJSON.Replace(advice)
	if before, after, found := strings.Cut(advice, example); found {
		return adviceInJSON(before) + example + inJSON(after)
	}
	parts := strings.Split(advice, "`") // each second one is of a program
	if len(parts)%2 == 0 {
		return advice
	}
	for i := 1; i < len(parts); i += 2 {
		parts[i] = inJSON(parts[i])
	}
	return strings.Join(parts, "`")
}

// inJSON returns a piece of a program as JSON; names, expressions and what is no YAML stay as they are.
func inJSON(text string) string {
	for _, sign := range []string{"for ", " = ", " ? ", " => "} { // of an expression
		if strings.Contains(text, sign) && !strings.Contains(text, "${") {
			return text
		}
	}
	if strings.HasPrefix(text, "${") && strings.HasSuffix(text, "}") {
		return string(jsontext.AppendString(nil, text, false))
	}
	n, err := yamlnode.Parse([]byte(text))
	if err != nil || n == nil {
		return text
	}
	if n.Kind == yamlnode.Scalar && (n.Quoted() || !strings.HasPrefix(text, "${")) {
		return text
	}
	written, ok := nodeInJSON(n)
	if !ok {
		return text
	}
	if n.Kind == yamlnode.Map && !n.Flow() {
		return written[1 : len(written)-1] // an entry
	}
	return written
}

// nodeInJSON writes a node; ok is false for one with a null that is not written, which is no YAML of a program.
func nodeInJSON(n *yamlnode.Node) (text string, ok bool) {
	var parts []string
	for i, child := range n.Content {
		part, ok := nodeInJSON(child)
		switch {
		case !ok:
			return "", false
		case n.Kind == yamlnode.Map && i%2 == 1:
			parts[i/2] += ": " + part
		default:
			parts = append(parts, part)
		}
	}
	switch {
	case n.Kind == yamlnode.Map:
		return "{" + strings.Join(parts, ", ") + "}", true
	case n.Kind == yamlnode.List:
		return "[" + strings.Join(parts, ", ") + "]", true
	case n.Kind == yamlnode.Scalar && n.Tag == yamlnode.StringTag:
		return string(jsontext.AppendString(nil, n.Value, false)), true
	}
	return n.Value, n.Kind == yamlnode.Scalar && n.Value != ""
}
