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

	"aead.dev/minisign"
	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/runtime/plugin/install"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/tools/bench/drawer"
)

// playDrawer runs this test binary as the drawer plugin, with its objects in the folder DRAWER. If EXTENDER is set, the
// plugin accepts extensions.
func playDrawer() {
	plain := &drawer.Provider{Dir: os.Getenv("DRAWER")}
	var served provider.Provider = plain
	if os.Getenv("EXTENDER") != "" {
		served = &extender{plain, false}
	}
	if err := plugin.ServeMain(context.Background(), served, os.Stdout, os.Args[len(os.Args)-1]); err != nil {
		os.Exit(1)
	}
}

// drawerArchive returns the archive of a plugin and its SHA-256. The plugin is a script that runs playDrawer in this
// test binary.
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
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "pulumi-resource-drawer", Mode: 0o755, Size: int64(len(script)),
		Typeflag: tar.TypeReg}))
	_, err = w.Write([]byte(script))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	digest := sha256.Sum256(b.Bytes())
	return b.Bytes(), hex.EncodeToString(digest[:])
}

// redirected sends requests for any host to a test server.
type redirected struct{ server *httptest.Server }

func (r redirected) RoundTrip(q *http.Request) (*http.Response, error) {
	clone := q.Clone(q.Context())
	clone.URL.Scheme, clone.URL.Host = "http", r.server.Listener.Addr().String()
	return http.DefaultTransport.RoundTrip(clone)
}

