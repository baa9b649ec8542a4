// Package page has the built pages of the console and of reports, which build.mjs makes from src.
package page

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
func Packed(name string) []byte { return must(dist.ReadFile("dist/" + name + ".gz")) }

// File returns a built file. It panics if there is none.
func File(name string) []byte {
	return must(io.ReadAll(must(gzip.NewReader(bytes.NewReader(Packed(name))))))
}

// must returns a part of a built file. A fault means that the program was built from damaged files, which a test of
// this package finds.
func must[T any](part T, err error) T {
	if err != nil {
		panic("page: a built page is damaged or not embedded: " + err.Error())
	}
	return part
}
