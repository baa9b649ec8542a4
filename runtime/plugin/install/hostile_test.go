package install

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// packed returns the output of write, gzipped.
func packed(t *testing.T, write func(w io.Writer)) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	require.NoError(t, err)
	write(z)
	require.NoError(t, z.Close())
	return b.Bytes()
}

// zeros writes n zero bytes.
func zeros(t *testing.T, w io.Writer, n int64) {
	t.Helper()
	_, err := io.CopyN(w, zero{}, n)
	require.NoError(t, err)
}

type zero struct{}

func (zero) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Malformed and oversized archives are refused with a one-line error, and nothing is written outside of the plugin's
// folder.
func TestHostileArchives(t *testing.T) {
	t.Parallel()
	header := func(w *tar.Writer, h tar.Header) { require.NoError(t, w.WriteHeader(&h)) }
	for name, c := range map[string]struct {
		archive []byte
		want    string
	}{
		"a page":          {[]byte("<html>sign in</html>"), "neither an archive (.tar.gz) nor an executable"},
		"nothing":         {nil, "neither an archive"},
		"gzip of nothing": {packed(t, func(io.Writer) {}), "holds no executable"},
		"zeros in a member": {packed(t, func(w io.Writer) {
			a := tar.NewWriter(w)
			header(a, tar.Header{Name: "pulumi-resource-toy", Mode: 0o755, Size: 300 << 20, Typeflag: tar.TypeReg})
			zeros(t, a, 300<<20)
			require.NoError(t, a.Close())
		}), "too large for a plugin"},
		"zeros behind the last member": {packed(t, func(w io.Writer) {
			a := tar.NewWriter(w)
			header(a, tar.Header{Name: script.name, Mode: 0o755, Size: int64(len(script.text)), Typeflag: tar.TypeReg})
			_, err := io.WriteString(a, script.text)
			require.NoError(t, err)
			require.NoError(t, a.Close())
			zeros(t, w, 300<<20)
		}), "too large for a plugin"},
		"a size that is a lie": {packed(t, func(w io.Writer) {
			header(tar.NewWriter(w), tar.Header{Name: "pulumi-resource-toy", Size: 1 << 60, Typeflag: tar.TypeReg})
		}), "too large for a plugin"},
		"a hole": {packed(t, func(w io.Writer) { // a sparse file of PAX 1.0
			a := tar.NewWriter(w)
			err := a.WriteHeader(&tar.Header{Name: "pulumi-resource-toy", Size: 512, Typeflag: tar.TypeReg,
				PAXRecords: map[string]string{
					"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": fmt.Sprint(int64(1) << 50),
					"GNU.sparse.name": "pulumi-resource-toy"}})
			if err != nil { // the writer refuses such a header; continue with an invalid archive
				_, _ = io.WriteString(w, strings.Repeat("x", 1024))
				return
			}
			zeros(t, a, 512)
			require.NoError(t, a.Close())
		}), "holds no executable"},
		"more members than files fit": {packed(t, func(w io.Writer) {
			a := tar.NewWriter(w)
			for range mostMembers + 1 {
				header(a, tar.Header{Name: "x/", Mode: 0o755, Typeflag: tar.TypeDir})
			}
		}), "too large for a plugin"},
		"a deep path": {archiveOf(t, member{name: strings.Repeat("a/", 400) + "b", text: "x"}), "a path that is " +
			"too long or too deep"},
		"a long name": {archiveOf(t, member{name: strings.Repeat("a", 5000), text: "x"}), "a path that is too " +
			"long or too deep"},
		"a file as a folder": {archiveOf(t, script, member{name: script.name + "/x", text: "x"}), "not a directory"},
		"a folder in the place of the executable": {archiveOf(t, member{name: "pulumi-resource-toy/", kind: tar.TypeDir}),
			"holds no executable"},
		"a name with a backslash": {archiveOf(t, script, member{name: "a\\b", text: "x"}),
			"outside of the plugin's folder"},
		"cut": {archiveOf(t, script)[:60], "damaged"},
		"a bit flipped": {func() []byte {
			data := archiveOf(t, script)
			data[len(data)-6] ^= 1 // in the gzip checksum
			return data
		}(), "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" && name == "a file as a folder" {
				t.Skip("the error has other words there")
			}
			around := t.TempDir()
			home := filepath.Join(around, "home")
			file := filepath.Join(t.TempDir(), "toy.tar.gz")
			require.NoError(t, os.WriteFile(file, c.archive, 0o600))
			_, err := Install(t.Context(), Installation{Home: home, Name: "toy", Version: "1.2.3", File: file})
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "\n", "one error")
			require.Empty(t, Resources(home))
			require.NoDirExists(t, filepath.Join(home, "plugins", "resource-toy-v1.2.3"))
			list, err := os.ReadDir(around)
			require.NoError(t, err)
			require.Len(t, list, 1, "nothing outside")
		})
	}
}

// A receipt in an archive is ignored.
func TestReceipt(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("executables have other names there")
	}
	archive := archiveOf(t, script, member{name: receiptName, text: strings.Repeat("0", 64)})
	home, file := t.TempDir(), filepath.Join(t.TempDir(), "toy.tar.gz")
	require.NoError(t, os.WriteFile(file, archive, 0o600))
	result, err := Install(t.Context(), Installation{Home: home, Name: "toy", Version: "1.2.3", File: file})
	require.NoError(t, err)
	require.Equal(t, sumOf(archive), Receipt(result.Dir))
	require.Empty(t, Receipt(t.TempDir()))
}

