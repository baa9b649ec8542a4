package templates

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Every embedded template has a test script in which all marks are replaced.
func TestScripts(t *testing.T) {
	for name := range lives {
		require.Contains(t, Names(), name)
	}
	for _, name := range Names() {
		require.LessOrEqual(t, len(name), 17, "the list of templates has 80 columns")
		template, err := Embedded(name)
		require.NoError(t, err)
		require.LessOrEqual(t, len(template.Description), 61, "%s: the list of templates has 80 columns", name)
		files, err := template.Fill("p", "d")
		require.NoError(t, err)
		found := 0
		for _, f := range files {
			if f.Path == TestScript {
				found++
				require.NotContains(t, string(f.Text), "#setup")
				require.NotContains(t, string(f.Text), "#promises")
				require.Contains(t, string(f.Text), lives[name].promises)
			}
		}
		require.Equal(t, 1, found, name)
	}
}
