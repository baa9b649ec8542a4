package cli

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/runtime/plugin/install"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/tools/bench/drawer"
)

// extender is a drawer to which an extension adds the type drawer:acme/v1:Thing. An old one knows no extensions: its
// schema has a plain parameterization, and it ignores the value that it is parameterized with.
type extender struct {
	*drawer.Provider
	old bool
}

func (p *extender) Parameterize(_ context.Context, r provider.ParameterizeRequest) (provider.ParameterizeResponse, error) {
	if p.old && r.Value != nil {
		return provider.ParameterizeResponse{}, nil
	}
	return provider.ParameterizeResponse{Name: "acme", Version: "3.0.0"}, nil
}

func (p *extender) Schema(ctx context.Context, r provider.SchemaRequest) ([]byte, error) {
	if r.SubpackageName == "" {
		return p.Provider.Schema(ctx, r)
	}
	const properties = `{"title":{"type":"string"},"kind":{"type":"string"}}`
	key := "extensionParameterization"
	if p.old {
		key = "parameterization"
	}
	return []byte(`{"name":"drawer","version":"3.0.0","` + key + `":{"baseProvider":{"name":"drawer","version":"1.0.0"},"parameter":"eA=="},
"resources":{"drawer:acme/v1:Thing":{"inputProperties":` + properties + `,"requiredInputs":["title"],"properties":` +
		properties + `}}}`), nil
}

// L1.41, F5.7: a package that is an extension adds types to the package of its plugin, whether it is declared under
// packages or in sdks.
func TestExtensionOfBase(t *testing.T) {
	t.Parallel()
	const resources = `resources:
  item: {type: "drawer:Item", properties: {title: a, kind: box}, options: {version: 1.0.0}}
  thing: {type: "drawer:acme/v1:Thing", properties: {title: b, kind: box}}
outputs: {title: "${thing.title}"}
`
	for name, c := range map[string]struct {
		packages, sdk string
		old           bool
	}{
		"packages":   {"packages:\n  acme: {source: drawer, version: 1.0.0, parameters: [-c, thing.yaml]}\n", "", false},
		"old plugin": {"packages:\n  acme: {source: drawer, version: 1.0.0, parameters: [-c, thing.yaml]}\n", "", true},
		"sdks": {"", "packageDeclarationVersion: 1\nname: drawer\nversion: 1.0.0\n" +
			"extension: {name: acme, version: 3.0.0, value: eA==}\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			x := newTerminal(t, "name: ext\nruntime: yaml\n"+c.packages+resources)
			env := x.world.Env
			attach := func() { // a provider can be configured only once
				address, stop, err := plugin.Serve(&extender{&drawer.Provider{Dir: dir}, c.old})
				require.NoError(t, err)
				t.Cleanup(stop)
				_, port, err := net.SplitHostPort(address)
				require.NoError(t, err)
				x.world.Env = append(slices.Clip(env), "PULUMI_DEBUG_PROVIDERS=drawer:"+port)
			}
			attach()
			if c.sdk != "" {
				require.NoError(t, os.Mkdir(filepath.Join(x.world.Dir, "sdks"), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "sdks", "acme.yaml"), []byte(c.sdk), 0o644))
			}
			require.Equal(t, 0, x.run("check"), x.out.String()+x.err.String())
			require.Equal(t, 0, x.run("schema", "drawer:acme/v1:Thing"), x.err.String())
			require.Contains(t, x.out.String(), "title  string  (required)")
			require.Equal(t, 0, x.run("schema", "drawer:Item"), x.err.String())

			require.Equal(t, 0, x.run("run", "--stack", "dev", "--color", "never"), x.out.String()+x.err.String())
			require.Equal(t, 0, x.run("stack", "export", "--stack", "dev"), x.err.String())
			var export struct {
				Features   []string
				Deployment struct {
					Extensions map[string]map[string]any
					Resources  []struct{ URN, Type, ExtensionRef string }
				}
			}
			require.NoError(t, json.Unmarshal(x.out.Bytes(), &export))
			require.Contains(t, export.Features, "extensionParameterization")
			refs := map[string]string{}
			for _, r := range export.Deployment.Resources {
				if r.ExtensionRef != "" {
					refs[r.Type] = r.ExtensionRef
				}
			}
			require.Len(t, refs, 1)
			ref := refs["drawer:acme/v1:Thing"]
			require.Equal(t, map[string]map[string]any{ref: {"name": "acme", "version": "3.0.0", "value": "eA=="}},
				export.Deployment.Extensions)

			attach()
			require.Equal(t, 0, x.run("run", "--stack", "dev", "--color", "never"), x.err.String())
			require.Contains(t, x.out.String()+x.err.String(), "unchanged")
			attach()
			require.Equal(t, 0, x.run("destroy", "--stack", "dev", "--yes", "--color", "never"), x.err.String())

			wrong := "name: ext\nruntime: yaml\n" + c.packages + "resources:\n" +
				"  thing: {type: \"drawer:acme/v1:Thing\", properties: {tilte: b}}\n"
			require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.yaml"), []byte(wrong), 0o644))
			require.Equal(t, 12, x.run("check"))
			require.Contains(t, x.out.String(), "did you mean `title`?")
		})
	}
}

