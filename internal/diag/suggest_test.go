package diag

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSuggest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		typed      string
		candidates []string
		want       []string
	}{
		"missing letter": {"nam", []string{"name", "main"}, []string{"name"}},
		"nearest first, then alphabet": {"protct", []string{"provider", "protects", "protect"},
			[]string{"protect", "protects"}},
		"other case is the nearest":    {"DEPENDSON", []string{"dependsOn"}, []string{"dependsOn"}},
		"the name itself is no advice": {"name", []string{"name"}, []string{}},
		"too far":                      {"abcdefgh", []string{"abcdwxyz"}, []string{}},
		"distance three":               {"abcdefgh", []string{"abcdexyz"}, []string{"abcdexyz"}},
		"short names keep half":        {"ab", []string{"xy", "ax"}, []string{"ax"}},
		"at most five, each once (L1.24)": {"aaaa", []string{"aaaf", "aaae", "aaad", "aaac", "aaab", "aaab", "aaag"},
			[]string{"aaab", "aaac", "aaad", "aaae", "aaaf"}},
		"far apart though of a length": {"resource", []string{"config", "hooks", "include", "resources", "outputs"},
			[]string{"resources"}},
		"nothing to choose from": {"a", nil, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, Suggest(c.typed, c.candidates))
		})
	}
}
