//go:build !lean

package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"

	"github.com/yamlhost/yamlhost/runtime/backend"
)

// noCredentials replaces the library's error, which lists every source of credentials that was tried.
const noCredentials = "there are no credentials for it: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"

type s3Store struct {
	client *s3.Client
	bucket string
	sse    types.ServerSideEncryption
	kmsKey string
}

// openS3 opens a bucket of S3. Obsolete URL parameters are translated as the stock host does (F6.1).
func openS3(ctx context.Context, u *url.URL, _ Lookup) (backend.Objects, error) {
	q := u.Query()
	if q.Has("disableSSL") {
		q.Set("disable_https", q.Get("disableSSL"))
		q.Del("disableSSL")
	}
	if endpoint := q.Get("endpoint"); endpoint != "" {
		if !strings.Contains(endpoint, "://") {
			scheme := "https://"
			if q.Get("disable_https") == "true" {
				scheme = "http://"
			}
			q.Set("endpoint", scheme+endpoint)
		}
		if !q.Has("request_checksum_calculation") {
			q.Set("request_checksum_calculation", "when_required")
		}
	}
	// by default the library logs a warning whenever it reads an object that was stored without a checksum
	if !q.Has("response_checksum_validation") {
		q.Set("response_checksum_validation", "when_required")
	}
	s := &s3Store{bucket: u.Host, sse: types.ServerSideEncryption(q.Get("ssetype")), kmsKey: q.Get("kmskeyid")}
	next := *u
	next.Path, next.RawQuery = "", q.Encode()
	b, err := new(s3blob.URLOpener).OpenBucketURL(ctx, &next)
	if err != nil {
		return nil, err
	}
	if !b.As(&s.client) {
		return nil, errors.New("the library for S3 does not provide its client")
	}
	if s.client.Options().Region == "" && q.Get("endpoint") == "" {
		_ = b.Close() // nothing was sent
		return nil, errors.New("its region is not known: set AWS_REGION, or add `?region=` to the URL")
	}
	return newStore(u, b, s), nil
}

func (s *s3Store) put(ctx context.Context, key string, data []byte, c backend.Condition) (string, error) {
	input := &s3.PutObjectInput{Bucket: &s.bucket, Key: &key, Body: bytes.NewReader(data),
		ContentLength: aws.Int64(int64(len(data))),
		ContentType:   aws.String(contentType(key)), ServerSideEncryption: s.sse}
	if s.kmsKey != "" {
		input.SSEKMSKeyId = &s.kmsKey
	}
	switch {
	case c.Absent:
		input.IfNoneMatch = aws.String("*")
	case c.Version != "":
		input.IfMatch = &c.Version
	}
	out, err := s.client.PutObject(ctx, input)
	if err == nil {
		return aws.ToString(out.ETag), nil
	}
	status, text := s.answer(err)
	if status == http.StatusPreconditionFailed || status == http.StatusConflict && !s.holds(ctx, key, c) ||
		status == http.StatusNotFound && c.Version != "" && !strings.Contains(text, "NoSuchBucket") {
		return "", backend.ErrChanged
	}
	return "", err
}

// holds reports whether the condition of a put still holds after S3 answered it with a conflict. S3 also gives that
// answer if a concurrent request interferes; then the put is to be repeated.
func (s *s3Store) holds(ctx context.Context, key string, c backend.Condition) bool {
	now, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &s.bucket, Key: &key})
	if err != nil {
		status, _ := s.answer(err)
		return c.Absent && status == http.StatusNotFound
	}
	return !c.Absent && c.Version != "" && aws.ToString(now.ETag) == c.Version
}

// delete does not look whether the object is there, as the library of the bucket does: S3 does not mind.
func (s *s3Store) delete(ctx context.Context, key string) error {
	_, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.bucket, Key: &key})
	return err
}

// deleteBatch is how many objects S3 deletes in one request.
const deleteBatch = 1000

// deleteAll deletes objects in batches. Servers that speak only a part of S3 refuse that in several ways, so any
// refusal but that of a missing bucket gives errors.ErrUnsupported: a single delete then tells the reason.
func (s *s3Store) deleteAll(ctx context.Context, keys []string) error {
	for batch := range slices.Chunk(keys, deleteBatch) {
		named := make([]types.ObjectIdentifier, len(batch))
		for i := range batch {
			named[i].Key = &batch[i]
		}
		out, err := s.client.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: &s.bucket,
			Delete: &types.Delete{Objects: named, Quiet: aws.Bool(true)}})
		if err != nil {
			if status, text := s.answer(err); status >= 400 && !missesBucket(text) {
				return errors.ErrUnsupported
			}
			return err
		}
		if len(out.Errors) > 0 {
			return errors.ErrUnsupported
		}
	}
	return nil
}

func (s *s3Store) version(r *blob.Reader) (string, error) {
	var out s3.GetObjectOutput
	if !r.As(&out) || out.ETag == nil {
		return "", fmt.Errorf("%w: the answer lacks the version of the object", backend.ErrRefused)
	}
	return *out.ETag, nil
}

func (s *s3Store) listed(o *blob.ListObject) string {
	var found types.Object
	if !o.As(&found) {
		return ""
	}
	return aws.ToString(found.ETag)
}

// answer strips the name and the ID of the request from the message.
func (s *s3Store) answer(err error) (status int, text string) {
	if reply, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		status = reply.HTTPStatusCode()
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return status, api.ErrorCode() + ": " + api.ErrorMessage()
	}
	if strings.Contains(err.Error(), "no EC2 IMDS role found") { // the last source of credentials
		return status, noCredentials
	}
	if op, ok := errors.AsType[*smithy.OperationError](err); ok {
		err = op.Err
	}
	return status, plainCause(err)
}
