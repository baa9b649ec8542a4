package value

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// EmptyArchiveHash is the hash of an archive without members (F1.8).
const EmptyArchiveHash = "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"

// Opener opens the content of assets and archives. Implementations are safe for concurrent use.
type Opener interface {
	// Open opens a file or directory; relative paths are resolved against the program directory. ReadDir works on a
	// directory.
	Open(path string) (fs.File, error)
	// OpenURI opens a remote object: http, https or file (F1.21).
	OpenURI(uri string) (io.ReadCloser, error)
}

// ErrElided is returned if only the hash of an asset or archive is left (F1.8).
var ErrElided = errors.New("the content is not known, only its hash is")

// Member is one file of an archive. Its name has "/" separators.
type Member struct {
	Name string
	// Content opens the member; the caller closes it.
	Content func() (io.ReadCloser, error)
	// Size is the length in bytes, or -1 if unknown without reading.
	Size int64
}

// OpenAsset opens an asset's content (F1.21); the caller closes it.
func OpenAsset(a *Asset, o Opener) (io.ReadCloser, error) {
	switch {
	case a.Path != "":
		file, info, err := openFile("asset", a.Path, o)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			file.Close()
			return nil, fmt.Errorf("open asset %s: it is a directory; use a file archive (fn::fileArchive) for it", a.Path)
		}
		return file, nil
	case a.URI != "":
		content, err := o.OpenURI(a.URI)
		if err != nil {
			return nil, fmt.Errorf("open asset %s: %w", a.URI, err)
		}
		return content, nil
	case a.HasText || a.Text != "" || a.Hash == EmptyAssetHash || a.Hash == "":
		return io.NopCloser(strings.NewReader(a.Text)), nil
	}
	return nil, fmt.Errorf("open asset with hash %s: %w", a.Hash, ErrElided)
}

// EmptyAssetHash is the hash of empty content; an asset with it needs no content (F1.8).
const EmptyAssetHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// openFile opens and stats the file or directory of an asset or archive; kind is the word for it in errors.
func openFile(kind, path string, o Opener) (fs.File, fs.FileInfo, error) {
	file, err := o.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("open %s %s: %w", kind, path, err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, nil, fmt.Errorf("open %s %s: %w", kind, path, err)
	}
	return file, info, nil
}

// archiveExtensions are the extensions of archive files; the content is not examined (F1.22).
var archiveExtensions = [...]string{".tar", ".tgz", ".tar.gz", ".zip", ".jar"}

// IsArchiveName reports whether the extension of a file name is that of an archive (F1.22).
func IsArchiveName(name string) bool {
	return slices.ContainsFunc(archiveExtensions[:], func(ext string) bool { return strings.HasSuffix(name, ext) })
}

// OpenArchiveFile opens the raw bytes of an archive file or URI. isFile is false if the source is a directory or a map
// of assets, which have members instead.
func OpenArchiveFile(a *Archive, o Opener) (content io.ReadCloser, isFile bool, err error) {
	switch {
	case a.Path != "":
		file, info, err := openFile("archive", a.Path, o)
		switch {
		case err != nil:
			return nil, false, err
		case info.IsDir():
			return nil, false, file.Close()
		case !IsArchiveName(a.Path):
			file.Close()
			return nil, false, fmt.Errorf(
				"open archive %s: it is neither a directory nor a .tar, .tgz, .tar.gz, .zip or .jar file", a.Path)
		}
		return file, true, nil
	case a.URI != "":
		name, _, _ := strings.Cut(a.URI, "?")
		name, _, _ = strings.Cut(name, "#")
		if !IsArchiveName(name) {
			return nil, false, fmt.Errorf("open archive %s: its name does not end in .tar, .tgz, .tar.gz, .zip or .jar", a.URI)
		}
		content, err := o.OpenURI(a.URI)
		if err != nil {
			return nil, false, fmt.Errorf("open archive %s: %w", a.URI, err)
		}
		return content, true, nil
	case a.Assets.Is(KindMap) || a.Hash == EmptyArchiveHash || a.Hash == "":
		return nil, false, nil
	}
	return nil, false, fmt.Errorf("open archive with hash %s: %w", a.Hash, ErrElided)
}

// ArchiveMembers returns the members of a directory or a map of assets (F1.24, F1.25), in the order of the canonical
// tar. For an archive file, which may be tar, gzipped tar, zip or jar, it returns the entries in the order of the file.
func ArchiveMembers(a *Archive, o Opener) ([]Member, error) {
	content, isFile, err := OpenArchiveFile(a, o)
	if err != nil {
		return nil, err
	}
	if isFile {
		defer content.Close()
		return unpackMembers(content, cmp.Or(a.Path, a.URI))
	}
	if a.Path != "" {
		var members []Member
		err := walkDirectory(o, a.Path, "", &members)
		return members, err
	}
	return assetMapMembers(a.Assets, o)
}

