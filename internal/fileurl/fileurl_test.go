package fileurl

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const linux system = "linux"

// The URL of a path names that path, on both kinds of systems, and no URL has a backslash.
func TestURLsOfPathsComeBack(t *testing.T) {
	t.Parallel()
	name := rapid.OneOf(rapid.SampledFrom([]string{"a", "a b", "100%", "%2e%2e", "%5C", "ü", "u\u0308", "a#1,2", "a;b=c", "~", "..", "@", "a&b",
		"C:"}), rapid.StringMatching(`[^/\\:*?"<>|\x00-\x1f]+`))
	names := rapid.SliceOfN(name, 1, 5)
	rapid.Check(t, func(t *rapid.T) {
		elements := names.Draw(t, "names")
		unix := "/" + strings.Join(elements, "/")
		require.Equal(t, unix, back(t, linux, unix))

		for i := range elements {
			elements[i] = strings.ReplaceAll(elements[i], ":", "")
		}
		drive := rapid.StringMatching(`[A-Za-z]:`).Draw(t, "drive") + `\` + strings.Join(elements, `\`)
		server := `\\` + rapid.StringMatching(`[a-z][a-z0-9.-]{1,8}`).Draw(t, "server") + `\` + "share" + `\` + strings.Join(elements, `\`)
		for _, path := range []string{drive, server} {
			require.Equal(t, path, back(t, windows, path))
			require.Equal(t, path, back(t, windows, strings.ReplaceAll(path, `\`, "/")), "either separator")
		}
		require.Equal(t, drive, back(t, windows, `\\?\`+drive))
		require.Equal(t, server, back(t, windows, `\\?\UNC\`+server[2:]))
	})
}

// back turns a path into a URL and that into a path.
func back(t *rapid.T, s system, path string) string {
	text := s.of(path)
	require.True(t, Is(text))
	require.NotContains(t, text, `\`)
	u, err := url.Parse(text)
	require.NoError(t, err, text)
	again, err := s.path(u)
	require.NoError(t, err, text)
	require.Equal(t, text, s.of(again), "one path has one URL")
	return again
}

// What Windows takes for a path becomes the URL of a backend with slashes; the path in it is what Local reads.
func TestFolders(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]map[system]string{
		`C:\a b`:                 {linux: `file://C:\a b`, windows: "file:///C:/a b"},
		"c:/a%b":                 {linux: "file://c:/a%25b", windows: "file:///c:/a%25b"},
		`\\server\share\a`:       {windows: "file:////server/share/a"},
		`\\?\C:\a`:               {windows: "file:///C:/a"},
		`\\?\UNC\server\share\a`: {windows: "file:////server/share/a"},
		`..\a#b`:                 {linux: `file://..\a%23b`, windows: "file://../a%23b"},
		"/a/100%":                {linux: "file:///a/100%25", windows: "file:///a/100%25"},
		"~/ü?":                   {linux: "file://~/ü%3F", windows: "file://~/ü%3F"},
	} {
		for s, want := range want {
			require.Equal(t, want, s.folder(path), "%s on %s", path, s)
		}
	}
	for url, want := range map[string]string{"/C:/a": `C:\a`, "//server/share/a": `\\server\share\a`} {
		require.Equal(t, want, windows.local(url))
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]map[system]string{
		"file:///a/b":                 {linux: "/a/b", windows: ""},
		"FILE://localhost/a":          {linux: "/a", windows: ""},
		"file:/a":                     {linux: "/a", windows: ""},
		"file:///C:/a%20b":            {linux: "/C:/a b", windows: `C:\a b`},
		"file://localhost/c:/a":       {linux: "/c:/a", windows: `c:\a`},
		"file://C:/a":                 {linux: "", windows: `C:\a`},
		"file://C:":                   {},
		"file:///C:":                  {linux: "/C:"},
		"file:///C:a":                 {linux: "/C:a"},
		"file://server/share/a":       {linux: "", windows: `\\server\share\a`},
		"file:////server/share/a":     {linux: "//server/share/a", windows: `\\server\share\a`},
		"file://server/":              {},
		"file:////./COM1":             {linux: "//./COM1"},
		"file://./COM1":               {},
		"file:////%3F/C:/a":           {linux: "//?/C:/a"},
		"file:///%3F%3F/C:/a":         {linux: "/??/C:/a"},
		"file:///C:/a%5C..%5Cb":       {linux: `/C:/a\..\b`, windows: `C:\a\..\b`},
		"file:a":                      {},
		"file://":                     {},
		"file:///C:/a?b":              {},
		"file:///C:/a#b":              {},
		"file://user@localhost/C:/a":  {},
		"https://example.com/C:/a":    {},
		"file:///%2e%2e/etc/passwd":   {linux: "/../etc/passwd"},
		"file://LOCALHOST/etc/passwd": {linux: "/etc/passwd"},
	} {
		for _, s := range []system{linux, windows} {
			u, err := url.Parse(text)
			if err == nil {
				var got string
				got, err = s.path(u)
				require.Equal(t, want[s], got, "%s on %s", text, s)
			}
			require.Equal(t, want[s] == "", err != nil, "%s on %s", text, s)
		}
	}
	require.False(t, Is("file"))
	require.Equal(t, []string{"/C:/a", "a/b"}, []string{linux.local("/C:/a"), linux.local("a/b")})
	require.Equal(t, []string{`C:\a`, `a\b`, `\a`, `\\C:\a`}, []string{windows.local("/C:/a"), windows.local("a/b"), windows.local("/a"),
		windows.local("//C:/a")})
}