// Servers that send no archive, too much, too little or nothing, or redirect to an insecure URL, cause a one-line
// error, and nothing is installed.
func TestHostileServers(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("executables have other names there")
	}
	good := archiveOf(t, script)
	asset := func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, ".tar.gz") }
	whole := func(w http.ResponseWriter) { _, _ = w.Write(good) }
	for name, c := range map[string]struct {
		serve   func(w http.ResponseWriter, r *http.Request)
		limits  Installation
		want    string // in the error; empty for success
		plain   bool   // over HTTP, which is not allowed
		overTLS bool
	}{
		"a page": {serve: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>sign in")
		}, want: `the download is not an archive but "text/html"`},
		"nothing at all": {serve: func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			limits: Installation{Silence: time.Millisecond},
			want:   "the server sent no data for 1ms"},
		"silence in the middle": {serve: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100000")
			_, _ = w.Write(good[:50])
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, limits: Installation{Silence: 20 * time.Millisecond}, want: "the server sent no data for 20ms"},
		"drops without an end": {serve: func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write([]byte{0x1f}); err != nil || http.NewResponseController(w).Flush() != nil {
					return
				}
			}
		}, limits: Installation{Patience: 50 * time.Millisecond}, want: "it takes longer than 50ms"},
		"more than a plugin": {serve: func(w http.ResponseWriter, r *http.Request) { _, _ = io.CopyN(w, zero{}, 1<<30) },
			limits: Installation{Largest: 1 << 20}, want: "the archive has more than 1048576 bytes"},
		"a length that is a lie": {serve: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(int64(1)<<50))
			whole(w)
		}, want: "bytes, too many for a plugin"},
		"a part that nobody asked for": {serve: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", "bytes 5-9/10")
			w.WriteHeader(http.StatusPartialContent)
			whole(w)
		}, want: "instead of those from 0 on"},
		"redirects in a circle": {serve: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path,
				http.StatusFound)
		}, want: "the server redirects too many times"},
		"away from encryption": {overTLS: true, serve: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+r.Host+r.URL.Path, http.StatusFound)
		}, want: "over https only"},
		"no encryption": {plain: true, serve: func(w http.ResponseWriter, _ *http.Request) { whole(w) },
			want: "over https only"},
		"encrypted": {overTLS: true, serve: func(w http.ResponseWriter, r *http.Request) { only(w, r, asset, whole) }},
		"the checksum of its publisher": {serve: func(w http.ResponseWriter, r *http.Request) {
			switch {
			case asset(r):
				whole(w)
			case strings.HasSuffix(r.URL.Path, "/pulumi-toy_1.2.3_checksums.txt"):
				fmt.Fprintf(w, "%s  other.tar.gz\n%s  pulumi-resource-toy-v1.2.3-%s.tar.gz\n", strings.Repeat("0", 64), sumOf(good),
					Platform())
			default:
				http.NotFound(w, r)
			}
		}},
		"another checksum of its publisher": {serve: func(w http.ResponseWriter, r *http.Request) {
			switch {
			case asset(r):
				whole(w)
			case strings.HasSuffix(r.URL.Path, "_checksums.txt"):
				fmt.Fprintf(w, "%s *pulumi-resource-toy-v1.2.3-%s.tar.gz\n", strings.Repeat("0", 64), Platform())
			default:
				http.NotFound(w, r)
			}
		}, want: "and 0000"},
		"another checksum, in a file of its own": {serve: func(w http.ResponseWriter, r *http.Request) {
			switch {
			case asset(r):
				whole(w)
			case strings.HasSuffix(r.URL.Path, ".tar.gz.sha256"):
				fmt.Fprintln(w, strings.Repeat("0", 64))
			default:
				http.NotFound(w, r)
			}
		}, want: "and 0000"},
		"checksums without an end": {serve: func(w http.ResponseWriter, r *http.Request) {
			if asset(r) {
				whole(w)
				return
			}
			_, _ = io.CopyN(w, zero{}, 1<<30)
		}, want: "it is too large"},
		"a fault where the checksums are": {serve: func(w http.ResponseWriter, r *http.Request) {
			if asset(r) {
				whole(w)
				return
			}
			w.WriteHeader(http.StatusInternalServerError)
		}, want: "read the publisher's checksums"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := httptest.NewServer
			if c.overTLS {
				start = httptest.NewTLSServer
			}
			server := start(http.HandlerFunc(c.serve))
			t.Cleanup(server.Close)
			i := c.limits
			i.Home, i.Name, i.Version, i.Server, i.Client, i.Pause = t.TempDir(), "toy", "1.2.3", server.URL, server.Client(),
				time.Microsecond
			i.AllowHTTP = !c.plain && !c.overTLS
			_, err := Install(t.Context(), i)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "\n", "one error")
			left, _ := filepath.Glob(filepath.Join(i.Home, "plugins", "*"))
			require.Len(t, left, 1, "the lock: %v", left)
			require.False(t, errors.Is(err, context.Canceled))
		})
	}
}

// only answers requests for the archive.
func only(w http.ResponseWriter, r *http.Request, asset func(*http.Request) bool, whole func(http.ResponseWriter)) {
	if !asset(r) {
		http.NotFound(w, r)
		return
	}
	whole(w)
}