// unpackMembers returns the members of an archive file, whose format follows from its name. It omits directories, links
// and devices.
func unpackMembers(content io.Reader, name string) ([]Member, error) {
	data, err := io.ReadAll(content)
	if err != nil {
		return nil, fmt.Errorf("read archive %s: %w", name, err)
	}
	var members []Member
	limit := max(alwaysUnpacked, mostUnpacked*int64(len(data)))
	switch {
	case strings.HasSuffix(name, ".zip"), strings.HasSuffix(name, ".jar"):
		members, err = unzip(data, limit)
	case strings.HasSuffix(name, ".tgz"), strings.HasSuffix(name, ".tar.gz"):
		var unpacked *gzip.Reader
		if unpacked, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			members, err = untar(&bounded{unpacked, limit, &unpackedError{limit}}, limit)
		}
	default:
		members, err = untar(bytes.NewReader(data), limit)
	}
	if err != nil {
		return nil, fmt.Errorf("read archive %s: %w", name, err)
	}
	return members, nil
}

// The limits of what an archive file may unpack to, in bytes: any may unpack to alwaysUnpacked, and larger ones to
// their size times mostUnpacked.
const (
	alwaysUnpacked = int64(64 << 20)
	mostUnpacked   = 100
)

// unpackedError is returned for an archive that unpacks to more than its limit.
type unpackedError struct{ limit int64 }

func (e *unpackedError) Error() string {
	return fmt.Sprintf("it unpacks to more than %d MiB, which is more than %d times its size", e.limit>>20,
		mostUnpacked)
}

// bounded reads at most left bytes. If there are more, it returns the error beyond.
type bounded struct {
	io.Reader
	left   int64
	beyond error
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p[:min(int64(len(p)), b.left+1)])
	if b.left -= int64(n); b.left < 0 {
		return 0, b.beyond
	}
	return n, err
}

func unzip(data []byte, limit int64) ([]Member, error) {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	var members []Member
	left := uint64(limit)
	for _, f := range archive.File {
		if !f.Mode().IsRegular() {
			continue
		}
		size := f.UncompressedSize64
		if size > left {
			return nil, &unpackedError{limit}
		}
		left -= size
		members = append(members, Member{Name: f.Name, Size: int64(size), Content: func() (io.ReadCloser, error) {
			content, err := f.Open()
			if err != nil {
				return nil, err
			}
			longer := fmt.Errorf("%s is longer than the directory of the archive has it", f.Name)
			return struct {
				io.Reader
				io.Closer
			}{&bounded{content, int64(size), longer}, content}, nil
		}})
	}
	return members, nil
}

// untar returns the members of a tar. The limit holds for their content: a sparse file has more of it than is read.
func untar(r io.Reader, limit int64) ([]Member, error) {
	archive := tar.NewReader(r)
	var members []Member
	left := limit
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return members, nil
		}
		if err != nil {
			return nil, err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if header.Size > left {
			return nil, &unpackedError{limit}
		}
		left -= header.Size
		data, err := io.ReadAll(archive)
		if err != nil {
			return nil, err
		}
		members = append(members, Member{Name: header.Name, Size: int64(len(data)),
			Content: func() (io.ReadCloser, error) {
				return io.NopCloser(bytes.NewReader(data)), nil
			}})
	}
}

