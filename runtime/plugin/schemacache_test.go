package plugin_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/schema"
)

// The cache stores a plugin's schema. Concurrent calls of Keep all succeed, and an entry older than the installation of
// the plugin is ignored.
func TestPluginSchemaCache(t *testing.T) { // F2.38
	t.Parallel()
	home := t.TempDir()
	cache := plugin.SchemaCache{Home: home}
	path := filepath.Join(home, "schemas", "p-1.0.0.json")
	installed := time.Now().Add(-24 * time.Hour)
	opener := func(text string) func() io.Reader { return func() io.Reader { return strings.NewReader(text) } }
	text := `{"name":"p","resources":{"p:index:Thing":{}}}`
	_, err := cache.Open(path, installed)
	require.ErrorIs(t, err, os.ErrNotExist)
	var users sync.WaitGroup
	for range 8 {
		users.Go(func() {
			pkg, err := cache.Keep(path, installed, opener(text))
			if err != nil || !slices.Equal(pkg.ResourceTokens(), []string{"p:index:Thing"}) {
				t.Errorf("kept something else: %v", err)
			}
		})
	}
	users.Wait()
	pkg, err := cache.Open(path, installed)
	require.NoError(t, err)
	require.Equal(t, []string{"p:index:Thing"}, pkg.ResourceTokens())

	_, err = cache.Open(path, installed.Add(time.Hour)) // the plugin was installed again with the same version
	require.ErrorContains(t, err, "older than the plugin")

	_, err = cache.Keep(path, installed, opener(text[:20])) // an invalid schema is not stored
	require.ErrorContains(t, err, "read package schema")
	_, err = cache.Open(path, installed)
	require.NoError(t, err)

	blocked := filepath.Join(path, "below", "p.json") // the parent is a file, so the schema cannot be stored
	pkg, err = cache.Keep(blocked, installed, opener(text))
	require.NoError(t, err)
	require.Equal(t, []string{"p:index:Thing"}, pkg.ResourceTokens())
}

func TestInstalledAt(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "resource-p-v1.0.0")
	file := filepath.Join(folder, "pulumi-resource-p")
	require.NoError(t, os.Mkdir(folder, 0o755))
	require.NoError(t, os.WriteFile(file, nil, 0o755))
	early, late := time.Unix(1_000_000_000, 0), time.Unix(1_500_000_000, 0)
	// The later time counts: archives keep old file times, and files may be overwritten in place.
	for _, c := range []struct{ file, folder time.Time }{{early, late}, {late, early}} {
		require.NoError(t, os.Chtimes(file, c.file, c.file))
		require.NoError(t, os.Chtimes(folder, c.folder, c.folder))
		require.True(t, late.Equal(plugin.Location{Path: file}.Installed()))
		require.True(t, c.folder.Equal(plugin.Location{Path: folder}.Installed())) // a plugin in source form
	}
	require.Zero(t, plugin.Location{Path: filepath.Join(folder, "nosuch")}.Installed())
}

// A schema that may change under the same version has no cache path (F2.38).
func TestSchemaCache(t *testing.T) {
	t.Parallel()
	path := func(d schema.Descriptor, version string) string {
		return plugin.SchemaCache{Home: "/h"}.Path(d, plugin.Location{Version: version})
	}
	require.Equal(t, filepath.Join("/h", "schemas", "random-4.18.0.json"),
		path(schema.Descriptor{Name: "random"}, "4.18.0"))
	require.Empty(t, path(schema.Descriptor{Name: "random"}, ""))
	plain := path(schema.Descriptor{Name: "tf"}, "1.0.0")
	require.NotEqual(t, plain, path(schema.Descriptor{Name: "tf", DownloadURL: "https://x"}, "1.0.0"))
	one := path(schema.Descriptor{Name: "tf",
		Parameterization: &schema.Parameterization{Name: "a", Version: "1"}}, "1.0.0")
	two := path(schema.Descriptor{Name: "tf",
		Parameterization: &schema.Parameterization{Name: "b", Version: "1"}}, "1.0.0")
	require.NotEqual(t, one, two)
	require.NotEqual(t, plain, one)
}
