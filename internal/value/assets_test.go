package value

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

type assetVectors struct {
	Fixture map[string]struct {
		Text      string `json:"text"`
		Base64    string `json:"base64"`
		Symlink   string `json:"symlink"`
		Directory bool   `json:"directory"`
	} `json:"fixture"`
	Hashes []struct {
		Value       json.RawMessage `json:"value"`
		SHA256      string          `json:"sha256"`
		Members     []string        `json:"members"`
		TarGzBase64 string          `json:"tarGzBase64"`
	} `json:"hashes"`
}

// loadAssetVectors reads the vectors and builds their file tree in a temporary directory.
func loadAssetVectors(t *testing.T) (assetVectors, string) {
	t.Helper()
	data := testfile.Bytes(t, "testdata/asset-hashes.json")
	var vectors assetVectors
	require.NoError(t, json.Unmarshal(data, &vectors))
	dir := t.TempDir()
	for name, entry := range vectors.Fixture {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		switch {
		case entry.Directory:
			require.NoError(t, os.MkdirAll(path, 0o755))
		case entry.Symlink != "":
			require.NoError(t, os.Symlink(entry.Symlink, path))
		case entry.Base64 != "":
			raw, err := base64.StdEncoding.DecodeString(entry.Base64)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, raw, 0o644))
		default:
			require.NoError(t, os.WriteFile(path, []byte(entry.Text), 0o644))
		}
	}
	return vectors, dir
}

// vectorValue returns the asset or archive of a vector.
func vectorValue(t *testing.T, raw json.RawMessage, dir string) Value {
	t.Helper()
	var form map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(raw, &form))
	for kind, inner := range form {
		var text string
		_ = json.Unmarshal(inner, &text)
		text = strings.Replace(text, "<abs>", filepath.ToSlash(dir), 1)
		switch kind {
		case "stringAsset":
			return NewAsset(&Asset{Text: text, HasText: true})
		case "fileAsset":
			return NewAsset(&Asset{Path: text})
		case "remoteAsset":
			return NewAsset(&Asset{URI: text})
		case "fileArchive":
			return NewArchive(&Archive{Path: text})
		case "assetArchive":
			var parts map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(inner, &parts))
			assets := map[string]Value{}
			for key, part := range parts {
				assets[key] = vectorValue(t, part, dir)
			}
			return NewArchive(&Archive{Assets: Map(assets)})
		}
	}
	t.Fatalf("unknown vector %s", raw)
	return Null
}

func TestDigestVectors(t *testing.T) { // F1.21–F1.25
	t.Parallel()
	vectors, dir := loadAssetVectors(t)
	opener := DirOpener{Dir: dir}
	for _, vector := range vectors.Hashes {
		t.Run(string(vector.Value), func(t *testing.T) {
			v := vectorValue(t, vector.Value, dir)
			filled, err := WithDigests(MapOf(Entry{"x", v}), opener)
			require.NoError(t, err)
			x, _ := filled.Lookup("x")
			if asset, ok := x.AsAsset(); ok {
				require.Equal(t, vector.SHA256, asset.Hash)
				return
			}
			archive, ok := x.AsArchive()
			require.True(t, ok)
			require.Equal(t, vector.SHA256, archive.Hash)
			require.False(t, archive.Assets.Any(lacksDigest), "parts have hashes too")
			if vector.Members == nil {
				return
			}
			members, err := ArchiveMembers(archive, opener)
			require.NoError(t, err)
			var names []string
			for _, m := range members {
				names = append(names, m.Name)
			}
			require.Equal(t, vector.Members, names)
			if vector.TarGzBase64 == "" {
				return
			}
			packed, err := base64.StdEncoding.DecodeString(vector.TarGzBase64)
			require.NoError(t, err)
			unpacked, err := gzip.NewReader(bytes.NewReader(packed))
			require.NoError(t, err)
			want, err := io.ReadAll(unpacked)
			require.NoError(t, err)
			var got bytes.Buffer
			require.NoError(t, WriteTar(&got, members))
			require.Equal(t, want, got.Bytes())
		})
	}
}

