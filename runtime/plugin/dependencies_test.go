package plugin_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/runtime/plugin/install"
)

// InstallDependencies writes a file into the program's directory. It fails in the mode refuse.
func (language) InstallDependencies(r *pulumirpc.InstallDependenciesRequest,
	stream pulumirpc.LanguageRuntime_InstallDependenciesServer) error {
	if r.GetInfo().GetOptions().GetFields()["mode"].GetStringValue() == "refuse" {
		if err := stream.Send(&pulumirpc.InstallDependenciesResponse{Stderr: []byte("npm: no such package\n")}); err != nil {
			return err
		}
		return os.ErrNotExist
	}
	return os.WriteFile(filepath.Join(r.GetInfo().GetProgramDirectory(), "installed"), nil, 0o600)
}

// TestInstallPack installs a required pack and its dependencies once. A failed installation leaves nothing behind.
func TestInstallPack(t *testing.T) {
	t.Parallel()
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	members := tar.NewWriter(zipped)
	require.NoError(t, members.WriteHeader(&tar.Header{Name: "package/PulumiPolicy.yaml", Size: 0, Mode: 0o644}))
	require.NoError(t, members.Close())
	require.NoError(t, zipped.Close())
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://example.com/?canary-signature", http.StatusFound)
			return
		}
		_, _ = w.Write(archive.Bytes())
	}))
	t.Cleanup(server.Close)
	home := ""
	host := scriptHost(t, toy(""), func(o *plugin.Options) { home = o.Home })
	finish := func(mode string) func(dir string) error {
		return func(dir string) error {
			return host.InstallScriptDependencies(t.Context(), "a/b", dir, toy(mode))
		}
	}
	pack := install.Pack{Owner: "acme", Name: "a/b", Version: "1.0.0", Location: server.URL + "/x?canary-signature",
		Pause: time.Millisecond, Finish: finish("refuse")}
	_, err := pack.Install(t.Context(), home)
	require.ErrorContains(t, err, "install what it depends on")
	require.ErrorContains(t, err, "npm: no such package")
	pack.Location = server.URL + "/away"
	_, err = pack.Install(t.Context(), home)
	require.ErrorContains(t, err, "the server redirects to http://example.com/: policy packs are downloaded over https only")
	require.NotContains(t, err.Error(), "canary")
	left := testfile.Match(t, filepath.Join(home, "policies/acme/pulumi-analyzer-*[0-9]"))
	require.Empty(t, left)

	pack.Location = server.URL
	pack.Finish = finish("")
	for range 2 {
		dir, err := pack.Install(t.Context(), home)
		require.NoError(t, err)
		require.Equal(t, filepath.Join(home, "policies/acme/pulumi-analyzer-a_b-v1.0.0"), dir)
		require.FileExists(t, filepath.Join(dir, "installed"))
	}
	require.Equal(t, 3, asked)
}
