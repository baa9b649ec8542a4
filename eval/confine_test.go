package eval_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
)

// TestRestrictedPaths tests L6.23: the files that a program with restricted paths may read (G44).
func TestRestrictedPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := filepath.Join(dir, "project")
	cwd := filepath.Join(root, "prog")
	require.NoError(t, os.MkdirAll(cwd, 0o755))
	for _, path := range []string{filepath.Join(dir, "outside"), filepath.Join(root, "shared"),
		filepath.Join(cwd, "own")} {
		require.NoError(t, os.WriteFile(path, []byte("content"), 0o644))
	}
	require.NoError(t, os.Symlink(filepath.Join(dir, "outside"), filepath.Join(cwd, "link")))
	require.NoError(t, os.Symlink(filepath.Join(root, "shared"), filepath.Join(cwd, "inner")))
	outside := filepath.ToSlash(filepath.Join(dir, "outside"))
	for name, tc := range map[string]struct {
		argument string
		allowed  bool
	}{
		"inside":                         {"own", true},
		"elsewhere in the project":       {"../shared", true},
		"a detour":                       {"../prog/../prog/own", true},
		"computed, inside":               {"${pulumi.cwd}/own", true},
		"a link inside":                  {"inner", true},
		"upwards":                        {"../../outside", false},
		"a link to the outside":          {"link", false},
		"absolute, written out":          {outside, true},
		"absolute, computed":             {"${pulumi.rootDirectory}/../outside", false},
		"absolute, through a variable":   {"${path}", false},
		"a name that begins like upward": {"..own", true}, // does not exist, so permission is not asked
	} {
		for _, call := range []string{"fn::readFile", "fn::filebase64", "fn::filebase64sha256", "fn::fileAsset",
			"fn::fileArchive"} {
			t.Run(name+" "+call, func(t *testing.T) {
				t.Parallel()
				text := fmt.Sprintf("variables: {path: %q}\noutputs: {a: {%s: %q}}\n", outside, call, tc.argument)
				program, findings := load(t, text, nil)
				require.False(t, findings.HasErrors())
				_, findings = eval.Run(context.Background(), program, newZoo(false).recorder, eval.Options{
					Cwd: cwd, RootDirectory: root, Workers: 1, RestrictPaths: true,
				})
				refused := false
				for _, d := range findings {
					refused = refused || d.Code == diag.FileAccess && d.Detail != ""
				}
				require.Equal(t, tc.allowed, !refused, describe(findings))
			})
		}
	}
}

// However a computed path or address is written, a program with restricted paths gets no content from outside of the
// project: the file that is judged is the one that is opened, also by the engine, which opens assets (L6.23).
func TestRestrictedPathsGiveNothingFromOutside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := filepath.Join(dir, "project")
	cwd := filepath.Join(root, "prog")
	require.NoError(t, os.MkdirAll(cwd, 0o755))
	const outside, inside = "canary", "content"
	for path, text := range map[string]string{filepath.Join(dir, "file"): outside, filepath.Join(root, "file"): inside,
		filepath.Join(cwd, "file"): inside} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	beginnings := rapid.SampledFrom([]string{"", "", "file://", "file:", "FILE://", "file://localhost", "File://LOCALHOST", "http://", "x://",
		"file://.", "file:////", "file://x/"})
	folders := rapid.SampledFrom([]string{"", filepath.ToSlash(dir), filepath.ToSlash(cwd), filepath.ToSlash(root), "${pulumi.cwd}"})
	elements := rapid.SliceOfN(rapid.SampledFrom([]string{"..", "%2e%2e", "%2E.", ".", "prog", "project", "%70rog", "..%2f", "x:", ""}), 0, 5)
	calls := rapid.SampledFrom([]string{"fn::readFile", "fn::filebase64", "fn::fileAsset", "fn::remoteAsset"})
	read := 0
	rapid.Check(t, func(rt *rapid.T) {
		path := beginnings.Draw(rt, "beginning") + strings.Join(append([]string{folders.Draw(rt, "folder")},
			append(elements.Draw(rt, "elements"), "file")...), "/")
		if rapid.Bool().Draw(rt, "without the first slash") {
			path = strings.TrimPrefix(path, "/")
		}
		program, findings := load(t, fmt.Sprintf("variables: {path: %q}\noutputs: {a: {%s: '${path}'}}\n", path, calls.Draw(rt, "call")), nil)
		require.False(t, findings.HasErrors(), describe(findings))
		result, _ := eval.Run(t.Context(), program, newZoo(false).recorder,
			eval.Options{Cwd: cwd, RootDirectory: root, Workers: 1, RestrictPaths: true})
		got := contentOf(rt, result.Outputs.Get("a"), value.DirOpener{Dir: cwd})
		require.NotEqual(rt, outside, got, path)
		if got == inside {
			read++
		}
	})
	require.Positive(t, read, "some files may be read")
}

