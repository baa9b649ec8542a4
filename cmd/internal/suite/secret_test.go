package suite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// A finding about a test file does not show the secrets that the file gives to the program.
func TestFindingsHideSecretsOfTestFiles(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"config: {word: {secret: canary-a}, nope: 1}\ncases: {a: {config: {word: {secret: canary-b}}, expct: 1}}\n",
		"cases:\n  a: {config: {word: {secret: [canary-a]}}, mocks: {resources: [{outputs: {x: {fn::secret: canary-b}}, nope: 1}]}}\n",
		"cases:\n  a: {config: {word: {secret: \"canary-a\"}}, expect: [}\n",
	} {
		found := Read(diag.NewSource("a.test.yaml", []byte(text)), ".").Diags
		require.NotEmpty(t, found, text)
		var shown strings.Builder
		require.NoError(t, diag.WriteText(&shown, found, diag.TextOptions{}))
		require.Contains(t, shown.String(), "***")
		require.NotContains(t, shown.String(), "canary")
	}
}
