package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// archive writes the archive of a build: .zip for Windows, .tar.gz for the others. Everything is in one folder of the
// archive's name.
func (p Plan) archive(b build) (err error) {
	name := p.named(b.Target)
	ending := ".tar.gz"
	write := p.writeTar
	if b.OS == "windows" {
		ending, write = ".zip", p.writeZip
	}
	out, err := os.Create(filepath.Join(p.Out, name+ending))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return write(out, name+"/", slices.Concat(b.binaries, b.extras))
}

func (p Plan) writeTar(out io.Writer, folder string, files []file) error {
	zipped, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(zipped)
	for _, f := range files {
		data, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		head := tar.Header{Name: folder + f.name, Mode: int64(f.mode), Size: int64(len(data)), ModTime: p.Time,
			Format: tar.FormatPAX}
		if err := w.WriteHeader(&head); err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), zipped.Close())
}

func (p Plan) writeZip(out io.Writer, folder string, files []file) error {
	w := zip.NewWriter(out)
	for _, f := range files {
		data, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		head := zip.FileHeader{Name: folder + f.name, Method: zip.Deflate, Modified: p.Time}
		head.SetMode(f.mode)
		entry, err := w.CreateHeader(&head)
		if err != nil {
			return err
		}
		if _, err := entry.Write(data); err != nil {
			return err
		}
	}
	return w.Close()
}