// contentOf returns the text, or the content of an asset that the engine would open; empty if there is none.
func contentOf(t *rapid.T, v value.Value, opener value.DirOpener) string {
	text, _ := v.AsString()
	if plain, err := base64.StdEncoding.DecodeString(text); err == nil && text != "" {
		return string(plain)
	}
	asset, ok := v.AsAsset()
	if !ok {
		return text
	}
	var file io.ReadCloser
	var err error
	if asset.URI != "" {
		file, err = opener.OpenURI(asset.URI)
	} else {
		file, err = opener.Open(asset.Path)
	}
	if err != nil {
		return ""
	}
	data, _ := io.ReadAll(file) // fails for a folder, which has no content
	require.NoError(t, file.Close())
	return string(data)
}

// An untrusted program may read only files of the project and public addresses, however it writes them. It may read no
// environment variable and run no command (D13).
func TestUntrusted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := filepath.Join(dir, "project")
	cwd := filepath.Join(root, "prog")
	require.NoError(t, os.MkdirAll(filepath.Join(cwd, "sound"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(cwd, "leaky"), 0o755))
	outside := filepath.Join(dir, "outside")
	for _, path := range []string{outside, filepath.Join(root, "shared"), filepath.Join(cwd, "own"),
		filepath.Join(cwd, "sound", "a")} {
		require.NoError(t, os.WriteFile(path, []byte("content"), 0o644))
	}
	for link, target := range map[string]string{"link": outside, "up": dir, "inner": filepath.Join(root, "shared"),
		"leaky/link": outside} {
		require.NoError(t, os.Symlink(target, filepath.Join(cwd, link)))
	}
	file := func(path string) string { return "file://" + filepath.ToSlash(path) }
	refused := func(t *testing.T, text string) bool {
		t.Helper()
		program, findings := load(t, text, nil)
		require.False(t, findings.HasErrors(), describe(findings))
		ran := false
		_, findings = eval.Run(t.Context(), program, newZoo(false).recorder, eval.Options{
			Cwd: cwd, RootDirectory: root, Workers: 1, Untrusted: true, AllowEnv: true,
			Getenv:  func(string) (string, bool) { return "canary", true },
			Command: func(context.Context, string, []string) (string, error) { ran = true; return "", nil },
		})
		require.False(t, ran)
		for _, d := range findings {
			if d.Severity == diag.Error && d.Subject.IsZero() {
				t.Errorf("a finding without a place: %s", d.Summary)
			}
		}
		return findings.HasErrors()
	}
	reads := []string{"fn::readFile", "fn::filebase64", "fn::filebase64sha256", "fn::fileAsset", "fn::fileArchive"}
	for name, c := range map[string]struct {
		calls    []string
		argument string
		allowed  bool
	}{
		"inside":                 {reads, "own", true},
		"elsewhere in it":        {reads, "../shared", true},
		"a link inside":          {reads, "inner", true},
		"absolute, inside":       {reads, filepath.Join(cwd, "own"), true},
		"upwards":                {reads, "../../outside", false},
		"a link out":             {reads, "link", false},
		"through a link out":     {reads, "up/outside", false},
		"absolute, written out":  {reads, outside, false},
		"absolute, computed":     {reads, "${pulumi.rootDirectory}/../outside", false},
		"the process":            {reads, "/proc/self/environ", false},
		"a device":               {reads, "/dev/zero", false},
		"a folder":               {[]string{"fn::fileArchive"}, "sound", true},
		"a folder with a link":   {[]string{"fn::fileArchive"}, "leaky", false},
		"the folder around":      {[]string{"fn::fileArchive"}, "../..", false},
		"an address of a file":   {[]string{"fn::remoteAsset", "fn::remoteArchive"}, file(outside), false},
		"one inside":             {[]string{"fn::remoteAsset"}, file(filepath.Join(cwd, "own")), true},
		"in capitals":            {[]string{"fn::remoteAsset"}, "FILE://" + outside, false},
		"a public address":       {[]string{"fn::remoteAsset"}, "https://example.com/x", true},
		"this machine":           {[]string{"fn::remoteAsset", "fn::remoteArchive"}, "http://127.0.0.1:8080/x", false},
		"this machine, by name":  {[]string{"fn::remoteAsset"}, "http://localhost/x", false},
		"the cloud's metadata":   {[]string{"fn::remoteAsset"}, "http://169.254.169.254/latest/meta-data", false},
		"a private network":      {[]string{"fn::remoteAsset"}, "http://192.168.0.1/x", false},
		"IPv6":                   {[]string{"fn::remoteAsset"}, "http://[::1]/x", false},
		"IPv4 in IPv6":           {[]string{"fn::remoteAsset"}, "http://[::ffff:127.0.0.1]/x", false},
		"a number as an address": {[]string{"fn::remoteAsset"}, "http://2130706433/x", false},
	} {
		for _, call := range c.calls {
			t.Run(name+" "+call, func(t *testing.T) {
				t.Parallel()
				require.Equal(t, !c.allowed, refused(t, fmt.Sprintf("variables: {v: {%s: %q}}\noutputs: {a: '${v}'}\n", call,
					c.argument)))
			})
		}
	}
	t.Run("environment", func(t *testing.T) {
		t.Parallel()
		require.True(t, refused(t, "pulumi: {publicEnv: [HOME]}\noutputs: {a: {fn::env: HOME}}\n"))
	})
	t.Run("hook", func(t *testing.T) {
		t.Parallel()
		require.True(t, refused(t, "hooks: {h: {command: [touch, mark]}}\noutputs: {a: 1}\n"))
	})
}
