package install

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"aead.dev/minisign"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/provider"
)

// signer holds a minisign key pair.
type signer struct {
	public *Key
	secret minisign.PrivateKey
}

func newSigner(t *testing.T) signer {
	t.Helper()
	public, secret, err := minisign.GenerateKey(nil)
	require.NoError(t, err)
	return signer{&Key{public}, secret}
}

// sign returns the signature of a file. Like minisign it adds the name of the file.
func (s signer) sign(text []byte, name string) string {
	reader := minisign.NewReader(bytes.NewReader(text))
	_, _ = io.Copy(io.Discard, reader) // reads from memory
	return string(reader.SignWithComments(s.secret, "timestamp:1\tfile:"+name+"\thashed", "a comment"))
}

func assetOf(version string) string {
	return "pulumi-resource-toy-v" + version + "-" + Platform() + ".tar.gz"
}

// fileServer serves files by name. The contents fault and endless stand for a server error and an endless response.
func fileServer(t *testing.T, files map[string]string) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, found := files[path.Base(r.URL.Path)]
		switch {
		case text == "fault":
			w.WriteHeader(http.StatusInternalServerError)
		case text == "endless":
			_, _ = io.CopyN(w, zero{}, 1<<30)
		case !found:
			http.NotFound(w, r)
		default:
			_, _ = io.WriteString(w, text)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// An archive is installed only if the trusted key has signed it or a list with its checksum. Otherwise Install returns
// a one-line error and installs nothing.
func TestSignatures(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("executables have other names there")
	}
	us, other := newSigner(t), newSigner(t)
	good := string(archiveOf(t, script))
	asset := assetOf("1.2.3")
	sums := fmt.Sprintf("%s  %s\n", sumOf([]byte(good)), asset)
	wrong := fmt.Sprintf("%s  %s\n", strings.Repeat("0", 64), asset)
	const published = "pulumi-toy_1.2.3_checksums.txt"
	for name, c := range map[string]struct {
		files map[string]string // files beside the archive
		want  string            // part of the error; empty for success
	}{
		"the archive is signed": {files: map[string]string{asset + ".minisig": us.sign([]byte(good), asset)}},
		"by a signature of the text and not of its digest, which names no file": {files: map[string]string{
			asset + ".minisig": string(minisign.SignWithComments(us.secret, []byte(good), "timestamp:1", "c"))}},
		"the list is signed": {files: map[string]string{published: sums,
			published + ".minisig": us.sign([]byte(sums), published)}},
		"a list as others name it": {files: map[string]string{"SHA256SUMS": sums,
			"SHA256SUMS.minisig": us.sign([]byte(sums), "SHA256SUMS")}},
		"a list that is not signed stands before one that is": {files: map[string]string{asset + ".sha256": sums,
			"checksums.txt": sums, "checksums.txt.minisig": us.sign([]byte(sums), "checksums.txt")}},
		"nothing is signed": {want: "and its publisher has no signature beside the archive"},
		"a list without a signature": {files: map[string]string{published: sums},
			want: "and its publisher has no signature beside the archive"},
		"by another key": {files: map[string]string{asset + ".minisig": other.sign([]byte(good), asset)},
			want: "is of the key"},
		"by another key that calls itself ours": {files: map[string]string{asset + ".minisig": func() string {
			lines := strings.Split(other.sign([]byte(good), asset), "\n")
			mine := strings.Split(us.sign([]byte("something else"), asset), "\n")
			lines[1] = mine[1]
			return strings.Join(lines, "\n")
		}()}, want: "is not the trusted key's signature of the download"},
		"of other bytes": {files: map[string]string{asset + ".minisig": us.sign([]byte(good+"x"), asset)},
			want: "is not the trusted key's signature of the download"},
		"of an older version": {files: map[string]string{
			asset + ".minisig": us.sign([]byte(good), assetOf("1.0.0"))}, want: "is the signature of " + assetOf("1.0.0")},
		"with a comment that was changed": {files: map[string]string{
			asset + ".minisig": strings.Replace(us.sign([]byte(good), assetOf("1.0.0")), "1.0.0", "1.2.3", 1)},
			want: "is not the trusted key's signature"},
		"no signature but a page": {files: map[string]string{asset + ".minisig": "<html>"},
			want: "is not a signature of minisign"},
		"a signature without an end": {files: map[string]string{asset + ".minisig": "endless"}, want: "it is too large"},
		"a fault where the signature is": {files: map[string]string{asset + ".minisig": "fault"},
			want: "its signature cannot be read"},
		"a list with another checksum": {files: map[string]string{published: wrong,
			published + ".minisig": us.sign([]byte(wrong), published)}, want: "and 0000"},
		"a list that was changed": {files: map[string]string{published: sums,
			published + ".minisig": us.sign([]byte(wrong), published)},
			want: "is not the trusted key's signature of " + published},
		"a checksum without a name, signed for another file": {files: map[string]string{
			asset + ".sha256":         sumOf([]byte(good)),
			asset + ".sha256.minisig": us.sign([]byte(sumOf([]byte(good))), assetOf("1.0.0")+".sha256")},
			want: "is the signature of " + assetOf("1.0.0") + ".sha256"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{asset: good}
			maps.Copy(files, c.files)
			i := Installation{Home: t.TempDir(), Name: "toy", Version: "1.2.3", Server: fileServer(t, files).URL,
				AllowHTTP: true, Pause: time.Microsecond, Key: us.public}
			_, err := Install(t.Context(), i)
			if c.want == "" {
				require.NoError(t, err)
				require.Len(t, Resources(i.Home), 1)
				return
			}
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "\n", "one error")
			require.Empty(t, Resources(i.Home))
		})
	}
}

