// Package web has the built pages of the console and of reports, which build.mjs makes from src.
package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
)

// dist has the packed files, which build.mjs writes with the digests of their sources.
//
//go:embed dist/*.gz
var dist embed.FS

// Packed returns a built file, such as app.js, compressed with gzip. It panics if there is none.
func Packed(name string) []byte {
	packed, err := dist.ReadFile("dist/" + name + ".gz")
	if err != nil {
		panic("web: the page is not embedded: " + err.Error())
	}
	return packed
}

// File returns a built file. It panics if there is none.
func File(name string) []byte {
	r, err := gzip.NewReader(bytes.NewReader(Packed(name)))
	if err != nil {
		panic("web: " + name + ": " + err.Error())
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		panic("web: " + name + ": " + err.Error())
	}
	return plain
}
