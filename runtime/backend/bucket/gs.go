//go:build !lean

package bucket

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"
	storage "google.golang.org/api/storage/v1"
	transport "google.golang.org/api/transport/http"

	"github.com/yamlhost/yamlhost/runtime/backend"
)

// gsStore is a bucket of Google Cloud Storage, or the part of a bucket under a key prefix. It uses the service's JSON
// API directly: the library behind gocloud.dev links a second protocol, which weighs more than all other stores
// together. It is safe for concurrent use.
type gsStore struct {
	objects   *storage.ObjectsService
	endpoint  string                // of the API, with the path of its version
	options   []option.ClientOption // of another client of the service
	bucket    string
	prefix    string // empty, or ends in a slash
	anonymous bool   // no credentials were found
}

var (
	_ backend.Remover = (*gsStore)(nil)
	_ backend.Deep    = (*gsStore)(nil)
)

// openGS opens a bucket of Google Cloud Storage. Versions are generations. Without credentials, requests are anonymous,
// which public buckets and emulators accept. STORAGE_EMULATOR_HOST names an emulator, as for Google's own libraries.
func openGS(ctx context.Context, u *url.URL, lookup Lookup) (backend.Objects, error) {
	options := []option.ClientOption{option.WithScopes(storage.DevstorageReadWriteScope)}
	var emulator string
	if lookup != nil {
		emulator, _ = lookup("STORAGE_EMULATOR_HOST")
	}
	if emulator != "" {
		if !strings.Contains(emulator, "://") {
			emulator = "http://" + emulator
		}
		options = []option.ClientOption{option.WithoutAuthentication(),
			option.WithEndpoint(strings.TrimSuffix(emulator, "/") + "/storage/v1/")}
	}
	service, err := storage.NewService(ctx, options...)
	anonymous := false
	// the library defines no error value for this case
	if err != nil && strings.Contains(err.Error(), "could not find default credentials") {
		anonymous, options = true, []option.ClientOption{option.WithoutAuthentication()}
		service, err = storage.NewService(ctx, options...)
	}
	if err != nil {
		return nil, err
	}
	return &gsStore{service.Objects, service.BasePath, options, u.Host, prefixOf(u), anonymous}, nil
}

// Get reads an object.
func (s *gsStore) Get(ctx context.Context, key string) (o backend.Object, err error) {
	r, err := s.objects.Get(s.bucket, s.prefix+key).Context(ctx).Download()
	if err != nil {
		return o, s.explain(err)
	}
	defer func() { _ = r.Body.Close() }() // everything was read, or there is another error
	if o.Data, err = io.ReadAll(r.Body); err != nil {
		return backend.Object{}, s.explain(err)
	}
	o.Version = r.Header.Get("X-Goog-Generation")
	if o.Version == "" {
		return backend.Object{}, errors.New("the store did not return the version of the object")
	}
	o.Modified, err = http.ParseTime(r.Header.Get("Last-Modified"))
	return o, err
}

// List returns the keys that begin with prefix.
func (s *gsStore) List(ctx context.Context, prefix string) ([]backend.Listed, error) {
	return s.list(ctx, s.objects.List(s.bucket).Prefix(s.prefix+prefix).Delimiter("/"))
}

// ListAll lists every object whose key begins with prefix.
func (s *gsStore) ListAll(ctx context.Context, prefix string) ([]backend.Listed, error) {
	return s.list(ctx, s.objects.List(s.bucket).Prefix(s.prefix+prefix))
}

func (s *gsStore) list(ctx context.Context, call *storage.ObjectsListCall) (found []backend.Listed, err error) {
	err = call.Fields("items(name,updated,generation),prefixes,nextPageToken").Pages(ctx, func(page *storage.Objects) error {
		for _, o := range page.Items {
			l := backend.Listed{Key: strings.TrimPrefix(o.Name, s.prefix)}
			if o.Generation != 0 {
				l.Version = strconv.FormatInt(o.Generation, 10)
			}
			if err := l.Modified.UnmarshalText([]byte(o.Updated)); err != nil {
				return fmt.Errorf("the store gives %q as the time of %s: %w", o.Updated, o.Name, err)
			}
			found = append(found, l)
		}
		for _, p := range page.Prefixes {
			found = append(found, backend.Listed{Key: strings.TrimPrefix(p, s.prefix)})
		}
		return nil
	})
	if err != nil {
		return nil, s.explain(err)
	}
	slices.SortStableFunc(found, func(a, b backend.Listed) int { return strings.Compare(a.Key, b.Key) })
	return found, nil
}