// The signature of a local file is a file beside it.
func TestSignatureOfFile(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("executables have other names there")
	}
	us := newSigner(t)
	file := filepath.Join(t.TempDir(), "toy.tar.gz")
	archive := archiveOf(t, script)
	require.NoError(t, os.WriteFile(file, archive, 0o600))
	i := Installation{Home: t.TempDir(), Name: "toy", Version: "1.2.3", File: file, Key: us.public}
	_, err := Install(t.Context(), i)
	require.ErrorContains(t, err, "there is no "+file+".minisig")
	require.NoError(t, os.WriteFile(file+".minisig", []byte(us.sign(archive, "toy-of-mine.tar.gz")), 0o600))
	_, err = Install(t.Context(), i)
	require.NoError(t, err)
	i.File, i.Reinstall = t.TempDir(), true
	_, err = Install(t.Context(), i)
	require.ErrorContains(t, err, "a folder has no signature")
}

// A key in the lock file also applies to versions that the lock file does not list, even if Accept accepts every
// download.
func TestLockedKey(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("executables have other names there")
	}
	us := newSigner(t)
	good := string(archiveOf(t, script))
	server := fileServer(t, map[string]string{assetOf("1.0.0"): good, assetOf("2.0.0"): good,
		assetOf("2.0.0") + ".minisig": us.sign([]byte(good), assetOf("2.0.0"))})
	dir, home := t.TempDir(), t.TempDir()
	lock := &LockFile{}
	lock.Trust("toy", us.public)
	require.NoError(t, lock.Write(dir))
	f := NewFetcher(FetchOptions{Home: home, LockDir: dir, AllowHTTP: true,
		Accept: func(_ context.Context, _, _, _ string) error { return nil }})
	fetch := func(version string) error {
		return f.Fetch(t.Context(), provider.Package{Name: "toy", Version: version, DownloadURL: server.URL},
			&provider.MissingError{})
	}
	require.NoError(t, fetch("2.0.0"))
	err := fetch("1.0.0")
	var missing *provider.MissingError
	require.ErrorAs(t, err, &missing)
	require.Contains(t, missing.Advice, "and its publisher has no signature beside the archive")
	require.Len(t, Resources(home), 1)
	now, err := ReadLockFile(dir)
	require.NoError(t, err)
	require.Equal(t, us.public.String(), now.Keys["toy"], "an installation keeps the keys")
	require.Len(t, now.Plugins, 1)

	now.Keys["toy"] = "RWnonsense"
	require.NoError(t, now.Write(dir))
	require.ErrorContains(t, NewFetcher(f.options).Fetch(t.Context(), provider.Package{Name: "toy", Version: "3.0.0",
		DownloadURL: server.URL}, missing), "cannot be used")
}

// ParseKey accepts a key on one line or the text of a minisign key file.
func TestParseKey(t *testing.T) {
	t.Parallel()
	us := newSigner(t)
	text, err := us.public.public.MarshalText()
	require.NoError(t, err)
	for _, form := range []string{us.public.String(), us.public.String() + "\n", string(text), string(text) + "\r\n"} {
		k, err := ParseKey(form)
		require.NoError(t, err)
		require.Equal(t, us.public.String(), k.String())
	}
	for _, form := range []string{"", "RW", "untrusted comment: x", strings.Repeat("A", 56)} {
		_, err := ParseKey(form)
		require.ErrorContains(t, err, "not a public key of minisign", form)
	}
}
