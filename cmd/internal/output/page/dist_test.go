package page

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
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
	text := testfile.Text(t, "dist/sources.txt")
	listed := 0
	for line := range strings.Lines(text) {
		digest, name, found := strings.Cut(strings.TrimSpace(line), "  ")
		require.True(t, found, line)
		source := testfile.Bytes(t, filepath.FromSlash(name))
		sum := sha256.Sum256(source)
		require.Equal(t, digest, hex.EncodeToString(sum[:]), "%s has changed since the page was made: make ui", name)
		listed++
	}
	sources := testfile.Match(t, "src/*")
	require.Equal(t, len(sources)+2, listed, "a source is missing in dist/sources.txt: make ui")
}