// Put writes an object if the condition holds.
func (s *gsStore) Put(ctx context.Context, key string, data []byte, c backend.Condition) (version string, err error) {
	call := s.objects.Insert(s.bucket, &storage.Object{Name: s.prefix + key, ContentType: contentType(key)}).Context(
		ctx).
		Media(bytes.NewReader(data), googleapi.ContentType(contentType(key)), googleapi.ChunkSize(0)) // in one request
	switch {
	case c.Absent:
		call.IfGenerationMatch(0)
	case c.Version != "":
		generation, err := strconv.ParseInt(c.Version, 10, 64)
		if err != nil || generation <= 0 {
			generation = 1 // a generation that no object has
		}
		call.IfGenerationMatch(generation)
	}
	o, err := call.Do()
	if err == nil {
		return strconv.FormatInt(o.Generation, 10), nil
	}
	code, text := gsAnswer(err)
	if code == http.StatusPreconditionFailed || code == http.StatusConflict ||
		code == http.StatusNotFound && c.Version != "" && !strings.Contains(text, "bucket") {
		return "", backend.ErrChanged
	}
	return "", s.explain(err)
}

// Delete removes an object, if there is one.
func (s *gsStore) Delete(ctx context.Context, key string) error {
	if err := s.objects.Delete(s.bucket, s.prefix+key).Context(ctx).Do(); err != nil {
		if err = s.explain(err); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// DeleteAll removes objects in batches of 100, the most that the service takes. They have a client of their own: the
// library makes no batches, and keeps its client to itself.
func (s *gsStore) DeleteAll(ctx context.Context, keys []string) error {
	client, _, err := transport.NewClient(ctx, s.options...)
	if err != nil {
		return errors.ErrUnsupported
	}
	for batch := range slices.Chunk(keys, 100) {
		if err := s.deleteBatch(ctx, client, batch); err != nil {
			return err
		}
	}
	return nil
}

// deleteBatch removes objects in one request. After any refusal it returns errors.ErrUnsupported: a single delete tells
// the reason.
func (s *gsStore) deleteBatch(ctx context.Context, client *http.Client, keys []string) error {
	to, err := url.Parse(s.endpoint)
	if err != nil {
		return errors.ErrUnsupported
	}
	var body bytes.Buffer
	deletes := multipart.NewWriter(&body) // whose errors are those of the buffer, which has none
	for _, key := range keys {
		part, _ := deletes.CreatePart(textproto.MIMEHeader{"Content-Type": {"application/http"}})
		fmt.Fprintf(part, "DELETE %sb/%s/o/%s HTTP/1.1\r\n\r\n", to.Path, s.bucket, url.PathEscape(s.prefix+key))
	}
	_ = deletes.Close()
	to.Path = "/batch" + strings.TrimSuffix(to.Path, "/")
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), &body)
	if err != nil {
		return errors.ErrUnsupported
	}
	request.Header.Set("Content-Type", "multipart/mixed; boundary="+deletes.Boundary())
	answer, err := client.Do(request)
	if err != nil {
		return s.explain(err)
	}
	defer func() { _ = answer.Body.Close() }() // everything was read, or there is another error
	_, params, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if answer.StatusCode != http.StatusOK || params["boundary"] == "" {
		return errors.ErrUnsupported
	}
	done := multipart.NewReader(answer.Body, params["boundary"])
	for range keys {
		part, err := done.NextPart()
		if err != nil {
			return errors.ErrUnsupported
		}
		one, err := http.ReadResponse(bufio.NewReader(part), nil)
		if err == nil {
			err = googleapi.CheckResponse(one)
		}
		if err != nil && !errors.Is(s.explain(err), fs.ErrNotExist) {
			return errors.ErrUnsupported
		}
	}
	return nil
}

// gsAnswer returns the HTTP status of the service's response, 0 if there was none, and its message.
func gsAnswer(err error) (code int, text string) {
	if api, ok := errors.AsType[*googleapi.Error](err); ok {
		code, text = api.Code, api.Message
	}
	if text == "" {
		text = plainCause(err)
	}
	return code, text
}

// explain classifies an error as transient, permanent (backend.ErrRefused) or a missing object (fs.ErrNotExist).
func (s *gsStore) explain(err error) error {
	code, text := gsAnswer(err)
	if s.anonymous && (code == http.StatusUnauthorized || code == http.StatusForbidden) {
		text += "; no credentials for Google Cloud were found: name a file with them in GOOGLE_APPLICATION_CREDENTIALS, " +
			"or run gcloud auth application-default login"
	}
	if code == http.StatusNotFound {
		if !strings.Contains(text, "bucket") {
			return fs.ErrNotExist
		}
		return fmt.Errorf("%w: there is no such bucket", backend.ErrRefused)
	}
	return sorted(err, code, text)
}
