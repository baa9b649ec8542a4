//go:build !lean

package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/yamlhost/yamlhost/runtime/backend"
)

// openers returns the openers of S3, Google Cloud Storage and Azure Blob Storage.
func openers() (s3, gs, azure opener) { return openS3, openGS, openAzure }

// Store is a bucket, or the part of a bucket under a key prefix. It is safe for concurrent use.
type Store struct {
	bucket *blob.Bucket
	native native
	prefix string // empty, or ends in a slash
}

var (
	_ backend.Remover = (*Store)(nil)
	_ backend.Deep    = (*Store)(nil)
)

// native has the operations for which each store needs its own client.
type native interface {
	// put writes an object. When the condition does not hold the error is backend.ErrChanged.
	put(ctx context.Context, key string, data []byte, c backend.Condition) (version string, err error)
	// delete removes an object. A missing one may be an error.
	delete(ctx context.Context, key string) error
	// version returns the version of the object that r reads.
	version(r *blob.Reader) (string, error)
	// listed returns the version of an object in a list; empty if the list does not say.
	listed(o *blob.ListObject) string
	// answer returns the HTTP status in an error of the client, 0 if there was no answer, and a message for the user.
	answer(err error) (status int, text string)
}

// newStore returns the store of an open bucket. The path of u is the prefix of all keys.
func newStore(u *url.URL, bucket *blob.Bucket, n native) *Store {
	return &Store{bucket: bucket, native: n, prefix: prefixOf(u)}
}

// prefixOf returns the prefix of all keys of a store: the path of its URL, empty or with a slash at its end.
func prefixOf(u *url.URL) string {
	prefix := strings.Trim(u.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	return prefix
}

// Close closes the connection.
func (s *Store) Close() error { return s.bucket.Close() }

// Get reads an object.
func (s *Store) Get(ctx context.Context, key string) (o backend.Object, err error) {
	r, err := s.bucket.NewReader(ctx, s.prefix+key, nil)
	if err != nil {
		return o, s.explain(err)
	}
	defer func() { _ = r.Close() }() // everything was read, or there is another error
	if o.Data, err = io.ReadAll(r); err != nil {
		return backend.Object{}, s.explain(err)
	}
	o.Modified = r.ModTime()
	o.Version, err = s.native.version(r)
	return o, err
}

// List returns the keys that begin with prefix.
func (s *Store) List(ctx context.Context, prefix string) ([]backend.Listed, error) {
	return s.list(ctx, prefix, "/")
}

// ListAll lists every object whose key begins with prefix.
func (s *Store) ListAll(ctx context.Context, prefix string) ([]backend.Listed, error) {
	return s.list(ctx, prefix, "")
}

func (s *Store) list(ctx context.Context, prefix, delimiter string) (found []backend.Listed, err error) {
	all := s.bucket.List(&blob.ListOptions{Prefix: s.prefix + prefix, Delimiter: delimiter})
	for {
		o, err := all.Next(ctx)
		if errors.Is(err, io.EOF) {
			slices.SortStableFunc(found, func(a, b backend.Listed) int { return strings.Compare(a.Key, b.Key) })
			return found, nil
		}
		if err != nil {
			return nil, s.explain(err)
		}
		found = append(found, backend.Listed{Key: strings.TrimPrefix(o.Key, s.prefix), Modified: o.ModTime,
			Version: s.native.listed(o)})
	}
}

// Put writes an object if the condition holds.
func (s *Store) Put(ctx context.Context, key string, data []byte, c backend.Condition) (version string, err error) {
	version, err = s.native.put(ctx, s.prefix+key, data, c)
	if err != nil && !errors.Is(err, backend.ErrChanged) {
		err = s.explain(err)
	}
	return version, err
}

// Delete removes an object, if there is one.
func (s *Store) Delete(ctx context.Context, key string) error {
	err := s.native.delete(ctx, s.prefix+key)
	if err == nil {
		return nil
	}
	status, text := s.native.answer(err)
	if status == http.StatusNotFound && !missesBucket(text) {
		return nil
	}
	return s.explain(err)
}

// DeleteAll removes objects in few requests; see backend.Remover.
func (s *Store) DeleteAll(ctx context.Context, keys []string) error {
	several, ok := s.native.(interface {
		deleteAll(ctx context.Context, keys []string) error
	})
	if !ok {
		return errors.ErrUnsupported
	}
	whole := make([]string, len(keys))
	for i, key := range keys {
		whole[i] = s.prefix + key
	}
	if err := several.deleteAll(ctx, whole); err != nil {
		if errors.Is(err, errors.ErrUnsupported) {
			return err
		}
		return s.explain(err)
	}
	return nil
}

// missesBucket reports whether the text of a store's answer says that there is no such bucket.
func missesBucket(text string) bool {
	return strings.Contains(text, "NoSuchBucket") || strings.Contains(text, "ContainerNotFound")
}

// explain classifies an error as transient, permanent (backend.ErrRefused) or a missing object (fs.ErrNotExist).
func (s *Store) explain(err error) error {
	status, text := s.native.answer(err)
	switch gcerrors.Code(err) {
	case gcerrors.NotFound:
		if missesBucket(text) {
			return fmt.Errorf("%w: there is no such bucket", backend.ErrRefused)
		}
		return fs.ErrNotExist
	case gcerrors.PermissionDenied, gcerrors.InvalidArgument, gcerrors.Unimplemented:
		return fmt.Errorf("%w: %s", backend.ErrRefused, text)
	}
	if (text == noCredentials || text == noAzureCredentials) && backend.NoHost(err) == nil {
		return fmt.Errorf("%w: %s", backend.ErrUnprepared, text)
	}
	return sorted(err, status, text)
}

// sorted returns a permanent or a transient error, depending on the status of the service's response. A conflict is
// transient, because the other request will finish. The cause is not wrapped: otherwise a missing credentials file
// would be taken for a missing object.
func sorted(err error, status int, text string) error {
	if fault := backend.NoHost(err); fault != nil && status == 0 {
		return fault
	}
	if status >= 400 && status < 500 && status != http.StatusRequestTimeout && status != http.StatusTooManyRequests &&
		status != http.StatusConflict {
		return fmt.Errorf("%w: %s", backend.ErrRefused, text)
	}
	return errors.New(text)
}

// plainCause returns the part of an error that a user can act on: for a failed connection, its address and the reason.
func plainCause(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Error()
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		return request.Err.Error()
	}
	return err.Error()
}

func contentType(key string) string {
	if strings.HasSuffix(path.Base(key), ".json") {
		return "application/json"
	}
	return "application/octet-stream"
}
