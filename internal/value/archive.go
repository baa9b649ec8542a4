package value

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
)

// unpackMembers reads the members of an archive file whose name says what it is. Directories, links and devices in it
// are left out.
func unpackMembers(content io.Reader, name string) ([]Member, error) {
	data, err := io.ReadAll(content)
	if err != nil {
		return nil, fmt.Errorf("read archive %s: %w", name, err)
	}
	var members []Member
	switch {
	case strings.HasSuffix(name, ".zip"), strings.HasSuffix(name, ".jar"):
		members, err = unzip(data)
	case strings.HasSuffix(name, ".tgz"), strings.HasSuffix(name, ".tar.gz"):
		var unpacked *gzip.Reader
		if unpacked, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			members, err = untar(unpacked)
		}
	default:
		members, err = untar(bytes.NewReader(data))
	}
	if err != nil {
		return nil, fmt.Errorf("read archive %s: %w", name, err)
	}
	return members, nil
}

func unzip(data []byte) ([]Member, error) {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	var members []Member
	for _, f := range archive.File {
		if f.Mode().IsRegular() {
			members = append(members, Member{Name: f.Name, Size: int64(f.UncompressedSize64), Content: f.Open})
		}
	}
	return members, nil
}

func untar(r io.Reader) ([]Member, error) {
	archive := tar.NewReader(r)
	var members []Member
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
		data, err := io.ReadAll(archive)
		if err != nil {
			return nil, err
		}
		members = append(members, Member{Name: header.Name, Size: int64(len(data)), Content: func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(data)), nil
		}})
	}
}
