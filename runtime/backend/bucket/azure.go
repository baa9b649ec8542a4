//go:build !lean

package bucket

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	azureblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // knows azblob://

	"github.com/yamlhost/yamlhost/runtime/backend"
)

// noAzureCredentials replaces the library's error, as noCredentials does for S3.
const noAzureCredentials = "there are no credentials for it: set AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN, or log in " +
	"by `az login`"

type azureStore struct{ container *container.Client }

// openAzure opens a container of Azure Blob Storage. Versions are ETags.
func openAzure(ctx context.Context, u *url.URL, _ Lookup) (backend.Objects, error) {
	next := *u
	next.Path = ""
	b, err := blob.DefaultURLMux().OpenBucketURL(ctx, &next)
	if err != nil && strings.Contains(err.Error(), "AccountName is required") {
		return nil, errors.New("its account is not known: set AZURE_STORAGE_ACCOUNT, or add `?storage_account=` to the URL")
	}
	if err != nil {
		return nil, err
	}
	s := &azureStore{}
	if !b.As(&s.container) {
		return nil, errors.New("the library for Azure Blob Storage does not provide its client")
	}
	return newStore(u, b, s), nil
}

func (s *azureStore) put(ctx context.Context, key string, data []byte, c backend.Condition) (string, error) {
	conditions := &azureblob.ModifiedAccessConditions{}
	switch {
	case c.Absent:
		conditions.IfNoneMatch = new(azcore.ETagAny)
	case c.Version != "":
		tag := azcore.ETag(c.Version)
		if !strings.HasPrefix(c.Version, `"`) {
			tag = azcore.ETag(`"` + c.Version + `"`)
		}
		conditions.IfMatch = &tag
	}
	out, err := s.container.NewBlockBlobClient(key).Upload(ctx, streaming.NopCloser(bytes.NewReader(data)),
		&blockblob.UploadOptions{
			HTTPHeaders:      &azureblob.HTTPHeaders{BlobContentType: new(contentType(key))},
			AccessConditions: &azureblob.AccessConditions{ModifiedAccessConditions: conditions},
		})
	switch {
	case err == nil && out.ETag == nil:
		return "", errors.New("the store did not return the version that it made")
	case err == nil:
		return string(*out.ETag), nil
	}
	status, text := s.answer(err)
	if status == http.StatusPreconditionFailed || status == http.StatusConflict ||
		status == http.StatusNotFound && c.Version != "" && text != "ContainerNotFound" {
		return "", backend.ErrChanged
	}
	return "", err
}

func (s *azureStore) delete(ctx context.Context, key string) error {
	_, err := s.container.NewBlobClient(key).Delete(ctx, nil)
	return err
}

// deleteAll deletes objects in batches of 256, the most that Azure takes. A missing object is no error. Credentials or
// emulators that do not take batches give errors.ErrUnsupported.
func (s *azureStore) deleteAll(ctx context.Context, keys []string) error {
	for batch := range slices.Chunk(keys, 256) {
		deletes, err := s.container.NewBatchBuilder()
		if err != nil {
			return errors.ErrUnsupported
		}
		for _, key := range batch {
			if err := deletes.Delete(key, nil); err != nil {
				return errors.ErrUnsupported
			}
		}
		done, err := s.container.SubmitBatch(ctx, deletes, nil)
		if err != nil {
			if status, text := s.answer(err); status >= 400 && !missesBucket(text) {
				return errors.ErrUnsupported
			}
			return err
		}
		for _, one := range done.Responses {
			if one.Error == nil {
				continue
			}
			if status, text := s.answer(one.Error); status != http.StatusNotFound || missesBucket(text) {
				return errors.ErrUnsupported // a single delete tells the reason
			}
		}
	}
	return nil
}

func (s *azureStore) version(r *blob.Reader) (string, error) {
	var raw azureblob.DownloadStreamResponse
	if !r.As(&raw) || raw.ETag == nil {
		return "", errors.New("the store did not return the version of the object")
	}
	return string(*raw.ETag), nil
}

// listed adds the quotes that an ETag has everywhere but in a list.
func (s *azureStore) listed(o *blob.ListObject) string {
	var item container.BlobItem
	if !o.As(&item) || item.Properties == nil || item.Properties.ETag == nil {
		return ""
	}
	return `"` + strings.Trim(string(*item.Properties.ETag), `"`) + `"`
}

// answer returns the service's error code as the text: its message repeats the request and the answer.
func (s *azureStore) answer(err error) (status int, text string) {
	reply, ok := errors.AsType[*azcore.ResponseError](err)
	// The identity library wraps the answer of the last source of credentials that it has asked.
	if tried := "failed to acquire a token"; strings.Contains(err.Error(), tried) {
		for line := range strings.Lines(err.Error()) {
			if strings.Contains(line, "AADSTS") { // there are credentials, and the service says what is wrong with them
				return 0, strings.TrimSpace(line)
			}
		}
		return 0, noAzureCredentials
	}
	if !ok {
		return 0, plainCause(err)
	}
	return reply.StatusCode, cmp.Or(reply.ErrorCode, plainCause(err))
}
