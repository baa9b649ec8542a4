package check_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// expressionPieces are what people write in expressions: of this language, of others, and misspelt.
var expressionPieces = []string{"any", "any.x", "obj", "obj.length", "n", "lenght", "any.x y", "odd.a + b", "odd.p/q", ".x",
	".q/r", "[0]", `["x y"]`, "['x']", "[*]", `"d"`, "'d'", "`d`", "1", "2.5", "true", " + ", "+", " - ", "-", "*", " / ", "/",
	" and ", " or ", "not ", " is ", " in ", " === ", "==", " != ", "!", "??", " ? ", " : ", "?.", ":", ":-", "(", ")", ",",
	" => ", "|", " && ", "||", " ", "{", "}", "${", "upper(n)", "AWS::Region", "ns:key", " if ", "%", " < "}

// TestExpressionsAreReadWhole holds rule L5.42: what passes without an error has been read whole. Every name in the text
// is a name in the tree, every operator is one there, and no unquoted name has an operator, a quote, a bracket or a word
// of expressions in it unless the program has exactly that name.
func TestExpressionsAreReadWhole(t *testing.T) {
	t.Parallel()
	passed, operators := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(expressionPieces), 1, 7).Draw(rt, "pieces"), "")
		if rapid.Bool().Draw(rt, "binary") {
			right := rapid.SampledFrom([]string{"n", "1", "(n)", text}).Draw(rt, "right")
			text = "any.x" + rapid.SampledFrom(expressionPieces).Draw(rt, "operator") + right
		}
		if i := strings.IndexByte(text, '}'); i >= 0 && !strings.Contains(text[:i], "{") {
			text = text[:i] // the rest is text
		}
		written, err := json.Marshal("${" + text + "}")
		require.NoError(rt, err)
		program := `
variables:
  any: {fn::fromJSON: '{"x": 1}'}
  obj: {length: 3}
  n: 1
  odd: {a + b: 1, p/q: 2}
  v: ` + string(written) + "\n"
		file, found := parser.Parse(diag.NewSource("Main.yaml", []byte(program)), parser.Options{})
		_, more := check.Check(t.Context(), file, check.Options{Project: "p"})
		if found.Add(more...); found.HasErrors() {
			return
		}
		w := &wholeness{}
		ast.Walk(file.Variables[len(file.Variables)-1].Value, w.visit)
		for _, name := range w.bare {
			if name != "a + b" && name != "p/q" {
				require.Regexp(rt, `^[\w:-]+( +\w[\w:-]*)*$`, name, text)
				require.NotRegexp(rt, ` (and|or|not|is|in|if)\b|\b(and|or|not|is|in|if) `, name, text)
			}
		}
		have := strings.Join(w.seen, " ")
		plain := quotedText.ReplaceAllString(text, " ")
		for _, word := range words.FindAllString(plain, -1) {
			require.Contains(rt, words.FindAllString(have, -1), word, text)
		}
		if w.splat {
			have += strings.Repeat("?", strings.Count(plain, "?")-strings.Count(have, "?")) // all items of null are none
		}
		for _, sign := range []string{"+", "-", "*", "/", "%", "=", "!", "<", "&", "|", "?"} {
			require.Equal(rt, strings.Count(plain, sign), strings.Count(have, sign), "%s in %s, read as %s", sign, text, have)
			operators += strings.Count(have, sign)
		}
		passed++
	})
	require.Greater(t, passed, 1, "expressions without an error")
	require.Greater(t, operators, 0, "operators in them")
}

var (
	quotedText = regexp.MustCompile(`"[^"]*"`)
	words      = regexp.MustCompile(`[A-Za-z]+`)
)

// wholeness gathers the names and operators of an expression.
type wholeness struct {
	bare  []string // names without quotes
	seen  []string // names and operators
	splat bool
}

func (w *wholeness) name(name string) {
	w.bare, w.seen = append(w.bare, name), append(w.seen, name)
}

func (w *wholeness) visit(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Access:
		w.name(e.Root.Value)
		for _, s := range e.Steps {
			if s.Optional {
				w.seen = append(w.seen, "?")
			}
			switch {
			case s.Quoted:
			case s.IsIndex && s.Index < 0:
				w.seen = append(w.seen, "-")
			case !s.IsIndex:
				w.name(s.Name)
			}
		}
	case *ast.Member:
		w.name(e.Name.Value)
	case *ast.Call:
		w.seen = append(w.seen, e.Name.Value)
	case *ast.Bool:
		w.seen = append(w.seen, map[bool]string{true: "true", false: "false"}[e.Value])
	case *ast.Number:
		if e.Value < 0 {
			w.seen = append(w.seen, "-")
		}
	case *ast.Binary:
		w.seen = append(w.seen, e.Op)
	case *ast.Unary:
		w.seen = append(w.seen, e.Op)
	case *ast.Conditional:
		w.seen = append(w.seen, "?")
	case *ast.Splat:
		w.seen, w.splat = append(w.seen, "*"), true
	}
	return true
}
