package plugin_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// linkPlugins links this test binary as a plugin into directories of the plugin folder.
func linkPlugins(t *testing.T, home string, dirs ...string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	for _, dir := range dirs {
		path := filepath.Join(home, "plugins", dir)
		require.NoError(t, os.MkdirAll(path, 0o755))
		require.NoError(t, os.Symlink(self, filepath.Join(path, "pulumi-resource-misfit")))
	}
}

func TestFind(t *testing.T) { // F2.25–F2.30
	t.Parallel()
	for _, c := range []struct {
		name      string
		installed []string
		files     []string // empty files in the plugin folder
		version   string
		change    func(t *testing.T, o *plugin.Options)
		want      string // the plugin's directory in the plugin folder, PATH or override
		fails     string
		missing   bool
	}{
		{name: "F2.29 no version: highest", installed: []string{"resource-misfit-v1.2.0", "resource-misfit-v1.10.0"},
			want: "resource-misfit-v1.10.0"},
		{name: "F2.29 no version: stable preferred", installed: []string{"resource-misfit-v1.0.0",
			"resource-misfit-v2.0.0-alpha.1"}, want: "resource-misfit-v1.0.0"},
		{name: "F2.29 no version: pre-release if there is no other", installed: []string{"resource-misfit-v2.0.0-alpha.1",
			"resource-misfit-v2.0.0-alpha.2"}, want: "resource-misfit-v2.0.0-alpha.2"},
		{name: "F2.29 version given: equal", installed: []string{"resource-misfit-v1.2.0", "resource-misfit-v1.3.0"},
			version: "v1.2.0", want: "resource-misfit-v1.2.0"},
		{name: "F2.29 version given: not at least", installed: []string{"resource-misfit-v1.3.0"}, version: "1.2.0",
			missing: true},
		{name: "F2.29 legacy: at least", installed: []string{"resource-misfit-v1.3.0", "resource-misfit-v1.1.0"},
			version: "1.2.0",
			change:  func(_ *testing.T, o *plugin.Options) { o.LegacySearch = true }, want: "resource-misfit-v1.3.0"},
		{name: "F2.29 git version", installed: []string{"resource-misfit-v0.0.0-xabc", "resource-misfit-v0.0.0-xabd"},
			version: "0.0.0-xabc", want: "resource-misfit-v0.0.0-xabc"},
		{name: "F2.28 partial installation", installed: []string{"resource-misfit-v1.0.0", "resource-misfit-v2.0.0"},
			files: []string{"resource-misfit-v2.0.0.partial", "resource-misfit-v1.0.0.lock"}, want: "resource-misfit-v1.0.0"},
		{name: "F2.27 other names", installed: []string{"language-misfit-v9.0.0", "resource-misfits-v9.0.0",
			"resource-misfit-v9.0.0.tmp12", "resource-misfit-vx", "resource-misfit-v1.0.0"}, want: "resource-misfit-v1.0.0"},
		{name: "none", missing: true},
		{name: "F2.25 PATH before folder", installed: []string{"resource-misfit-v1.0.0"}, version: "1.0.0",
			change: func(t *testing.T, o *plugin.Options) { o.Path = []string{"", t.TempDir(), pluginDir(t, "misfit")} },
			want:   "PATH"},
		{name: "F2.25 PATH ignored", installed: []string{"resource-misfit-v1.0.0"},
			change: func(t *testing.T, o *plugin.Options) {
				o.Path, o.IgnoreAmbient = []string{pluginDir(t, "misfit")}, true
			}, want: "resource-misfit-v1.0.0"},
		{name: "F2.25 override before PATH", change: func(t *testing.T, o *plugin.Options) {
			o.Path = []string{pluginDir(t, "misfit")}
			o.RootDir = t.TempDir()
			require.NoError(t, os.Rename(pluginDir(t, "misfit"), filepath.Join(o.RootDir, "bin")))
			o.Overrides = []plugin.Override{{Name: "other", Path: "x"}, {Name: "misfit", Path: "bin"}}
		}, want: "override"},
		{name: "F2.25 override of another version", installed: []string{"resource-misfit-v1.0.0"}, version: "1.0.0",
			change: func(_ *testing.T, o *plugin.Options) {
				o.Overrides = []plugin.Override{{Name: "misfit", Version: "2.0.0", Path: "nowhere"}}
			}, want: "resource-misfit-v1.0.0"},
		{name: "override that is not there", change: func(_ *testing.T, o *plugin.Options) {
			o.Overrides = []plugin.Override{{Name: "misfit", Path: "nowhere"}}
		}, fails: "the project names nowhere for plugin misfit, which does not exist"},
		{name: "no executable", change: func(t *testing.T, o *plugin.Options) {
			require.NoError(t, os.MkdirAll(filepath.Join(o.Home, "plugins", "resource-misfit-v1.0.0"), 0o755))
		}, fails: "holds no executable pulumi-resource-misfit: install it again with `yamlhost plugin install resource " +
			"misfit 1.0.0 --reinstall`"},
		{name: "override without an executable", change: func(t *testing.T, o *plugin.Options) {
			o.RootDir = t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(o.RootDir, "bin"), 0o755))
			o.Overrides = []plugin.Override{{Name: "misfit", Path: "bin"}}
		}, fails: "holds no executable pulumi-resource-misfit: build the plugin there, or correct the path under"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var warnings []string
			options := plugin.Options{Env: []string{childMode + "=serve"}, Home: t.TempDir(),
				Warn: func(text string) { warnings = append(warnings, text) }}
			linkPlugins(t, options.Home, c.installed...)
			for _, file := range c.files {
				require.NoError(t, os.WriteFile(filepath.Join(options.Home, "plugins", file), nil, 0o600))
			}
			if c.change != nil {
				c.change(t, &options)
			}
			host := plugin.NewHost(options)
			defer func() { require.NoError(t, host.Close()) }()
			loc, err := host.Find("misfit", c.version)
			path := loc.Path
			switch {
			case c.missing:
				var missing *provider.MissingError
				require.ErrorAs(t, err, &missing)
				require.Equal(t, "misfit", missing.Package)
				require.Contains(t, missing.Looked, filepath.Join(options.Home, "plugins"))
			case c.fails != "":
				require.ErrorContains(t, err, c.fails)
			case c.want == "PATH":
				require.NoError(t, err)
				require.Equal(t, filepath.Join(options.Path[2], "pulumi-resource-misfit"), path)
				require.Empty(t, warnings, "looking is silent")
				_, err = host.Load(t.Context(), provider.Package{Name: "misfit"})
				require.NoError(t, err)
				require.Equal(t, []string{"using pulumi-resource-misfit from $PATH at " + path}, warnings)
			case c.want == "override":
				require.NoError(t, err)
				require.Equal(t, filepath.Join(options.RootDir, "bin", "pulumi-resource-misfit"), path)
			default:
				require.NoError(t, err)
				require.Equal(t, filepath.Join(options.Home, "plugins", c.want, "pulumi-resource-misfit"), path)
				require.Equal(t, "resource-misfit-v"+loc.Version, c.want)
			}
		})
	}
}

func TestOlderVersionWarns(t *testing.T) { // E3.6
	t.Parallel()
	var warnings []string
	dir := pluginDir(t, "misfit")
	host := plugin.NewHost(plugin.Options{Env: []string{childMode + "=serve"}, Path: []string{dir},
		Warn: func(text string) { warnings = append(warnings, text) }})
	defer func() { require.NoError(t, host.Close()) }()
	_, err := host.Load(t.Context(), provider.Package{Name: "misfit", Version: "1.2.3"})
	require.NoError(t, err)
	require.Len(t, warnings, 2)
	require.Contains(t, warnings[1], "resource plugin misfit is expected to have version >=1.2.3, but has none")
}
