package editor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/editor"
)

// TestFolds checks the folds of sections, entries, lists, strings and comments. Lines of a string are not comments.
func TestFolds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		wants []editor.Fold
	}{
		"entries": {"resources:\n  a:\n    type: random:RandomPet\n    properties:\n      length: 2\n\noutputs:\n  o: 1\n  " +
			"p: 2\n",
			[]editor.Fold{{First: 1, Last: 5}, {First: 2, Last: 5}, {First: 4, Last: 5}, {First: 7, Last: 9}}},
		"items": {"variables:\n  a:\n    - x: 1\n      y: 2\n    - 3\n",
			[]editor.Fold{{First: 1, Last: 5}, {First: 2, Last: 5}, {First: 3, Last: 4}}},
		"brackets": {"variables:\n  a: {\n    x: 1,\n    y: 2\n  }\n",
			[]editor.Fold{{First: 1, Last: 5}, {First: 2, Last: 4}}},
		"comments": {"# one\n# two\nname: p # three\n# four\nvariables:\n  a: >\n    # no comment\n    # no comment\n",
			[]editor.Fold{{First: 1, Last: 2, Comment: true}, {First: 5, Last: 8}, {First: 6, Last: 8}}},
		"broken": {"variables:\n  a:\n    x: [1\n    y: 2\n  b:\n    z: 1\n",
			[]editor.Fold{{First: 1, Last: 6}, {First: 2, Last: 4}, {First: 5, Last: 6}}},
		"JSON": {"{\n  \"variables\": {\n    \"a\": 1\n  }\n}\n", []editor.Fold{{First: 2, Last: 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := opened(t, c.text+"|")
			require.Equal(t, c.wants, editor.Folds(s, file))
		})
	}
}

// TestSelection checks the nested ranges around an offset.
func TestSelection(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		wants []string // without the last one, the whole text
	}{
		"in an expression": {"variables:\n  a: {x: 1}\noutputs:\n  o: \"is ${a.|x} now\"\n",
			[]string{".x", "a.x", "${a.x}", "is ${a.x} now", "\"is ${a.x} now\"", "o: \"is ${a.x} now\"",
				"outputs:\n  o: \"is ${a.x} now\""}},
		"on a key": {"variables:\n  a:\n    k|ey: [1, 2]\n  b: 1\n",
			[]string{"key", "key: [1, 2]", "a:\n    key: [1, 2]", "a:\n    key: [1, 2]\n  b: 1",
				"variables:\n  a:\n    key: [1, 2]\n  b: 1"}},
		"elsewhere broken": {"variables:\n  a: [1\n  b: tw|o\n", []string{"two", "b: two", "a: [1\n  b: two",
			"variables:\n  a: [1\n  b: two"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, offset := opened(t, c.text)
			found, err := editor.Selection(t.Context(), s, file, offset)
			require.NoError(t, err)
			var texts []string
			for _, r := range found {
				texts = append(texts, r.Text())
			}
			require.Equal(t, append(c.wants, string(s.Text(file).Source().Text())), texts)
		})
	}
}