// A missing plugin is downloaded when it is needed, from the source that the program, the lock file or convention
// names, if its checksum matches. Otherwise the error names the plugin, its version and the command that installs it
// (F2.32–F2.35).
func TestAcquisition(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the plugin is a script for a shell")
	}
	archive, sum := drawerArchive(t)
	asset := "/pulumi-resource-drawer-v1.0.0-" + install.Platform() + ".tar.gz"
	lock := func(sum string) string {
		return `{"version": 1, "plugins": [{"name": "drawer", "version": "1.0.0", "checksums": {"` + install.Platform() +
			`": "` + sum + `"}}]}`
	}
	const version, command = "version: 1.0.0", "install it with: yamlhost plugin install resource drawer 1.0.0"
	for name, c := range map[string]struct {
		options string // resource options
		env     []string
		flags   []string
		lock    string
		serves  []string // paths that the server has
		want    []string // parts of standard error
		wrong   bool
	}{
		"from the URL that the program names": {options: version +
			", pluginDownloadURL: 'https://mirror.test/$${NAME}/$${VERSION}'",
			serves: []string{"/drawer/1.0.0" + asset}, want: []string{"Downloading plugin drawer 1.0.0"}},
		"from the release of that version": {options: version,
			serves: []string{"/pulumi/pulumi-drawer/releases/download/v1.0.0" + asset}},
		"from the other usual server": {options: version, serves: []string{"/releases/plugins" + asset}},
		"the newest":                  {serves: []string{"/pulumi/pulumi-drawer/releases/download/v1.0.0" + asset}},
		"of another owner": {options: version + ", pluginDownloadURL: 'github://api.github.com/joiner'",
			serves: []string{"/joiner/pulumi-drawer/releases/download/v1.0.0" + asset}},
		"overridden": {options: version,
			env:    []string{"PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES=^github://.*/pulumi-(\\w+)=https://mirror.test/all/$1"},
			serves: []string{"/all/drawer" + asset}},
		"the version of the lock file": {lock: lock(sum), serves: []string{"/pulumi/pulumi-drawer/releases/download/v1.0.0" +
			asset}},
		"not the one of the lock file": {lock: lock(strings.Repeat("0", 64)),
			serves: []string{"/pulumi/pulumi-drawer/releases/download/v1.0.0" + asset},
			wrong:  true, want: []string{"has the SHA-256 " + sum + ", and 0000", "nothing was installed", command}},
		"nowhere": {options: version, wrong: true, want: []string{"error[Y204]: no provider for package drawer 1.0.0",
			"it could not be downloaded", "404 Not Found", command}},
		"nowhere, not even a version": {wrong: true, want: []string{"no version is named",
			"yamlhost plugin install resource drawer VERSION\n",
			"with a version of its publisher, such as 1.2.3, for VERSION: the newest is not known"}},
		"offline": {options: version, flags: []string{"--offline"}, serves: []string{"/releases/plugins" + asset},
			wrong: true, want: []string{"it was not downloaded, because --offline forbids that", command}},
		"forbidden": {options: version, env: []string{"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=1"},
			serves: []string{"/releases/plugins" + asset},
			wrong:  true, want: []string{"because PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION forbids that", command}},
		"forbidden, with a URL": {options: version + ", pluginDownloadURL: 'https://mirror.test/x'",
			flags: []string{"--offline"}, wrong: true,
			want: []string{command + " --server 'https://mirror.test/x'"}},
		"from nowhere we know": {options: version + ", pluginDownloadURL: 'ftp://mirror.test/x'", wrong: true,
			want: []string{"begins with http://"}},
		"without encryption": {options: version + ", pluginDownloadURL: 'http://mirror.test/x'", wrong: true,
			serves: []string{"/x" + asset}, want: []string{"over https only; --allow-http-plugins allows http"}},
		"without encryption, allowed": {options: version + ", pluginDownloadURL: 'http://mirror.test/x'",
			flags: []string{"--allow-http-plugins"}, serves: []string{"/x" + asset}},
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
			x := newTerminal(t,
				"name: acq\nresources:\n  a:\n    type: drawer:Item\n    properties: {title: t, kind: k}\n    options: {"+c.options+
					"}\n")
			x.world.HTTP = &http.Client{Transport: redirected{server}}
			x.world.Env = append(append(x.world.Env, "DRAWER="+t.TempDir(), "HOME="+x.world.Home), c.env...)
			if c.lock != "" {
				require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, install.LockName), []byte(c.lock), 0o600))
			}
			code := x.run(append([]string{"run", "--accept-new-plugins"}, c.flags...)...)
			installed := filepath.Join(x.world.Home, ".pulumi", "plugins", "resource-drawer-v1.0.0")
			said := x.err.String()
			for _, want := range c.want {
				require.Contains(t, said, want)
			}
			if c.wrong {
				require.Equal(t, 12, code, said)
				require.NoDirExists(t, installed)
				require.NoDirExists(t, filepath.Join(x.world.Dir, "..", "state", ".pulumi", "stacks"), "nothing was begun")
				if name == "without encryption" || len(c.flags) > 0 || strings.HasPrefix(name, "forbidden") {
					require.Zero(t, asked.Load(), "somebody was asked")
				}
				return
			}
			require.Equal(t, 0, code, said)
			require.FileExists(t, filepath.Join(installed, "pulumi-resource-drawer"))
			before := asked.Load()
			require.Equal(t, 0, x.run(append([]string{"run", "--expect-no-changes"}, c.flags...)...), x.err.String())
			require.Equal(t, before, asked.Load(), "what is there is not downloaded again")
			locked, err := install.ReadLockFile(x.world.Dir)
			require.NoError(t, err)
			require.Equal(t, sum, locked.Find("drawer", "1.0.0").Checksums[install.Platform()], "it is locked from now on")
		})
	}
}

// Without a version, plugin install installs the newest release and locks its version.
func TestInstallNewest(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the plugin is a script for a shell")
	}
	archive, sum := drawerArchive(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/pulumi/pulumi-drawer/releases/latest":
			http.Redirect(w, r, "/pulumi/pulumi-drawer/releases/tag/v1.0.0", http.StatusFound)
		case "/pulumi/pulumi-drawer/releases/download/v1.0.0/pulumi-resource-drawer-v1.0.0-" + install.Platform() + ".tar.gz":
			_, _ = w.Write(archive)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	x := newTerminal(t, "name: acq\n")
	x.world.HTTP = &http.Client{Transport: redirected{server}}
	require.Equal(t, 0, x.run("plugin", "install", "resource", "drawer"), x.err.String())
	require.Contains(t, x.err.String(), "installed drawer 1.0.0 in ")
	locked, err := install.ReadLockFile(x.world.Dir)
	require.NoError(t, err)
	require.Equal(t, sum, locked.Find("drawer", "1.0.0").Checksums[install.Platform()])
	require.Equal(t, 1, x.run("plugin", "install", "resource", "joiner"))
	require.Contains(t, x.err.String(), "no version is named, and the newest is not known")
}

