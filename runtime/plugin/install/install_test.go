package install

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type member struct {
	name, text string
	kind       byte
	mode       int64
}

func archiveOf(t *testing.T, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Typeflag: m.kind, Mode: m.mode, Size: int64(len(m.text))}
		if m.kind == 0 {
			h.Typeflag = tar.TypeReg
		}
		if h.Typeflag != tar.TypeReg {
			h.Size, h.Linkname = 0, m.text
		}
		if h.Mode == 0 {
			h.Mode = 0o755
		}
		require.NoError(t, w.WriteHeader(h))
		if h.Size > 0 {
			_, err := w.Write([]byte(m.text))
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	return b.Bytes()
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

var script = member{name: "pulumi-resource-toy", text: "#!/bin/sh\n" + strings.Repeat("# padding\n", 5000)}

func TestInstall(t *testing.T) { // F2.28, F2.31–F2.34
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("executables have other names there")
	}
	good := archiveOf(t, member{name: "./", kind: tar.TypeDir}, script, member{name: "data/more.txt", text: "more",
		mode: 0o644})
	elf := "\x7fELF" + strings.Repeat("\x00", 14) + "\xf3\x00" + strings.Repeat("\x00", 40) // RISC-V
	for name, c := range map[string]struct {
		archive  []byte
		checksum string
		serve    func(n int64, w http.ResponseWriter, r *http.Request, data []byte) // nil: whole archive
		wrong    string                                                             // in the error; empty for success
		calls    int64                                                              // minimum
	}{
		"whole":            {archive: good, checksum: sumOf(good)},
		"without checksum": {archive: good},
		"wrong checksum":   {archive: good, checksum: strings.Repeat("0", 64), wrong: "and 0000"},
		"not found": {archive: good, wrong: "404", serve: func(_ int64, w http.ResponseWriter, r *http.Request,
			_ []byte) {
			http.NotFound(w, r)
		}},
		"broken off, taken up again": {archive: good, checksum: sumOf(good), calls: 3,
			serve: func(n int64, w http.ResponseWriter, r *http.Request, data []byte) {
				w.Header().Set("ETag", `"one"`)
				if n < 3 && r.Header.Get("Range") == "" || n == 2 {
					data = data[:len(data)-len(data)/4*int(3-n)]
					w.Header().Set("Content-Length", "999999")
					_, _ = w.Write(data) // a range is ignored
					return
				}
				http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
			}},
		"another file behind the same URL": {archive: good, checksum: sumOf(good), calls: 2,
			serve: func(n int64, w http.ResponseWriter, r *http.Request, data []byte) {
				if n == 1 {
					w.Header().Set("ETag", `"old"`)
					w.Header().Set("Content-Length", "999999")
					_, _ = w.Write([]byte("something old"))
					return
				}
				w.Header().Set("ETag", `"new"`)
				http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
			}},
		"always broken off": {archive: good, calls: 5, wrong: "download plugin toy 1.2.3",
			serve: func(_ int64, w http.ResponseWriter, _ *http.Request, data []byte) {
				w.Header().Set("Content-Length", "999999")
				_, _ = w.Write(data[:10])
			}},
		"a server in trouble": {archive: good, calls: 2, serve: func(n int64, w http.ResponseWriter, r *http.Request,
			data []byte) {
			if n == 1 {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			_, _ = w.Write(data)
		}},
		"truncated archive": {archive: good[:len(good)/2], wrong: "damaged"},
		"no archive":        {archive: []byte("\x1f\x8bnonsense"), wrong: "damaged"},
		"upwards": {archive: archiveOf(t, script, member{name: "../evil", text: "x"}),
			wrong: "outside of the plugin's folder"},
		"upwards in between": {archive: archiveOf(t, script, member{name: "a/../../evil", text: "x"}),
			wrong: "outside of the plugin's folder"},
		"absolute": {archive: archiveOf(t, script, member{name: "/tmp/evil", text: "x"}),
			wrong: "outside of the plugin's folder"},
		"backslashes": {archive: archiveOf(t, script, member{name: `..\evil`, text: "x"}),
			wrong: "outside of the plugin's folder"},
		"a link": {archive: archiveOf(t, script, member{name: "link", text: "/etc/passwd",
			kind: tar.TypeSymlink}), wrong: "is a link"},
		"a hard link": {archive: archiveOf(t, script, member{name: "link", text: "/etc/passwd", kind: tar.TypeLink}),
			wrong: "is a link"},
		"a pipe": {archive: archiveOf(t, script, member{name: "pipe", kind: tar.TypeFifo}),
			wrong: "is a link or a device"},
		"the same twice": {archive: archiveOf(t, script, script), wrong: "unpack the plugin"},
		"another plugin": {archive: archiveOf(t, member{name: "pulumi-resource-other", text: "x"}),
			wrong: "holds no executable pulumi-resource-toy"},
		"another platform": {archive: archiveOf(t, member{name: "pulumi-resource-toy", text: elf}),
			wrong: "is made for linux-another processor"},
		"source form": {archive: archiveOf(t, member{name: "PulumiPlugin.yaml", text: "runtime: nodejs"})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasSuffix(r.URL.Path, ".tar.gz") { // the publisher's checksums
					http.NotFound(w, r)
					return
				}
				n := calls.Add(1)
				if want := "/at/toy/pulumi-resource-toy-v1.2.3-" + Platform() + ".tar.gz"; r.URL.Path != want {
					t.Errorf("asked for %s and not for %s", r.URL.Path, want)
				}
				if c.serve != nil {
					c.serve(n, w, r, c.archive)
					return
				}
				_, _ = w.Write(c.archive)
			}))
			t.Cleanup(server.Close)
			home := t.TempDir()
			i := Installation{Home: home, Name: "toy", Version: "v1.2.3", Server: server.URL + "/at/${NAME}",
				Checksum: c.checksum, Pause: time.Microsecond, AllowHTTP: true}
			result, err := Install(t.Context(), i)
			left, _ := filepath.Glob(filepath.Join(home, "plugins", "*"))
			// The lock file stays (F2.28).
			left = slices.DeleteFunc(left, func(path string) bool { return strings.HasSuffix(path, ".lock") })
			require.GreaterOrEqual(t, calls.Load(), c.calls)
			if c.wrong != "" {
				require.ErrorContains(t, err, c.wrong)
				require.Empty(t, left, "nothing stays")
				require.NoFileExists(t, filepath.Join(home, "plugins", "evil"))
				require.NoFileExists(t, filepath.Join(home, "evil"))
				return
			}
			require.NoError(t, err)
			require.Equal(t, []string{filepath.Join(home, "plugins", "resource-toy-v1.2.3")}, left)
			require.Equal(t, sumOf(c.archive), result.Checksum)
			require.Len(t, Resources(home), 1)
			again, err := Install(t.Context(), i)
			require.NoError(t, err)
			require.True(t, again.Already)
			require.NoError(t, Remove(Resources(home)[0]))
			require.Empty(t, Resources(home))
		})
	}
}

