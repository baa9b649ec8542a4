package value

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
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

// WriteZip writes members as a zip with fixed dates, so that equal members give equal bytes (F1.27).
func WriteZip(w io.Writer, members []Member) error {
	out := zip.NewWriter(w)
	out.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.DefaultCompression)
	})
	for _, m := range members {
		err := func() error {
			content, err := m.Content()
			if err != nil {
				return err
			}
			defer content.Close()
			member, err := out.CreateHeader(&zip.FileHeader{
				Name: m.Name, Method: zip.Deflate, Modified: time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC),
			})
			if err != nil {
				return err
			}
			_, err = io.Copy(member, content)
			return err
		}()
		if err != nil {
			return fmt.Errorf("archive member %q: %w", m.Name, err)
		}
	}
	return out.Close()
}

// WriteTarGzip writes the canonical tar of members, gzipped (F1.27).
func WriteTarGzip(w io.Writer, members []Member) error {
	out := gzip.NewWriter(w)
	if err := WriteTar(out, members); err != nil {
		return err
	}
	return out.Close()
}