// walkDirectory appends the files below a directory in lexical order, depth first (F1.24). It skips everything named
// .pulumi, follows links to files, and skips links to directories.
func walkDirectory(o Opener, dir, prefix string, members *[]Member) error {
	file, err := o.Open(dir)
	if err != nil {
		return fmt.Errorf("open archive %s: %w", dir, err)
	}
	lister, ok := file.(fs.ReadDirFile)
	if !ok {
		file.Close()
		return fmt.Errorf("open archive %s: it cannot be listed", dir)
	}
	entries, err := lister.ReadDir(-1)
	if err = cmp.Or(err, file.Close()); err != nil {
		return fmt.Errorf("list archive %s: %w", dir, err)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, entry := range entries {
		if entry.Name() == ".pulumi" {
			continue
		}
		path, name := strings.TrimSuffix(dir, "/")+"/"+entry.Name(), prefix+entry.Name()
		if entry.IsDir() {
			if err := walkDirectory(o, path, name+"/", members); err != nil {
				return err
			}
			continue
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			target, err := o.Open(path)
			if err != nil {
				return fmt.Errorf("follow link %s: %w", path, err)
			}
			info, err := target.Stat()
			target.Close()
			if err != nil {
				return fmt.Errorf("follow link %s: %w", path, err)
			}
			if info.IsDir() {
				continue
			}
		}
		*members = append(*members, assetMember(name, &Asset{Path: path}, o))
	}
	return nil
}

func assetMember(name string, a *Asset, o Opener) Member {
	return Member{Name: name, Size: -1, Content: func() (io.ReadCloser, error) { return OpenAsset(a, o) }}
}

// assetMapMembers returns the members of a map of assets and archives: in bytewise order of keys, with nested archives
// at the place of their key. Of duplicate names it keeps the first (F1.25).
func assetMapMembers(assets Value, o Opener) ([]Member, error) {
	var members []Member
	seen := map[string]bool{}
	add := func(m Member) {
		if !seen[m.Name] {
			seen[m.Name] = true
			members = append(members, m)
		}
	}
	for _, key := range assets.Keys() {
		part, _ := assets.Lookup(key)
		if asset, ok := part.AsAsset(); ok {
			add(assetMember(key, asset, o))
			continue
		}
		nested, ok := part.AsArchive()
		if !ok {
			kind := part.Kind().String()
			if !part.IsKnown() {
				kind = "value that is not known yet"
			}
			return nil, fmt.Errorf("archive member %q is a %s, not an asset or an archive", key, kind)
		}
		inner, err := ArchiveMembers(nested, o)
		if err != nil {
			return nil, fmt.Errorf("archive member %q: %w", key, err)
		}
		for _, m := range inner {
			m.Name = key + "/" + m.Name
			add(m)
		}
	}
	return members, nil
}

// AssetDigest returns the SHA-256 of an asset's content in lower-case hex (F1.21). It ignores the recorded hash.
func AssetDigest(a *Asset, o Opener) (string, error) {
	content, err := OpenAsset(a, o)
	if err != nil {
		return "", err
	}
	defer content.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, content); err != nil {
		return "", fmt.Errorf("read asset %s: %w", cmp.Or(a.Path, a.URI, "text"), err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// ArchiveDigest returns the hash of an archive according to F1.22. It ignores the recorded hash.
func ArchiveDigest(a *Archive, o Opener) (string, error) {
	content, isFile, err := OpenArchiveFile(a, o)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	if isFile {
		defer content.Close()
		if _, err := io.Copy(hash, content); err != nil {
			return "", fmt.Errorf("read archive %s: %w", cmp.Or(a.Path, a.URI), err)
		}
		return hex.EncodeToString(hash.Sum(nil)), nil
	}
	members, err := ArchiveMembers(a, o)
	if err != nil {
		return "", err
	}
	if err := WriteTar(hash, members); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// WriteTar writes the canonical tar of members (F1.23). Archives are hashed by these bytes, so they must never change:
// the reference is the writer of the standard library with exactly these header fields.
func WriteTar(w io.Writer, members []Member) error {
	tw := tar.NewWriter(w)
	for _, m := range members {
		if err := writeTarMember(tw, m); err != nil {
			return fmt.Errorf("archive member %q: %w", m.Name, err)
		}
	}
	return tw.Close()
}

func writeTarMember(tw *tar.Writer, m Member) error {
	content, err := m.Content()
	if err != nil {
		return err
	}
	defer content.Close()
	size := m.Size
	if sized, ok := content.(interface{ Stat() (fs.FileInfo, error) }); ok && size < 0 {
		if info, err := sized.Stat(); err == nil {
			size = info.Size()
		}
	}
	var body io.Reader = content
	if size < 0 { // the header needs the length
		data, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		size, body = int64(len(data)), bytes.NewReader(data)
	}
	if err := tw.WriteHeader(&tar.Header{Name: m.Name, Mode: 0o600, Size: size}); err != nil {
		return err
	}
	_, err = io.Copy(tw, body)
	return err
}

// WithDigests returns v with the missing hashes of all assets and archives in it, including members of archives; v
// itself if no hash is missing. Unknown values stay unchanged.
func WithDigests(v Value, o Opener) (Value, error) {
	if !v.Any(lacksDigest) {
		return v, nil
	}
	var failed error
	filled := v.Transform(func(x Value) Value {
		if failed != nil || !lacksDigest(x) {
			return x
		}
		if asset, ok := x.AsAsset(); ok {
			next := *asset
			next.Hash, failed = AssetDigest(asset, o)
			x.payload = &next
			return x
		}
		archive, _ := x.AsArchive()
		next := *archive
		next.Hash, failed = ArchiveDigest(archive, o)
		x.payload = &next
		return x
	})
	if failed != nil {
		return v, failed
	}
	return filled, nil
}

func lacksDigest(v Value) bool {
	if asset, ok := v.AsAsset(); ok {
		return asset.Hash == ""
	}
	archive, ok := v.AsArchive()
	return ok && archive.Hash == ""
}
