package queue

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Archives stores archives by digest in the backend that workers and submitters share.
// Implementations are safe for concurrent use.
type Archives interface {
	// PutArchive stores an archive. It succeeds if the archive already exists.
	PutArchive(digest string, content io.Reader) error
	// Archive returns the content of an archive, or fs.ErrNotExist if there is none. The caller verifies the digest.
	Archive(digest string) (io.Reader, error)
	// RemoveArchive removes an archive, if it exists.
	RemoveArchive(digest string) error
}

// Files is an archive submitted with jobs. Workers remove it once no job or schedule uses it.
type Files struct {
	Digest  string // SHA-256, hexadecimal
	Content io.Reader
	In      Archives
}

// MaxArchive limits, in bytes, both the size of an archive and the total size of its files.
const MaxArchive = 256 << 20

// Pack writes files of dir to w as an archive. names are relative to dir and use slashes. The same files always give
// the same bytes.
func Pack(w io.Writer, dir string, names []string) error {
	limited := &limitedWriter{dst: w, left: MaxArchive}
	packed := gzip.NewWriter(limited)
	archive := tar.NewWriter(packed)
	total := int64(0)
	for _, name := range names {
		if err := packFile(archive, dir, name, &total); err != nil {
			return fmt.Errorf("pack %s: %w", name, err)
		}
	}
	return errors.Join(archive.Close(), packed.Close())
}

func packFile(archive *tar.Writer, dir, name string, total *int64) (err error) {
	file, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if *total += info.Size(); *total > MaxArchive {
		return errTooLarge
	}
	err = archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: info.Size(),
		Mode: int64(info.Mode().Perm() & 0o755), Format: tar.FormatPAX})
	if err != nil {
		return err
	}
	_, err = io.CopyN(archive, file, info.Size())
	return err
}

var errTooLarge = fmt.Errorf("an archive has at most %d MiB; name the project by a git commit instead", MaxArchive>>20)

// limitedWriter returns errTooLarge for writes beyond the first left bytes.
type limitedWriter struct {
	dst  io.Writer
	left int64
}

func (l *limitedWriter) Write(text []byte) (int, error) {
	if l.left -= int64(len(text)); l.left < 0 {
		return 0, errTooLarge
	}
	return l.dst.Write(text)
}

// Unpack extracts an archive into the empty folder dir. It accepts only regular files and never writes outside dir.
func Unpack(r io.Reader, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	packed, err := gzip.NewReader(r)
	if err != nil {
		return fmt.Errorf("the archive is damaged: %w", err)
	}
	archive := tar.NewReader(packed)
	left := int64(MaxArchive)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the archive is damaged: %w", err)
		}
		name := filepath.FromSlash(header.Name)
		if header.Typeflag != tar.TypeReg || !filepath.IsLocal(name) {
			return fmt.Errorf("the archive has %q, which is not a file of a folder", header.Name)
		}
		if left -= header.Size; left < 0 {
			return errTooLarge
		}
		if err := unpackFile(root, name, header, archive); err != nil {
			return fmt.Errorf("unpack %s: %w", header.Name, err)
		}
	}
}

func unpackFile(root *os.Root, name string, header *tar.Header, src io.Reader) (err error) {
	if parent := filepath.Dir(name); parent != "." {
		if err := root.MkdirAll(parent, 0o755); err != nil {
			return err
		}
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, os.FileMode(header.Mode)&0o755|0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = io.CopyN(file, src, header.Size)
	return err
}
