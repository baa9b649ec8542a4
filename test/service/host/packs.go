package host

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"net/http"
	"os"
)

// requiredPolicies returns the packs that every run needs, which are served at an address.
func (h *Host) requiredPolicies(address string) []map[string]any {
	list := []map[string]any{}
	for i, p := range h.behaviour().Policies {
		one := map[string]any{"name": p.Name, "displayName": p.Name, "version": i + 1, "versionTag": p.Version,
			"config": p.Config, "environments": p.Environments, "exceptions": p.Exceptions}
		switch {
		case p.Location != "":
			one["packLocation"] = p.Location
		case p.Dir != "" || p.Archive != nil:
			one["packLocation"] = "http://" + address + "/packs/" + p.Name + "?signature=canary-signature"
		}
		list = append(list, one)
	}
	return list
}

// servePack sends the archive of a pack to callers that have its URL. As with object stores, a token in the request is
// an error.
func (h *Host) servePack(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "" {
		answer(w, nil, fail(http.StatusBadRequest, "Only one auth mechanism allowed"))
		return
	}
	for _, p := range h.behaviour().Policies {
		if p.Name != r.PathValue("name") {
			continue
		}
		text := p.Archive
		if text == nil {
			var err error
			if text, err = archive(p.Dir); err != nil {
				answer(w, nil, err)
				return
			}
		}
		_, _ = w.Write(text) // the caller has gone
		return
	}
	answer(w, nil, fail(http.StatusNotFound, "Not Found"))
}

// archive packs a folder as npm does.
func archive(dir string) ([]byte, error) {
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	members := tar.NewWriter(zipped)
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		if err := members.WriteHeader(&tar.Header{Name: "package/" + path, Mode: 0o644, Size: int64(len(text))}); err != nil {
			return err
		}
		_, err = members.Write(text)
		return err
	})
	err = errors.Join(err, members.Close(), zipped.Close())
	return out.Bytes(), err
}