// An interrupted installation is ignored and repeated.
func TestInstallAfterCrash(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, "plugins", "resource-toy-v1.2.3")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(dir+".partial", nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "half"), nil, 0o600))
	require.Empty(t, Resources(home))
	file := filepath.Join(t.TempDir(), "toy.tar.gz")
	require.NoError(t, os.WriteFile(file, archiveOf(t, script), 0o600))
	result, err := Install(t.Context(), Installation{Home: home, Name: "toy", Version: "1.2.3", File: file})
	require.NoError(t, err)
	require.False(t, result.Already)
	require.NoFileExists(t, filepath.Join(dir, "half"))
	require.Len(t, Resources(home), 1)
}

func TestInstallNames(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{{"../evil", "1.0.0"}, {"", "1.0.0"}, {"toy", "../../1"}, {"toy", ""}, {"a/b", "1.0.0"}} {
		_, err := Install(t.Context(), Installation{Home: t.TempDir(), Name: c[0], Version: c[1], File: "none"})
		require.Error(t, err, "%q", c)
	}
}

func TestLockFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := ReadLockFile(dir)
	require.NoError(t, err)
	require.Nil(t, l)
	require.Nil(t, l.Find("toy", "1.0.0"))
	l = &LockFile{}
	l.Add("toy", "1.0.0", "https://example.com", "aa")
	l.Add("ant", "2.0.0", "", "bb")
	l.Add("toy", "1.0.0", "https://example.com", "cc")
	require.NoError(t, l.Write(dir))
	back, err := ReadLockFile(dir)
	require.NoError(t, err)
	require.Equal(t, l, back)
	require.Equal(t, "cc", back.Find("toy", "v1.0.0").Checksums[Platform()])
	require.Equal(t, "ant", back.Plugins[0].Name)
	require.NoError(t, os.WriteFile(filepath.Join(dir, LockName), []byte(`{"version":9}`), 0o600))
	_, err = ReadLockFile(dir)
	require.ErrorContains(t, err, "format is 9")
}

