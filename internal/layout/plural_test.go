package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// counted finds a number with a noun in the plural in a format, but not a limit.
var counted = regexp.MustCompile(`(more than |at most |over |up to |from 0 to )?%d (?:[a-z]+ )?([a-z]+s)\b`)

// notNouns are words with an s at their end that are no plurals.
var notNouns = map[string]bool{"is": true, "was": true, "as": true, "has": true, "this": true, "makes": true,
	"waits": true, "does": true, "declares": true, "ms": true, "its": true, "remarks": true}

// alwaysSeveral are the formats whose number cannot be 1, with the reason.
var alwaysSeveral = map[string]string{
	"at a time; the paths name %d files, such as %s and %s":                  "after a comparison with 1",
	"each of the %d stacks":                                                  "after a comparison with 1",
	"%d computed properties":                                                 "after a comparison with 1",
	"%d resources are named %q; name one by its URN:":                        "after a comparison with 1",
	"%q matches %d resources; name one":                                      "after a comparison with 1",
	"Fill in %d required properties of %s":                                   "after a comparison with 1",
	"the file has %d documents, and a template is one":                       "after a comparison with 1",
	"the state has %d entries named %s, some of which are pending deletes; ": "after a comparison with 1",
	"one address of an engine is expected, not %d arguments":                 "after a comparison with 1",
	"the stack %q still has %d resources":                                    "after a comparison with 1",
	"%d things are":                                                          "after a comparison with 1",
	"%d bytes":                                                               "after a comparison with 1",
	"the backend %s names a table with %d characters; %d are possible":       "too many",
	"the data key of the stack has %d bytes instead of %d":                   "of a cipher",
	"[%d bytes, too large to be shown]":                                      "large",
	"… [%d bytes]":                                                           "large",
	"… (%d bytes)":                                                           "large",
	"%s takes %d hexadecimal digits, not %q":                                 "a constant",
	"the file is larger than %d bytes":                                       "a constant",
	"it is longer than %d bytes":                                             "a constant",
	"%d columns, %d lines":                                                   "of a terminal",
	"%d bytes make no address":                                               "4 or 16",
}

// A number in a message agrees with its noun: messages count with diag.Count, or do without a plural.
func TestCountsAgreeWithTheirNouns(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, f := range code(t) {
		if strings.HasPrefix(f.path, "tools/") || strings.HasPrefix(f.path, "test/") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.path, f.text, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			require.NoError(t, err)
			for _, m := range counted.FindAllStringSubmatch(text, -1) {
				if m[1] != "" || notNouns[m[2]] {
					continue
				}
				if reason := excused(text, used); reason == "" {
					t.Errorf("%s: %q is wrong for 1: count with diag.Count", f.path, text)
				}
			}
			return true
		})
	}
	for text := range alwaysSeveral {
		if !used[text] {
			t.Errorf("no message has %q any more", text)
		}
	}
}

func excused(text string, used map[string]bool) string {
	for known, reason := range alwaysSeveral {
		if text == known || len(known) > 24 && strings.Contains(text, known) {
			used[known] = true
			return reason
		}
	}
	return ""
}
