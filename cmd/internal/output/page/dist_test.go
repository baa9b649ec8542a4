package page

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every file in dist can be unpacked: neither the console nor a report panics at a page.
func TestPagesAreSound(t *testing.T) {
	t.Parallel()
	files, err := dist.ReadDir("dist")
	require.NoError(t, err)
	var names []string
	for _, file := range files {
		name := strings.TrimSuffix(file.Name(), ".gz")
		require.NotEmpty(t, File(name), name)
		names = append(names, name)
	}
	require.Equal(t, []string{"app.css", "app.js", "icon.svg", "index.html", "report.html"}, names)
}

// The page in dist was built from the present sources. `make ui` builds it, and `make ui-test` compares all bytes.
func TestPageIsCurrent(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("dist/sources.txt")
	require.NoError(t, err)
	listed := 0
	for line := range strings.Lines(string(text)) {
		digest, name, found := strings.Cut(strings.TrimSpace(line), "  ")
		require.True(t, found, line)
		source, err := os.ReadFile(filepath.FromSlash(name))
		require.NoError(t, err)
		sum := sha256.Sum256(source)
		require.Equal(t, digest, hex.EncodeToString(sum[:]), "%s has changed since the page was made: make ui", name)
		listed++
	}
	sources, err := filepath.Glob("src/*")
	require.NoError(t, err)
	require.Equal(t, len(sources)+2, listed, "a source is missing in dist/sources.txt: make ui")
}