func TestDigestFaults(t *testing.T) {
	t.Parallel()
	_, dir := loadAssetVectors(t)
	opener := DirOpener{Dir: dir}
	for _, c := range []struct {
		name string
		v    Value
		want string
	}{
		{"missing file", NewAsset(&Asset{Path: "nope"}), "nope"},
		{"directory as asset F1.21", NewAsset(&Asset{Path: "dir"}), "file archive"},
		{"plain file as archive F1.22", NewArchive(&Archive{Path: "hello.txt"}), "neither a directory nor"},
		{"archive of no assets", NewArchive(&Archive{Assets: MapOf(Entry{"x", String("text")})}), `"x" is a string`},
		{"remote without fetcher", NewAsset(&Asset{URI: "https://example.org/x"}), "not available"},
		{"file URI with host", NewAsset(&Asset{URI: "file://elsewhere/x"}), "elsewhere"},
		{"file URI with query", NewAsset(&Asset{URI: "file:///x?y"}), "query"},
		{"unknown scheme", NewAsset(&Asset{URI: "ftp://x/y"}), `"ftp"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := WithDigests(c.v, opener)
			require.ErrorContains(t, err, c.want)
			require.True(t, Equal(c.v, got))
		})
	}
	_, err := assetBytes(&Asset{Hash: "ab"}, opener)
	require.ErrorIs(t, err, ErrElided) // F1.8
	empty, err := assetBytes(&Asset{Hash: EmptyAssetHash}, opener)
	require.NoError(t, err)
	require.Empty(t, empty)
}

func TestDigestKeepsMarksAndHashes(t *testing.T) {
	t.Parallel()
	v := List(NewAsset(&Asset{Text: "x", HasText: true}).Secret(), NewAsset(&Asset{Path: "gone", Hash: "kept"}),
		Unknown(KindAsset))
	got, err := WithDigests(v, DirOpener{Dir: t.TempDir()})
	require.NoError(t, err)
	items, _ := got.AsList()
	require.True(t, items[0].IsSecret())
	kept, _ := items[1].AsAsset()
	require.Equal(t, "kept", kept.Hash)
	require.False(t, items[2].IsKnown())
}

func TestArchiveMembersOfFiles(t *testing.T) {
	t.Parallel()
	_, dir := loadAssetVectors(t)
	opener := DirOpener{Dir: dir}
	members, err := ArchiveMembers(&Archive{Path: "z.zip"}, opener)
	require.NoError(t, err)
	require.Len(t, members, 1)
	require.Equal(t, "a.txt", members[0].Name)
	_, err = ArchiveMembers(&Archive{Path: "t.tar.gz"}, opener)
	require.NoError(t, err)
}

// assetBytes returns an asset's content.
func assetBytes(a *Asset, o Opener) ([]byte, error) {
	content, err := OpenAsset(a, o)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	data, err := io.ReadAll(content)
	if err != nil {
		return nil, fmt.Errorf("read asset: %w", err)
	}
	return data, nil
}

// An archive file that unpacks to much more than its size is refused, in every format and with any sizes in its directory.
func TestArchivesThatUnpackToTooMuch(t *testing.T) {
	t.Parallel()
	pack := func(format string, sizes ...int64) []byte {
		var out bytes.Buffer
		zeros := func(w io.Writer, n int64) {
			_, err := io.CopyN(w, zeroes{}, n)
			require.NoError(t, err)
		}
		if format == ".zip" {
			w := zip.NewWriter(&out)
			for i, n := range sizes {
				member, err := w.Create(fmt.Sprint("f", i))
				require.NoError(t, err)
				zeros(member, n)
			}
			require.NoError(t, w.Close())
			return out.Bytes()
		}
		packed := gzip.NewWriter(&out)
		w := tar.NewWriter(packed)
		for i, n := range sizes {
			require.NoError(t, w.WriteHeader(&tar.Header{Name: fmt.Sprint("f", i), Size: n, Mode: 0o600}))
			zeros(w, n)
		}
		require.NoError(t, w.Close())
		require.NoError(t, packed.Close())
		return out.Bytes()
	}
	for _, format := range []string{".zip", ".tgz"} {
		for _, c := range []struct {
			sizes   []int64
			refused bool
		}{{[]int64{60 << 20}, false}, {[]int64{40 << 20, 30 << 20}, true}, {[]int64{70 << 20}, true}} {
			members, err := unpackMembers(bytes.NewReader(pack(format, c.sizes...)), "a"+format)
			if c.refused {
				require.ErrorContains(t, err, "it unpacks to more than 64 MiB, which is more than 100 times its size")
				continue
			}
			require.NoError(t, err)
			require.Len(t, members, len(c.sizes))
			content, err := members[0].Content()
			require.NoError(t, err)
			n, err := io.Copy(io.Discard, content)
			require.NoError(t, err)
			require.Equal(t, c.sizes[0], n)
		}
	}
	// A tar of GNU's tar with a sparse file: 300 MiB of nothing.
	sparse, err := base64.StdEncoding.DecodeString("H4sIAAAAAAACA+3US2rDMBSFYY21Cq9AvpKdx8TTtqNSKF2AIII4OHGRUghdfVUX" +
		"GuNBMgkhIf83kTkSGHN9ZMo3f3gJfhViKtd9F9TlSTav62HNpqvYevb/POQ2E1Uc1BV8pb2P+fXqMTlXPL9+mPTpYwpm6zd9bKyepO0up6JdPU53" +
		"fhua3z9GV9U4j8F3qf0OTZXnunBLEa1wq0yZR/c+TO6p7YKxMnfuwhfBmf7b8V3w1/+ZLCpVyDX7H/t+f+rcuf3px90Jq481pagAAAAAAAAAAAAA" +
		"AAD35wePhZ3QACgAAA==")
	require.NoError(t, err)
	plain, err := gzip.NewReader(bytes.NewReader(sparse))
	require.NoError(t, err)
	unpacked, err := io.ReadAll(plain)
	require.NoError(t, err)
	for name, text := range map[string][]byte{"a.tgz": sparse, "a.tar": unpacked} {
		_, err := unpackMembers(bytes.NewReader(text), name)
		require.ErrorContains(t, err, "it unpacks to more than 64 MiB, which is more than 100 times its size")
	}
	lying := bytes.ReplaceAll(pack(".zip", 0x00123456), []byte{0x56, 0x34, 0x12, 0}, []byte{5, 0, 0, 0})
	members, err := unpackMembers(bytes.NewReader(lying), "a.zip")
	require.NoError(t, err)
	content, err := members[0].Content()
	require.NoError(t, err)
	n, err := io.Copy(io.Discard, content)
	require.Error(t, err)
	require.LessOrEqual(t, n, int64(5))
}

// zeroes reads as zeros without an end.
type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) { clear(p); return len(p), nil }
