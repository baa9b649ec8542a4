package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/bench/drawer"
	"github.com/yamlhost/yamlhost/runtime/plugin"
)

// playDrawer is the life of this test binary as a plugin; its folder is in DRAWER.
func playDrawer() {
	if err := plugin.ServeMain(context.Background(), &drawer.Provider{Dir: os.Getenv("DRAWER")}, os.Stdout, os.Args[len(os.Args)-1]); err != nil {
		os.Exit(1)
	}
}

// drawerArchive is a plugin as servers have it: a script that starts this test binary as the drawer.
func drawerArchive(t *testing.T) (archive []byte, sum string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	link := filepath.Join(t.TempDir(), "pulumi-resource-drawer")
	require.NoError(t, os.Symlink(self, link))
	script := fmt.Sprintf("#!/bin/sh\nexec %q \"$@\"\n", link)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "pulumi-resource-drawer", Mode: 0o755, Size: int64(len(script)), Typeflag: tar.TypeReg}))
	_, err = w.Write([]byte(script))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	digest := sha256.Sum256(b.Bytes())
	return b.Bytes(), hex.EncodeToString(digest[:])
}

// redirected sends every request to a test server, whatever host it is for.
type redirected struct{ server *httptest.Server }

func (r redirected) RoundTrip(q *http.Request) (*http.Response, error) {
	there := q.Clone(q.Context())
	there.URL.Scheme, there.URL.Host = "http", r.server.Listener.Addr().String()
	return http.DefaultTransport.RoundTrip(there)
}

