package backend

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/fileurl"
)

// A path that becomes the URL of a backend names the same folder then, whatever it has in it: percent signs, question
// marks, the signs of Windows.
func TestFolderOfAPath(t *testing.T) {
	t.Parallel()
	here, err := filepath.Abs("here")
	require.NoError(t, err)
	name := rapid.OneOf(rapid.SampledFrom([]string{"100%", "%41", "%2e%2e", "a?b=c", "a#b", "a b", "ü", "u\u0308", "..", ".", "a;b", "a&b", "@"}),
		rapid.StringMatching(`[^/\\:*"<>|~\x00-\x1f]+`))
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.FromSlash(strings.Join(rapid.SliceOfN(name, 1, 4).Draw(t, "names"), "/"))
		want := filepath.Join(here, path)
		if rapid.Bool().Draw(t, "absolute") {
			path = want
		}
		url := fileurl.Folder(path)
		require.NotContains(t, url, `\`)
		got, query, err := folderOf(url, Options{WorkDir: here})
		require.NoError(t, err, url)
		require.Empty(t, query)
		require.Equal(t, want, filepath.Clean(got), url)
	})
	home := filepath.Join(here, "home")
	for path, want := range map[string]string{"~": home, "~/a%b": filepath.Join(home, "a%b")} {
		got, _, err := folderOf(fileurl.Folder(path), Options{WorkDir: filepath.Join(here, "work"), Home: home})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
