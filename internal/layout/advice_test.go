package layout

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// advised lists the texts of cmd and runtime that advise to remove something, to create it anew or to run a command
// again, as a part of each, with the reason why that loses nothing and does nothing twice. What a user made is never
// removed: it is corrected, restored or moved away. (Texts of the packages that read programs advise to remove words of
// the program, at the place that they show.)
var advised = map[string]string{
	"describes the whole import: remove the other arguments":         "arguments of the command",
	"--from describes the whole import: remove the other flags":      "flags of the command",
	"has an ID: remove it; a provider is imported by its inputs":     "an ID in the file of an import",
	"use the option `provider` first, or remove `providers`":         "a word of the program, which does nothing there",
	"Delete one by hand, or import it with ":                         "two objects for one resource, of which the user keeps one",
	"and then delete the file that was set aside":                    "what it holds is back in the state then",
	"Remove those first, or all at once with --target-dependents":    "the user has asked to remove what they need",
	"use the default edition, or remove the key `environment`":       "a key of a settings file",
	"run the same command again; it reports interrupted operations.": "the journal tells what was done",
	"List, install and remove provider plugins":                      "a description of a command",
	"run the command again":                                          "nothing was done: the provider of secrets is read first",
	"out whether they exist, and run again":                          "the user finds out what exists first",
	"Run again with --settle-pending read":                           "the provider reads what exists; nothing is created",
	"correct the errors and run `yamlhost %s` again":                 "the state has what is done, and what is not known",
	"correct `match` and `name`, or remove it":                       "an entry of a test file that does nothing",
	"remove it with: yamlhost test --update":                         "a snapshot that no case has",
	"or remove the stack with --force and leave them behind":         "the user has asked to remove the stack",
	"or delete the lock with 'cancel'":                               "cancel fences the run, and the text says whether it lives",
	"or end it, and run this command again. Nothing was done.":       "another process holds the stack; nothing was done",
	"and run this command again. Nothing was done.":                  "another process holds the stack; nothing was done",
	", and run the command again":                                    "the step that failed is in the journal",
	"Check the network and the URL, and run the command again.":      "no step was begun, as said where one was",
	"resource to false and run again, or use `state unprotect":       "nothing was done to the resource",
	"remove the option protect from the resource and run again":      "nothing was done to the resource",
	"give one of them another name or remove the alias":              "an alias in the program",
	"remove the alias from one of them":                              "an alias in the program",
	"remove the alias or rename one of them":                         "an alias in the program",
}

// advice matches a request to remove something, to make it again or to do something again, behind a pause.
var advice = regexp.MustCompile(`([;:.\n] ?|,? \b(or|and|then) (then )?)(please |you can |you may |either |just )?` +
	`([Rr]emove|[Dd]elete|[Rr]e-?create|[Dd]iscard|[Ee]rase|[Rr]einstall|[Rr]etry|[Tt]ry again|[Ss]tart over|` +
	`[Rr]un [^;.]{0,40}\bagain)\b`)

// TestAdviceHasAReason fails for a text with such advice that advised does not list, and for an entry that no text has.
func TestAdviceHasAReason(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, f := range code(t) {
		if !strings.HasPrefix(f.path, "cmd/") && !strings.HasPrefix(f.path, "runtime/") {
			continue
		}
		for pos, text := range textsOf(f.tree) {
			if !advice.MatchString(text) {
				continue
			}
			known := false
			for part := range advised {
				if strings.Contains(text, part) {
					known, used[part] = true, true
				}
			}
			if !known {
				t.Errorf("%s advises to remove, to make again or to run again: let the user correct, restore or move away "+
					"what is theirs, or give a reason in advised: %q", positions.Position(pos), text)
			}
		}
	}
	for part := range advised {
		if !used[part] {
			t.Errorf("advised has an entry that no text needs: %q", part)
		}
	}
}

// textsOf returns the texts of a file that a person may read as advice: constant texts, joined, without those of one
// word, and without what describes commands. A detail of a finding is advice from its first word on.
func textsOf(file *ast.File) map[token.Pos]string {
	found := map[token.Pos]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			key, _ := n.Key.(*ast.Ident)
			if key != nil && key.Name == "Detail" {
				if text, ok := constantText(n.Value); ok {
					found[n.Pos()] = ": " + text
					return false
				}
			}
			return key == nil || key.Name != "Short" && key.Name != "Use" && key.Name != "Long"
		case *ast.BinaryExpr, *ast.BasicLit:
			if text, ok := constantText(n.(ast.Expr)); ok {
				if strings.Contains(text, " ") {
					found[n.Pos()] = text
				}
				return false
			}
		}
		return true
	})
	return found
}

// constantText returns the text of a literal, or of joined ones.
func constantText(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, ok := constantText(e.X)
		right, also := constantText(e.Y)
		return left + right, ok && also && e.Op == token.ADD
	}
	return "", false
}
