package install

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

// bundleServer serves the same archive for every requested name.
func bundleServer(t *testing.T) *httptest.Server {
	t.Helper()
	var archive bytes.Buffer
	z := gzip.NewWriter(&archive)
	w := tar.NewWriter(z)
	script := []byte("#!/bin/sh\n")
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "pulumi-resource-zoo", Mode: 0o755, Size: int64(len(script))}))
	_, err := w.Write(script)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, ".tar.gz") {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(archive.Bytes())
	}))
	t.Cleanup(s.Close)
	return s
}

// A bundle holds archives of plugins with their checksums. Unbundle returns those for this platform, and an error for a
// bundle that is damaged, for another platform or in another format.
func TestBundle(t *testing.T) {
	t.Parallel()
	server := bundleServer(t)
	make := func(platforms ...string) string {
		var plugins []Installation
		for _, p := range platforms {
			plugins = append(plugins, Installation{Name: "zoo", Version: "1.2.3", Server: server.URL, Platform: p,
				AllowHTTP: true, Client: server.Client()})
		}
		path := filepath.Join(t.TempDir(), "plugins.tar")
		f, err := os.Create(path)
		require.NoError(t, err)
		require.NoError(t, Bundle(t.Context(), f, "shop", plugins, "", t.TempDir(), func(string) {}))
		require.NoError(t, f.Close())
		return path
	}
	other := "darwin-arm64"
	if Platform() == other {
		other = "linux-amd64"
	}
	both := make(Platform(), other)
	found, err := Unbundle(t.Context(), both, t.TempDir())
	require.NoError(t, err)
	require.Len(t, found, 1)
	home := t.TempDir()
	found[0].Home = home
	result, err := Install(t.Context(), found[0])
	require.NoError(t, err)
	require.Equal(t, found[0].Checksum, result.Checksum)
	require.Len(t, Resources(home), 1)

	_, err = Unbundle(t.Context(), make(other), t.TempDir())
	require.ErrorContains(t, err, "the bundle is for "+other+", and this machine is "+Platform())

	text := testfile.Bytes(t, both)
	for name, c := range map[string]struct {
		text []byte
		want string
	}{
		"another checksum": {bytes.Replace(text, []byte(found[0].Checksum), []byte(strings.Repeat("0", 64)), 2), "SHA-256"},
		"cut off":          {text[:bytes.LastIndex(text, []byte("plugins/pulumi-resource-zoo-v1.2.3-"+Platform()))+100], "damaged"},
		"no bundle":        {[]byte("hello"), "no bundle of plugins"},
		"another format":   {bytes.Replace(text, []byte(`"version": 1,`), []byte(`"version": 9,`), 1), "the format 9"},
	} {
		path := filepath.Join(t.TempDir(), "bad.tar")
		require.NoError(t, os.WriteFile(path, c.text, 0o644))
		_, err := Unbundle(t.Context(), path, t.TempDir())
		require.ErrorContains(t, err, c.want, name)
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "x.tar"))
	require.NoError(t, err)
	defer f.Close()
	require.ErrorContains(t, Bundle(t.Context(), f, "", []Installation{{Name: "zoo", Version: "1.2.3",
		Server: server.URL, Checksum: strings.Repeat("0", 64), AllowHTTP: true, Client: server.Client()}}, "", t.TempDir(),
		func(string) {}), "SHA-256")
}