// check and graph send no requests. Their error names the missing plugin and both ways to get its schema.
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
			if code := x.run(command); command == "graph" { // it needs no schema
				require.Zero(t, code, x.err.String())
			} else {
				require.Equal(t, 12, code)
				said := x.err.String() + x.out.String()
				require.Contains(t, said, "install it with: yamlhost plugin install resource drawer 1.0.0")
				require.Contains(t, said, "or give its schema with --schema FILE or --schema-dir DIR")
			}
			require.Zero(t, asked.Load(), "somebody was asked")
		})
	}
}

// A plugin without a locked checksum is downloaded and run only with consent. A command that cannot ask for it stops
// before it changes anything (F2.34).
func TestNewPlugins(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the plugin is a script for a shell")
	}
	archive, _ := drawerArchive(t)
	const program = "name: acq\nresources:\n  pet: {type: random:RandomPet}\n  a:\n    type: drawer:Item\n    " +
		"properties: {title: t, kind: k}\n    options: {version: 1.0.0}\n"
	for name, c := range map[string]struct {
		args    []string
		answers []string
		silent  bool   // standard input is no terminal
		made    bool   // whether an earlier run with the plugin has created the resources
		next    string // the program for the command; empty for the same
		code    int
		asked   bool // whether the server gets requests
		want    string
	}{
		"run": {args: []string{"run", "-s", "dev"}, code: 12,
			want: "--accept-new-plugins` downloads it and locks its checksum"},
		"run, accepted": {args: []string{"run", "-s", "dev", "--accept-new-plugins"}, asked: true,
			want: "Downloading"},
		"preview, yes": {args: []string{"preview"}, answers: []string{"yes"}, asked: true,
			want: "yamlhost.lock.json does not have it. Download it from its publisher and run it?"},
		"preview, no": {args: []string{"preview"}, answers: []string{"no"}, code: 12, want: "you declined it"},
		"preview without a terminal": {args: []string{"preview"}, silent: true, code: 12,
			want: "--accept-new-plugins` downloads it and locks its checksum"},
		"up, yes": {args: []string{"up", "--yes"}, answers: []string{"yes"}, asked: true,
			want: "Downloading"},
		"up without a terminal": {args: []string{"up", "--yes"}, silent: true, code: 12,
			want: "--accept-new-plugins` downloads it and locks its checksum"},
		"destroy": {args: []string{"destroy", "--yes", "--skip-preview"}, made: true, silent: true,
			code: 1, want: "nothing was done: no provider plugin for package drawer 1.0.0"},
		"destroy, yes": {args: []string{"destroy", "--yes"}, made: true, answers: []string{"yes"}, asked: true,
			want: "Downloading"},
		"destroy, no": {args: []string{"destroy", "--yes"}, made: true, answers: []string{"no"}, code: 1,
			want: "you declined it"},
		"up that deletes": {args: []string{"up", "--yes"}, made: true, next: onePet, silent: true, code: 1,
			want: "nothing was done"},
		"up that deletes, accepted": {args: []string{"up", "--yes", "--accept-new-plugins"}, made: true, next: onePet,
			silent: true, asked: true, want: "Downloading"},
		"refresh": {args: []string{"refresh", "--yes"}, made: true, silent: true, code: 1,
			want: "nothing was done"},
		"refresh, accepted": {args: []string{"refresh", "--yes", "--accept-new-plugins"}, made: true, silent: true,
			asked: true, want: "Downloading"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				if !strings.HasSuffix(r.URL.Path, ".tar.gz") {
					http.NotFound(w, r)
					return
				}
				_, _ = w.Write(archive)
			}))
			t.Cleanup(server.Close)
			x := newTerminal(t, program, c.answers...)
			x.world.HTTP = &http.Client{Transport: redirected{server}}
			x.world.Env = append(x.world.Env, "DRAWER="+t.TempDir(), "HOME="+x.world.Home)
			require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
			if c.made {
				require.Equal(t, 0, x.run("run", "--accept-new-plugins"), x.err.String())
				require.NoError(t, os.RemoveAll(filepath.Join(x.world.Home, ".pulumi", "plugins")))
				require.NoError(t, os.Remove(filepath.Join(x.world.Dir, install.LockName)))
				asked.Store(0)
			}
			if c.next != "" {
				require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.yaml"),
					[]byte(strings.Replace(c.next, "one", "acq", 1)), 0o600))
			}
			x.streams.InTerminal = !c.silent
			state := filepath.Join(x.world.Dir, "..", "state", ".pulumi", "stacks", "acq", "dev.json")
			before, err := os.ReadFile(state)
			require.NoError(t, err)
			code := x.run(c.args...)
			said := x.err.String()
			require.Equal(t, c.code, code, said)
			require.Contains(t, said, c.want)
			require.Equal(t, c.asked, asked.Load() > 0, said)
			if c.code != 0 {
				require.Contains(t, said, "yamlhost plugin install resource drawer 1.0.0")
				after, err := os.ReadFile(state)
				require.NoError(t, err)
				require.Equal(t, string(before), string(after), "nothing was done")
				require.NoDirExists(t, filepath.Join(x.world.Home, ".pulumi", "plugins", "resource-drawer-v1.0.0"))
			}
		})
	}
}

