//go:build !lean

package bucket

import (
	"net/http/httptest"
	"os"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/stretchr/testify/require"
)

// fakeS3 is the URL of an S3 in this process with a bucket in it.
func fakeS3(t *testing.T) (url string) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", "/dev/null")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
	server := httptest.NewServer(gofakes3.New(s3mem.New()).Server())
	t.Cleanup(server.Close)
	url = "s3://pail/some/prefix?region=eu-west-1&s3ForcePathStyle=true&disableSSL=true&endpoint=" +
		server.Listener.Addr().String()
	u := server.URL + "/pail"
	request := httptest.NewRequest("PUT", u, nil)
	request.RequestURI = ""
	answer, err := server.Client().Do(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return url
}

func TestS3(t *testing.T) { // F6.1
	url := fakeS3(t)
	o, err := Open(t.Context(), url, os.LookupEnv)
	require.NoError(t, err)
	contract(t, o)
	whole(t, url)
}

func TestS3WithoutBucket(t *testing.T) {
	url := fakeS3(t)
	o, err := Open(t.Context(), "s3://bowl"+url[len("s3://pail"):], os.LookupEnv)
	require.NoError(t, err)
	missingBucket(t, o)
}