// Of concurrent installations one downloads the plugin; the others wait and find it installed (F2.28).
func TestInstallAtOnce(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is nothing to keep them apart there")
	}
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, ".tar.gz") {
			http.NotFound(w, r)
			return
		}
		calls.Add(1)
		_, _ = w.Write(archiveOf(t, script))
	}))
	t.Cleanup(server.Close)
	home := t.TempDir()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			_, err := Install(t.Context(), Installation{Home: home, Name: "toy", Version: "1.2.3", Server: server.URL,
				AllowHTTP: true})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	require.EqualValues(t, 1, calls.Load())
	require.Len(t, Resources(home), 1)
}

// Sources returns the download servers for a package's URL and the overrides (F2.32, F2.35).
func TestSources(t *testing.T) {
	t.Parallel()
	const release = "https://github.com/%/releases/download/v${VERSION}"
	for name, c := range map[string]struct{ from, overrides, want, wrong string }{
		"by default": {want: strings.Replace(release, "%", "pulumi/pulumi-toy", 1) + " " + DefaultServer},
		"a template": {from: "https://h/${NAME}", want: "https://h/${NAME}"},
		"an owner": {from: "github://api.github.com/o", want: strings.Replace(release, "%", "o/pulumi-toy",
			1)},
		"an owner and a repository": {from: "github://api.github.com/o/r", want: strings.Replace(release, "%", "o/r", 1)},
		"another GitHub":            {from: "github://ghe.test/o", wrong: "from github://api.github.com/OWNER"},
		"another scheme":            {from: "s3://bucket", wrong: "begins with http://, https://, github:// or git://"},
		"overridden": {overrides: "x=y,^github://(?P<host>[^/]+)/=http://m/${host}/${NAME}",
			want: "http://m/api.github.com/${NAME}"},
		"overridden, does not fit": {from: "http://h", overrides: "^github=http://m", want: "http://h"},
		"malformed override":       {overrides: "(", wrong: "not of the form"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sources, err := Sources("toy", c.from, c.overrides)
			if c.wrong != "" {
				require.ErrorContains(t, err, c.wrong)
				return
			}
			require.NoError(t, err)
			var got []string
			for _, s := range sources {
				got = append(got, s.Server)
			}
			require.Equal(t, c.want, strings.Join(got, " "))
		})
	}
}

// Concurrent additions to a lock file are all kept.
func TestEditLockFileTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var group sync.WaitGroup
	faults := make([]error, 20)
	for i := range faults {
		group.Go(func() {
			faults[i] = EditLockFile(t.Context(), dir, func(l *LockFile) { l.Add(fmt.Sprint("p", i), "1.0.0", "", "aa") })
		})
	}
	group.Wait()
	for _, err := range faults {
		require.NoError(t, err)
	}
	l, err := ReadLockFile(dir)
	require.NoError(t, err)
	require.Len(t, l.Plugins, 20)
}
