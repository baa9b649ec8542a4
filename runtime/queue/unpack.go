//go:build !lean

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

// Unpack writes the files of an archive into a folder, which is empty. Nothing is written outside of it, and nothing
// but regular files.
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

func unpackFile(root *os.Root, name string, header *tar.Header, from io.Reader) (err error) {
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
	_, err = io.CopyN(file, from, header.Size)
	return err
}
