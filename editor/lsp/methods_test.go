package lsp_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMethodsHaveTests checks that the tests named in docs/editor.md exist.
func TestMethodsHaveTests(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/editor.md")
	require.NoError(t, err)
	var code strings.Builder
	for _, pattern := range []string{"*_test.go", "../*_test.go", "../mcp/*_test.go", "../../cmd/internal/cli/*_test.go"} {
		names, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, name := range names {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			code.Write(text)
		}
	}
	named := regexp.MustCompile("`(Test[A-Za-z]+)`").FindAllStringSubmatch(string(page), -1)
	require.Greater(t, len(named), 30)
	for _, m := range named {
		require.Contains(t, code.String(), "func "+m[1]+"(t *testing.T)", "docs/editor.md names a test that does not exist")
	}
}
