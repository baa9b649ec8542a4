package templates

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Every template of the binary brings a test, without the marks of what others add to it.
func TestScripts(t *testing.T) {
	for name := range lives {
		require.Contains(t, Names(), name)
	}
	for _, name := range Names() {
		template, err := Embedded(name)
		require.NoError(t, err)
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