// A plugin that is missing is downloaded when it is needed, from where the program, the lock file or custom say, if it is
// the one that was meant; and where that cannot be, people read which plugin, which version and which command (F2.32–F2.35).
func TestAcquisition(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the plugin is a script for a shell")
	}
	archive, sum := drawerArchive(t)
	asset := "/pulumi-resource-drawer-v1.0.0-" + plugin.Platform() + ".tar.gz"
	lock := func(sum string) string {
		return `{"version": 1, "plugins": [{"name": "drawer", "version": "1.0.0", "checksums": {"` + plugin.Platform() + `": "` + sum + `"}}]}`
	}
	const version, command = "version: 1.0.0", "install it with: yamlhost plugin install resource drawer 1.0.0"
	for name, c := range map[string]struct {
		options string // of the resource
		env     []string
		flags   []string
		lock    string
		serves  []string // paths at the server
		want    []string // in what is said
		wrong   bool
	}{
		"from the URL that the program names": {options: version + ", pluginDownloadURL: 'http://mirror.test/$${NAME}/$${VERSION}'",
			serves: []string{"/drawer/1.0.0" + asset}, want: []string{"Downloading plugin drawer 1.0.0"}},
		"from the release of that version": {options: version, serves: []string{"/pulumi/pulumi-drawer/releases/download/v1.0.0" + asset}},
		"from the other usual server":      {options: version, serves: []string{"/releases/plugins" + asset}},
		"the newest":                       {serves: []string{"/pulumi/pulumi-drawer/releases/download/v1.0.0" + asset}},
		"of another owner": {options: version + ", pluginDownloadURL: 'github://api.github.com/joiner'",
			serves: []string{"/joiner/pulumi-drawer/releases/download/v1.0.0" + asset}},
		"overridden": {options: version, env: []string{"PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES=^github://.*/pulumi-(\\w+)=http://mirror.test/all/$1"},
			serves: []string{"/all/drawer" + asset}},
		"the version of the lock file": {lock: lock(sum), serves: []string{"/pulumi/pulumi-drawer/releases/download/v1.0.0" + asset}},
		"not the one of the lock file": {lock: lock(strings.Repeat("0", 64)), serves: []string{"/pulumi/pulumi-drawer/releases/download/v1.0.0" + asset},
			wrong: true, want: []string{"has the SHA-256 " + sum + ", and 0000", "nothing was installed", command}},
		"nowhere": {options: version, wrong: true, want: []string{"error[Y204]: no provider for package drawer 1.0.0",
			"it could not be downloaded", "404 Not Found", command}},
		"nowhere, not even a version": {wrong: true, want: []string{"no version is named", "yamlhost plugin install resource drawer VERSION"}},
		"offline": {options: version, flags: []string{"--offline"}, serves: []string{"/releases/plugins" + asset}, wrong: true,
			want: []string{"it was not downloaded, because --offline forbids that", command}},
		"forbidden": {options: version, env: []string{"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=1"}, serves: []string{"/releases/plugins" + asset},
			wrong: true, want: []string{"because PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION forbids that", command}},
		"forbidden, with a URL": {options: version + ", pluginDownloadURL: 'http://mirror.test/x'", flags: []string{"--offline"}, wrong: true,
			want: []string{command + " --server 'http://mirror.test/x'"}},
		"from nowhere we know": {options: version + ", pluginDownloadURL: 'ftp://mirror.test/x'", wrong: true, want: []string{"begins with http://"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				if strings.HasSuffix(r.URL.Path, "/releases/latest") && len(c.serves) > 0 {
					http.Redirect(w, r, "/pulumi/pulumi-drawer/releases/tag/v1.0.0", http.StatusFound)
					return
				}
				for _, path := range c.serves {
					if r.URL.Path == path {
						_, _ = w.Write(archive)
						return
					}
				}
				http.NotFound(w, r)
			}))
			t.Cleanup(server.Close)
			x := newTerminal(t, "name: acq\nresources:\n  a:\n    type: drawer:Item\n    properties: {title: t, kind: k}\n    options: {"+c.options+"}\n")
			x.world.HTTP = &http.Client{Transport: redirected{server}}
			x.world.Env = append(append(x.world.Env, "DRAWER="+t.TempDir(), "HOME="+x.world.Home), c.env...)
			if c.lock != "" {
				require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, plugin.LockName), []byte(c.lock), 0o600))
			}
			code := x.run(append([]string{"run"}, c.flags...)...)
			installed := filepath.Join(x.world.Home, ".pulumi", "plugins", "resource-drawer-v1.0.0")
			said := x.err.String()
			for _, want := range c.want {
				require.Contains(t, said, want)
			}
			if c.wrong {
				require.Equal(t, 1, code, said)
				require.NoDirExists(t, installed)
				require.NoDirExists(t, filepath.Join(x.world.Dir, "..", "state", ".pulumi", "stacks"), "nothing was begun")
				if len(c.flags) > 0 || strings.HasPrefix(name, "forbidden") {
					require.Zero(t, asked.Load(), "somebody was asked")
				}
				return
			}
			require.Equal(t, 0, code, said)
			require.FileExists(t, filepath.Join(installed, "pulumi-resource-drawer"))
			before := asked.Load()
			require.Equal(t, 0, x.run(append([]string{"run", "--expect-no-changes"}, c.flags...)...), x.err.String())
			require.Equal(t, before, asked.Load(), "what is there is not downloaded again")
			if c.lock != "" {
				text, err := plugin.ReadLockFile(x.world.Dir)
				require.NoError(t, err)
				require.Equal(t, sum, text.Find("drawer", "1.0.0").Checksums[plugin.Platform()])
			}
		})
	}
}

// Who only looks at a program asks no network; people read what is missing, and both ways to get it.
func TestLookingAsksNoNetwork(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"check", "graph"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				http.NotFound(w, r)
			}))
			t.Cleanup(server.Close)
			x := newTerminal(t, "name: acq\nresources:\n  a:\n    type: drawer:Item\n    options: {version: 1.0.0}\n")
			x.world.HTTP = &http.Client{Transport: redirected{server}}
			require.Equal(t, 1, x.run(command))
			require.Contains(t, x.err.String()+x.out.String(), "install it with: yamlhost plugin install resource drawer 1.0.0")
			require.Contains(t, x.err.String()+x.out.String(), "or give its schema with --schema FILE or --schema-dir DIR")
			require.Zero(t, asked.Load(), "somebody was asked")
		})
	}
}
