package project

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/schema"
)

// L1.40–L1.44
func TestPackageFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testfile.Tree(t, dir, map[string]string{
		"a.yaml": "packageDeclarationVersion: 1\nname: plain\nversion: 1.2.3\n",
		"sdks/x/x-1.0.0.yaml": "packageDeclarationVersion: 1\nname: tf\nparameterization: {name: x, version: 1.0.0, value: " +
			"eyJyIjoxfQ==}\n",
		"other.yaml":          "name: no declaration\n",
		"broken.yaml":         "packageDeclarationVersion: [",
		"node_modules/m.yaml": "packageDeclarationVersion: 1\nname: hidden\n",
	})
	files, diags, err := PackageFiles(confine.Anywhere(), dir, filepath.Base)
	require.NoError(t, err)
	require.Empty(t, diags)
	require.Equal(t, []PackageFile{
		{filepath.Join(dir, "sdks", "x", "x-1.0.0.yaml"), schema.Descriptor{Name: "tf",
			Parameterization: &schema.Parameterization{Name: "x", Version: "1.0.0", Value: []byte(`{"r":1}`)}}},
		{filepath.Join(dir, "a.yaml"), schema.Descriptor{Name: "plain", Version: "1.2.3"}},
	}, files)
}

// TestFoundPackagesFollowFiles adds, changes and removes files at several depths. Files must return the present
// packages each time.
func TestFoundPackagesFollowFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var kept FoundPackages
	names := func() (found []string) {
		for range 2 {
			files, _, err := kept.Files(confine.Anywhere(), dir, filepath.Base)
			require.NoError(t, err)
			found = nil
			for _, f := range files {
				found = append(found, f.Name)
			}
		}
		return found
	}
	declaration := func(name string) string { return "packageDeclarationVersion: 1\nname: " + name + "\n" }
	require.Empty(t, names())
	testfile.Tree(t, dir, map[string]string{"a.yaml": declaration("first")})
	require.Equal(t, []string{"first"}, names())
	testfile.Tree(t, dir, map[string]string{"a.yaml": declaration("another")})
	require.Equal(t, []string{"another"}, names())
	testfile.Tree(t, dir, map[string]string{"sdks/x/y/b.yaml": declaration("deep")})
	require.Equal(t, []string{"deep", "another"}, names())
	require.NoError(t, os.Remove(filepath.Join(dir, "a.yaml")))
	require.Equal(t, []string{"deep"}, names())
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "sdks")))
	require.Empty(t, names())
}

// L4.22: any version may have a leading v.
func TestVersionsWithALeadingV(t *testing.T) {
	t.Parallel()
	p, diags := Parse(diag.NewSource("Pulumi.yaml",
		[]byte("name: p\npackages:\n  a: one@v1.2.3\n  b: {source: two, version: v2.0.0}\n"+
			"plugins: {providers: [{name: c, path: ./c, version: v3.1.0}]}\n")))
	require.Empty(t, diags)
	require.Equal(t, []string{"1.2.3", "2.0.0", "3.1.0"}, []string{p.Packages[0].Version, p.Packages[1].Version,
		p.Plugins[0].Version})
	for _, kind := range []string{"parameterization", "extension"} {
		file, found, diags := ParsePackageFile(diag.NewSource("a.yaml",
			[]byte("packageDeclarationVersion: 1\nname: tf\nversion: v0.6.0\n"+kind+": {name: x, version: v1.0.0}\n")))
		require.True(t, found)
		require.Empty(t, diags)
		require.Equal(t, "0.6.0", file.Version)
		require.Equal(t, "1.0.0", file.Parameterization.Version, kind)
		require.Equal(t, kind == "extension", file.Extension)
	}
}

func TestPackageFileFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, summary string }{
		"no name": {"packageDeclarationVersion: 1\n", "the package declaration has no name"},
		"both": {"packageDeclarationVersion: 1\nname: a\nparameterization: {name: x, version: 1.0.0}\nextension: {name: x, " +
			"version: 1.0.0}\n",
			"a package declaration has both parameterization and extension"},
		"no version": {"packageDeclarationVersion: 1\nname: a\nextension: {name: x}\n", "extension has no version"},
		"no base64": {"packageDeclarationVersion: 1\nname: a\nextension: {name: x, version: 1.0.0, value: '*'}\n",
			"extension.value must be base64"},
		"not a semver": {"packageDeclarationVersion: 1\nname: a\nversion: new\n",
			`version must be a version such as 1.2.3, found "new"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, found, diags := ParsePackageFile(diag.NewSource("a.yaml", []byte(c.text)))
			require.True(t, found)
			require.Len(t, diags, 1)
			require.Equal(t, c.summary, diags[0].Summary)
		})
	}
}
