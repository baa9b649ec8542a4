//go:build !lean

package bucket

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
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

type azureStore struct{ container *container.Client }

// openAzure opens a container of Azure Blob Storage. Versions are ETags.
func openAzure(ctx context.Context, u *url.URL, _ Lookup) (backend.Objects, error) {
	next := *u
	next.Path = ""
	b, err := blob.DefaultURLMux().OpenBucketURL(ctx, &next)
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
	switch status := s.status(err); {
	case status == http.StatusPreconditionFailed, status == http.StatusConflict,
		status == http.StatusNotFound && c.Version != "" && s.explain(err) != "ContainerNotFound":
		return "", backend.ErrChanged
	}
	if err != nil {
		return "", err
	}
	if out.ETag == nil {
		return "", errors.New("the store did not return the version that it made")
	}
	return string(*out.ETag), nil
}

func (s *azureStore) version(r *blob.Reader) (string, error) {
	var raw azureblob.DownloadStreamResponse
	if !r.As(&raw) || raw.ETag == nil {
		return "", errors.New("the store did not return the version of the object")
	}
	return string(*raw.ETag), nil
}

func (s *azureStore) status(err error) int {
	if reply, ok := errors.AsType[*azcore.ResponseError](err); ok {
		return reply.StatusCode
	}
	return 0
}

// explain returns the service's error code: the message repeats the request and its answer.
func (s *azureStore) explain(err error) string {
	if reply, ok := errors.AsType[*azcore.ResponseError](err); ok && reply.ErrorCode != "" {
		return reply.ErrorCode
	}
	return plainCause(err)
}
