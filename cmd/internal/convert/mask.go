package convert

import (
	"strings"

	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// hidden replaces texts of the source that may be secret.
const hidden = "[secret]"

// secretName matches names of secret values, but not names of objects that hold secrets, such as secretName and
// tokenUrl.
var secretName = lazyregexp.New(
	`(?i)(pass(word|wd|phrase|code)?|secret|token|credentials?|(api|access|private|secret|signing|` +
		`encryption|account|shared)_?-?key|auth|pin)([_-]?(string|value|text|data|base64|hash))?$`)

// structure matches names that mean a secret with a text, but settings with a map or a list.
var structure = lazyregexp.New(`(?i)auth$`)

// secretText matches texts that contain a secret whatever their name: PEM keys, addresses with a password, and access
// keys.
var secretText = lazyregexp.New(
	`-----BEGIN [A-Z ]*PRIVATE KEY|://[^/@\s:]*:[^/@\s]+@|\b(AKIA|ASIA|ghp_|xox[bp]-)[A-Za-z0-9]`)

// mask returns a copy of a part of the source with possible secrets hidden. below reports that a name above marks it as
// secret, object that it is a Kubernetes Secret. It returns copies, because the input may still be converted after a
// part of it has been quoted.
func mask(node *yamlnode.Node, below, object bool) *yamlnode.Node {
	out := *node
	out.Content = nil
	notes := node.Notes()
	out.SetNotes(yamlnode.Comments{Head: maskedComment(notes.Head), Line: maskedComment(notes.Line),
		Foot: maskedComment(notes.Foot)})
	switch node.Kind {
	case yamlnode.Scalar:
		// A dynamic reference names where CloudFormation reads the secret.
		below = below && node.ShortTag() != yamlnode.BoolTag && !strings.HasPrefix(node.Value, resolve)
		if node.Value != "" && node.ShortTag() != yamlnode.NullTag && (below || secretText().MatchString(node.Value)) {
			return text(hidden)
		}
	case yamlnode.List:
		for _, item := range node.Content {
			out.Content = append(out.Content, mask(item, below, false))
		}
	case yamlnode.Map:
		// In lists of pairs, such as environment variables, the name stands beside the value.
		named := strings.EqualFold(yamlnode.TextAt(node, "NoEcho"), "true")
		for _, field := range []string{"name", "Name", "Key"} {
			named = named || secretName().MatchString(yamlnode.TextAt(node, field))
		}
		function, arg := intrinsic(node)
		// The condition is the name of one, whatever stands above it.
		if function == "Fn::If" && arg.Kind == yamlnode.List && len(arg.Content) > 0 { // which begins with a condition
			branches := *arg
			branches.Content = append([]*yamlnode.Node{arg.Content[0]}, mask(arg, below, false).Content[1:]...)
			out.Content = []*yamlnode.Node{node.Content[0], &branches}
			return &out
		}
		each(node, func(key, value *yamlnode.Node) {
			// Below a secret name, the arguments of functions that make up a text are secret, and names such as those
			// in Ref are not.
			inner := below && (function == "" || (function == "Fn::Sub" || function == "Fn::Join") && !resolves(value) ||
				function == "Fn::Base64") || secretValue(key.Value, value) ||
				object && (key.Value == "data" || key.Value == "stringData") ||
				named && (strings.EqualFold(key.Value, "value") || key.Value == "Default")
			out.Content = append(out.Content, key, mask(value, inner, false))
		})
	}
	return &out
}

// secretValue reports whether a name marks its value as secret: not the ID of a resource or an event in a template, the
// ARN of a custom resource's function, or settings of authorization.
func secretValue(name string, value *yamlnode.Node) bool {
	switch {
	case !secretName().MatchString(name), name == "ServiceToken":
		return false
	// A resource or parameter may be called Secret without being one.
	case value.Kind == yamlnode.Map && yamlnode.Member(value, "Type") != nil && yamlnode.Member(value, "Default") == nil:
		return false
	case value.Kind == yamlnode.Map:
		function, _ := intrinsic(value)
		return function != "" || !structure().MatchString(name)
	}
	return value.Kind == yamlnode.Scalar || !structure().MatchString(name)
}

const resolve = "{{resolve:"

// resolves reports whether the argument of Fn::Sub or Fn::Join makes a dynamic reference.
func resolves(arg *yamlnode.Node) bool {
	for arg.Kind == yamlnode.List && len(arg.Content) > 0 {
		if arg.Content[0].Value == "" && len(arg.Content) > 1 {
			arg = arg.Content[1] // the texts that Fn::Join joins
		} else {
			arg = arg.Content[0]
		}
	}
	return strings.HasPrefix(arg.Value, resolve)
}

// maskedComment hides a whole comment if it contains a secret. The whole comment, as it cannot be told which of its
// words the secret is.
func maskedComment(comment string) string {
	if secretText().MatchString(comment) {
		return "# " + hidden
	}
	return comment
}

// shown formats a part of the source for a comment, without secrets; "" if it cannot be encoded. A part that cannot be
// encoded is left out of the comment and not of the report.
func shown(node *yamlnode.Node) string {
	content, err := encode(mask(node, false, yamlnode.TextAt(node, "kind") == "Secret"), nil)
	if err != nil {
		return ""
	}
	return "\n  " + strings.ReplaceAll(strings.TrimRight(string(content), "\n"), "\n", "\n  ")
}
