package ui

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"net/http"
	"strings"
)

// dist is what the page is made of, packed: web/build.mjs writes it, and the digests of its sources beside it.
//
//go:embed web/dist/*.gz
var dist embed.FS

// assets serves the files of the page. They are the same for everyone: nothing of any state is in them.
func assets(mux *http.ServeMux) {
	for path, file := range map[string][2]string{
		"/{$}": {"index.html", "text/html; charset=utf-8"}, "/app.js": {"app.js", "text/javascript; charset=utf-8"},
		"/app.css": {"app.css", "text/css; charset=utf-8"},
	} {
		packed, err := dist.ReadFile("web/dist/" + file[0] + ".gz")
		if err != nil {
			panic("ui: the page is not embedded: " + err.Error())
		}
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", file[1])
			if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
				w.Header().Set("Content-Encoding", "gzip")
				_, _ = w.Write(packed) // the page has gone
				return
			}
			if plain, err := gzip.NewReader(bytes.NewReader(packed)); err == nil {
				_, _ = io.Copy(w, plain) // the page has gone
			}
		})
	}
}