// The lock file has only the plugin that is extended, and a plugin with another checksum is not started.
func TestExtendedPluginIsAsLocked(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the plugin is a script for a shell")
	}
	archive, sum := drawerArchive(t)
	x := newTerminal(t, `name: ext
runtime: yaml
packages:
  acme: {source: drawer, version: 1.0.0, parameters: [thing.yaml]}
resources:
  thing: {type: "drawer:acme/v1:Thing", properties: {title: b, kind: box}}
`)
	x.world.Env = append(x.world.Env, "DRAWER="+t.TempDir(), "EXTENDER=1", "HOME="+x.world.Home)
	require.Equal(t, 12, x.run("check"))
	require.Contains(t, x.out.String(), "install it with: yamlhost plugin install resource drawer 1.0.0")

	file := filepath.Join(t.TempDir(), "drawer.tar.gz")
	require.NoError(t, os.WriteFile(file, archive, 0o600))
	require.Equal(t, 0, x.run("plugin", "install", "resource", "drawer", "1.0.0", "--file", file, "--lock"), x.err.String())
	require.Equal(t, 0, x.run("run"), x.out.String()+x.err.String())
	lock, err := install.ReadLockFile(x.world.Dir)
	require.NoError(t, err)
	require.Len(t, lock.Plugins, 1, "an extension is no plugin")
	require.Equal(t, sum, lock.Find("drawer", "1.0.0").Checksums[install.Platform()])

	lock.Plugins[0].Checksums[install.Platform()] = strings.Repeat("0", 64)
	require.NoError(t, lock.Write(x.world.Dir))
	for _, command := range []string{"run", "check"} {
		require.Equal(t, 12, x.run(command), command)
		require.Contains(t, x.err.String()+x.out.String(), "came from an archive with the SHA-256", command)
	}
}

// check accepts the example of custom resources without a cluster and without the plugin.
func TestExampleOfCustomResources(t *testing.T) {
	t.Parallel()
	x := inExamples(t)
	dir := filepath.Join(x.world.Dir, "examples", "custom-resources")
	require.Equal(t, 0, x.run("check", dir), x.out.String())
	require.Equal(t, "0 errors, 0 warnings\n", x.out.String())
	path := filepath.Join(dir, "Pulumi.yaml")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for right, c := range map[string][2]string{
		"keepDays: ${":                      {"keepDay: ${", "did you mean `keepDays`?"},
		"encryption: AES256":                {"encryption: AES265", "`AES256`"},
		"        schedule: ${each.value}\n": {"", "needs schedule"},
	} {
		require.Contains(t, string(text), right)
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), right, c[0], 1)), 0o644))
		require.Equal(t, 12, x.run("check", dir), right)
		require.Contains(t, x.out.String(), c[1])
		require.Contains(t, x.out.String(), "1 error, 0 warnings\n")
	}
}