// An installed plugin is not started if its archive was not the locked one.
func TestInstalledIsAsLocked(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the plugin is a script for a shell")
	}
	archive, _ := drawerArchive(t)
	x := newTerminal(t,
		"name: acq\nresources:\n  a:\n    type: drawer:Item\n    properties: {title: t, kind: k}\n    options: {version: "+
			"1.0.0}\n")
	x.world.Env = append(x.world.Env, "DRAWER="+t.TempDir(), "HOME="+x.world.Home)
	file := filepath.Join(t.TempDir(), "drawer.tar.gz")
	require.NoError(t, os.WriteFile(file, archive, 0o600))
	require.Equal(t, 0, x.run("plugin", "install", "resource", "drawer", "1.0.0", "--file", file), x.err.String())
	require.Equal(t, 0, x.run("run"), x.err.String())
	require.NoError(t, (&install.LockFile{Version: 1, Plugins: []install.LockedPlugin{{Name: "drawer", Version: "1.0.0",
		Checksums: map[string]string{install.Platform(): strings.Repeat("0", 64)}}}}).Write(x.world.Dir))
	for _, command := range []string{"run", "preview", "check"} {
		require.Equal(t, 12, x.run(command), command)
		require.Contains(t, x.err.String()+x.out.String(), "came from an archive with the SHA-256", command)
	}
	require.Equal(t, 1, x.run("plugin", "install"))
	require.Contains(t, x.err.String(), "was expected; --reinstall installs the expected one")
}

// plugin install --key requires a signature by the key, and the lock file keeps the key for later installs.
func TestInstallWithKey(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the plugin is a script for a shell")
	}
	archive, _ := drawerArchive(t)
	public, secret, err := minisign.GenerateKey(nil)
	require.NoError(t, err)
	x := newTerminal(t, "name: acq\n")
	file, key := filepath.Join(t.TempDir(), "drawer.tar.gz"), filepath.Join(t.TempDir(), "drawer.pub")
	require.NoError(t, os.WriteFile(file, archive, 0o600))
	text, err := public.MarshalText()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(key, text, 0o600))
	installed := func(version string, flags ...string) int {
		return x.run(append([]string{"plugin", "install", "resource", "drawer", version, "--file", file}, flags...)...)
	}
	require.Equal(t, 2, installed("1.0.0", "--key", "nonsense"))
	require.Contains(t, x.err.String(), "--key: it is not a public key of minisign")
	require.Equal(t, 1, installed("1.0.0", "--key", key))
	require.Contains(t, x.err.String(), "a key is trusted for the plugin, and there is no "+file+".minisig")
	require.NoFileExists(t, filepath.Join(x.world.Dir, install.LockName))

	require.NoError(t, os.WriteFile(file+".minisig", minisign.Sign(secret, archive), 0o600))
	require.Equal(t, 0, installed("1.0.0", "--key", public.String()), x.err.String())
	lock, err := install.ReadLockFile(x.world.Dir)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"drawer": public.String()}, lock.Keys)
	require.Equal(t, 1, installed("1.0.0", "--key", key))
	require.Contains(t, x.err.String(), "and its signature was not checked; --reinstall installs it anew")

	require.NoError(t, os.Remove(file+".minisig"))
	require.Equal(t, 1, installed("1.1.0"), "the key is remembered")
	require.Contains(t, x.err.String(), "a key is trusted for the plugin")
	other, _, err := minisign.GenerateKey(nil)
	require.NoError(t, err)
	require.Equal(t, 1, installed("1.1.0", "--key", other.String()))
	require.Contains(t, x.err.String(), "--key differs from the key that yamlhost.lock.json has for drawer")
}
