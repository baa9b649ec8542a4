//go:build gs

package bucket

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"cloud.google.com/go/storage"
	"gocloud.dev/blob"
	"gocloud.dev/blob/gcsblob" // knows gs://
	"gocloud.dev/gcp"
	"google.golang.org/api/googleapi"

	"github.com/yamlhost/yamlhost/runtime/backend"
)

type gsStore struct {
	bucket    *storage.BucketHandle
	anonymous bool // no credentials were found
}

func gsOpener() opener { return openGS }

// openGS opens a bucket of Google Cloud Storage. Versions are generations. Without credentials it is opened for anonymous
// requests: emulators want no others, and the library would print a warning where results are printed.
func openGS(ctx context.Context, u *url.URL) (backend.Objects, error) {
	next := *u
	next.Path = ""
	var opener blob.BucketURLOpener = blob.DefaultURLMux()
	_, missing := gcp.DefaultCredentials(ctx)
	if missing != nil {
		opener = &gcsblob.URLOpener{Client: gcp.NewAnonymousHTTPClient(gcp.DefaultTransport())}
	}
	b, err := opener.OpenBucketURL(ctx, &next)
	if err != nil {
		return nil, err
	}
	var client *storage.Client
	if !b.As(&client) {
		return nil, errors.New("the library for Google Cloud Storage has changed")
	}
	return newStore(u, b, &gsStore{client.Bucket(u.Host), missing != nil}), nil
}

func (s *gsStore) put(ctx context.Context, key string, data []byte, c backend.Condition) (string, error) {
	o := s.bucket.Object(key)
	switch {
	case c.Absent:
		o = o.If(storage.Conditions{DoesNotExist: true})
	case c.Version != "":
		generation, err := strconv.ParseInt(c.Version, 10, 64)
		if err != nil || generation <= 0 {
			generation = 1 // that of no object
		}
		o = o.If(storage.Conditions{GenerationMatch: generation})
	}
	w := o.Retryer(storage.WithPolicy(storage.RetryIdempotent)).NewWriter(ctx)
	w.ContentType, w.ChunkSize = contentType(key), 0 // in one request
	_, err := w.Write(data)
	if closing := w.Close(); err == nil {
		err = closing
	}
	switch status := s.status(err); {
	case status == http.StatusPreconditionFailed, status == http.StatusConflict,
		status == http.StatusNotFound && c.Version != "" && !errors.Is(err, storage.ErrBucketNotExist) && !strings.Contains(s.explain(err), "bucket"):
		return "", backend.ErrChanged
	}
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(w.Attrs().Generation, 10), nil
}

func (s *gsStore) version(r *blob.Reader) (string, error) {
	var raw *storage.Reader
	if !r.As(&raw) || raw.Attrs.Generation == 0 {
		return "", errors.New("the store did not say of which version the object is")
	}
	return strconv.FormatInt(raw.Attrs.Generation, 10), nil
}

func (s *gsStore) status(err error) int {
	var api *googleapi.Error
	if errors.As(err, &api) {
		return api.Code
	}
	return 0
}

func (s *gsStore) explain(err error) string {
	var api *googleapi.Error
	text := plainCause(err)
	if errors.As(err, &api) && api.Message != "" {
		text = api.Message
	}
	if status := s.status(err); s.anonymous && (status == http.StatusUnauthorized || status == http.StatusForbidden) {
		text += "; no credentials for Google Cloud were found: name a file with them in GOOGLE_APPLICATION_CREDENTIALS, " +
			"or run gcloud auth application-default login"
	}
	return text
}
