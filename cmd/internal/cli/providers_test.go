package cli

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/runtime/embedded"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace"
)

// D8: an installed plugin, or an explicit version or download URL, wins over the embedded provider.
func TestWhoServesAPackage(t *testing.T) {
	t.Parallel()
	builtInVersion, found := embedded.Version("random")
	require.True(t, found)
	executable := func(t *testing.T, dir string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "pulumi-resource-random"), []byte("#!/bin/sh\nexit 1\n"), 0o755))
	}
	for name, c := range map[string]struct {
		version, url  string
		parameterized bool
		installed     string // version in the plugin folder
		onPath        bool
		ignoreAmbient bool
		builtIn       bool
	}{
		"nothing installed":      {builtIn: true},
		"the built-in version":   {version: builtInVersion, builtIn: true},
		"another version":        {version: "1.2.3"},
		"a download URL":         {url: "https://plugins.example.test"},
		"parameterized":          {parameterized: true},
		"a plugin is installed":  {installed: "9.9.9"},
		"another is installed":   {version: builtInVersion, installed: "9.9.9", builtIn: true},
		"a plugin is on PATH":    {onPath: true},
		"PATH does not count":    {onPath: true, ignoreAmbient: true, builtIn: true},
		"an installed exact one": {version: "9.9.9", installed: "9.9.9"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, bin := t.TempDir(), t.TempDir()
			a := &console.Console{World: console.World{Dir: home, Home: home, Env: []string{"PULUMI_HOME=" + home, "PATH=" +
				bin}}}
			if c.installed != "" {
				executable(t, filepath.Join(home, "plugins", "resource-random-v"+c.installed))
			}
			if c.onPath {
				executable(t, bin)
			}
			if c.ignoreAmbient {
				a.World.Env = append(a.World.Env, "PULUMI_IGNORE_AMBIENT_PLUGINS=true")
			}
			p := operation.NewProviders(a, workspace.Empty(home), nil, operation.Trusted)
			defer p.Close()
			require.Equal(t, c.builtIn, p.Embedded("random", c.version, c.url, c.parameterized) != nil)
		})
	}
}

// The error about an unknown package names the places that were searched.
func TestMissingPackage(t *testing.T) {
	t.Parallel()
	a := &console.Console{World: console.World{Dir: t.TempDir(), Home: t.TempDir()}}
	p := operation.NewProviders(a, workspace.Empty(""), nil, operation.Trusted)
	defer p.Close()
	_, err := p.Schemas().Load(context.Background(), schema.Descriptor{Name: "nosuch"})
	require.ErrorIs(t, err, schema.ErrNotFound)
	_, err = p.Load(context.Background(), provider.Package{Name: "random", Version: "0.0.1"})
	require.ErrorContains(t, err, "the built-in providers (which have random ")
}
