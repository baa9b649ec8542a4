package project

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/diag"
)

// L1.40–L1.44
func TestPackageFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"a.yaml":              "packageDeclarationVersion: 1\nname: plain\nversion: 1.2.3\n",
		"sdks/x/x-1.0.0.yaml": "packageDeclarationVersion: 1\nname: tf\nparameterization: {name: x, version: 1.0.0, value: eyJyIjoxfQ==}\n",
		"other.yaml":          "name: no declaration\n",
		"broken.yaml":         "packageDeclarationVersion: [",
		"node_modules/m.yaml": "packageDeclarationVersion: 1\nname: hidden\n",
	})
	files, diags, err := PackageFiles(dir, filepath.Base)
	require.NoError(t, err)
	require.Empty(t, diags)
	require.Equal(t, []PackageFile{
		{Path: filepath.Join(dir, "sdks", "x", "x-1.0.0.yaml"), Name: "tf", Parameterization: &PackageParameter{"x", "1.0.0", []byte(`{"r":1}`)}},
		{Path: filepath.Join(dir, "a.yaml"), Name: "plain", Version: "1.2.3"},
	}, files)
}

func TestPackageFileFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, summary string }{
		"no name": {"packageDeclarationVersion: 1\n", "the package declaration has no name"},
		"both": {"packageDeclarationVersion: 1\nname: a\nparameterization: {name: x, version: 1.0.0}\nextension: {name: x, version: 1.0.0}\n",
			"a package declaration has both parameterization and extension"},
		"no version":   {"packageDeclarationVersion: 1\nname: a\nextension: {name: x}\n", "extension has no version"},
		"no base64":    {"packageDeclarationVersion: 1\nname: a\nextension: {name: x, version: 1.0.0, value: '*'}\n", "extension.value must be base64"},
		"not a semver": {"packageDeclarationVersion: 1\nname: a\nversion: new\n", `version must be a version such as 1.2.3, found "new"`},
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
