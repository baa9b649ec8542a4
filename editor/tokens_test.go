package editor_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/parser"
)

// kinds maps kinds of tokens to the letters in expected results. Capitals stand for declarations.
var kinds = map[editor.TokenKind]string{editor.KeywordToken: "k", editor.ConfigToken: "c", editor.VariableToken: "v",
	editor.ResourceToken: "r",
	editor.OutputToken:   "o", editor.HookToken: "h", editor.TypeToken: "t", editor.FunctionToken: "f",
	editor.PropertyToken: "p", editor.OperatorToken: "x"}

// tokensOf returns the tokens of a file that overlap the bytes from start to end, exclusive, in source order and with
// offsets in the whole text.
func tokensOf(ctx context.Context, s *editor.Snapshot, path string, start, end int) ([]editor.Token, error) {
	parts, err := editor.TokenParts(ctx, s, path)
	if err != nil {
		return nil, err
	}
	var tokens []editor.Token
	for _, part := range parts {
		for _, t := range part.Touching(start, end) {
			t.Start, t.End = t.Start+int32(part.Start), t.End+int32(part.Start)
			tokens = append(tokens, t)
		}
	}
	return tokens, nil
}

func colored(t *testing.T, text string, start, end int) string {
	t.Helper()
	s, _ := opened(t, text+"|")
	tokens, err := tokensOf(t.Context(), s, file, start, end)
	require.NoError(t, err)
	var words []string
	for _, token := range tokens {
		kind := kinds[token.Kind]
		if token.Declared {
			kind = strings.ToUpper(kind)
		}
		words = append(words, kind+":"+text[token.Start:token.End])
	}
	return strings.Join(words, " ")
}

// TestTokens checks that the kinds of tokens depend on the meaning of words.
func TestTokens(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, wants string }{
		"sections": {names,
			"k:config C:size k:type t:integer k:default k:variables V:twice x:${ c:size x:* x:} k:resources R:pet k:type " +
				"t:random:RandomPet k:properties p:length x:${ v:twice x:} k:outputs O:one x:${ r:pet p:length x:} " +
				"O:two x:${ v:twice x:} x:${ r:pet p:id x:}"},
		"names like keys": {"variables:\n  type: {type: 1, options: 2}\noutputs:\n  config: ${type.options}\n",
			"k:variables V:type p:type p:options k:outputs O:config x:${ v:type p:options x:}"},
		"options": {"resources:\n  a:\n    type: random:RandomPet\n    options:\n      protect: true\n      " +
			"customTimeouts: {create: 1h}\n",
			"k:resources R:a k:type t:random:RandomPet k:options k:protect k:customTimeouts k:create"},
		"functions": {"variables:\n  a:\n    fn::join: [\"\", [b]]\n  c: '${toUpper( \"x\" )}'\n",
			"k:variables V:a f:fn::join V:c x:${ f:toUpper x:}"},
		"invoke": {"variables:\n  a:\n    fn::invoke:\n      function: zoo:index:f\n      arguments: {x: 1}\n",
			"k:variables V:a f:fn::invoke k:function f:zoo:index:f k:arguments p:x"},
		"steps": {"outputs:\n  o: ${pulumi.stack}\n  p: $${no}\n  q: ${nothing}\n",
			"k:outputs O:o x:${ k:pulumi p:stack x:} O:p O:q x:${ x:}"},
		"locals": {"config:\n  l: {type: list<string>, default: []}\noutputs:\n  o: \"${[for x in l : x]}\"\n",
			"k:config C:l k:type t:list<string> k:default k:outputs O:o x:${ V:x c:l v:x x:}"},
		"components": {"components:\n  c:\n    inputs:\n      i: {type: string}\n    variables:\n      v: ${i}\n",
			"k:components T:c k:inputs C:i k:type t:string k:variables V:v x:${ c:i x:}"},
		"broken elsewhere": {"variables:\n  a: [1\n  b: 1\noutputs:\n  o: ${b}\n",
			"k:variables V:a V:b k:outputs O:o x:${ v:b x:}"},
		"JSON": {`{"variables": {"a": 1}, "outputs": {"o": "${a}"}}`,
			"k:variables V:a k:outputs O:o x:${ v:a x:}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.wants, colored(t, c.text, 0, len(c.text)))
		})
	}
	i := strings.Index(names, "resources")
	require.Equal(t, "k:resources R:pet", colored(t, names, i, i+len("resources:\n  pet")))
}

// TestTokensAfterEdits edits a program. Its tokens must equal those of a new session with the same text, and parts
// whose meaning has not changed must keep their pointers.
func TestTokensAfterEdits(t *testing.T) {
	t.Parallel()
	text := names
	edited := editor.NewSession(newOpener())
	edited.Open(file, text)
	parts := func() []editor.TokenPart {
		all, err := editor.TokenParts(t.Context(), edited.Snapshot(), file)
		require.NoError(t, err)
		return all
	}
	before := parts()
	for _, c := range []struct {
		old, text string
		same      []string // first words of the parts that are not computed again
	}{
		{"default: 3", "default: 4", []string{"  pet:", "  one:", "  two:"}},
		{"length: ${twice}", "\n        length: ${pulumi.stack}", []string{"  twice:", "  one:", "  two:"}},
		{"variables:\n  twice: ${size * 2}\n", "", []string{"  pet:", "  one:"}},
		{"one: ${pet.length}", "one: ${pet.length + 1}", []string{"  pet:", "  two:"}},
	} {
		pos := strings.Index(text, c.old)
		edited.Edit(file, parser.Edit{Start: pos, End: pos + len(c.old), Text: c.text})
		text = strings.Replace(text, c.old, c.text, 1)
		after := parts()
		for _, start := range c.same {
			find := func(all []editor.TokenPart) *editor.PartTokens {
				for _, part := range all {
					if strings.HasPrefix(string(part.Source.Text()), start) {
						return part.PartTokens
					}
				}
				return nil
			}
			require.NotNil(t, find(after))
			require.Same(t, find(before), find(after), "%s after %s", start, c.old)
		}
		before = after
		tokens, err := tokensOf(t.Context(), edited.Snapshot(), file, 0, len(text))
		require.NoError(t, err)
		fresh, _ := opened(t, text+"|")
		wants, err := tokensOf(t.Context(), fresh, file, 0, len(text))
		require.NoError(t, err)
		require.Len(t, tokens, len(wants))
		for i, token := range tokens {
			require.Equal(t, wants[i], token, text[token.Start:token.End])
		}
	}
}
