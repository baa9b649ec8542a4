//go:build !lean

package bucket

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/runtime/backend"
)

func TestS3(t *testing.T) { // F6.1
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", "/dev/null")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
	server := httptest.NewServer(gofakes3.New(s3mem.New()).Server())
	t.Cleanup(server.Close)
	request := httptest.NewRequest("PUT", server.URL+"/pail", nil)
	request.RequestURI = ""
	answer, err := server.Client().Do(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	contract(t, "s3", "?region=eu-west-1&s3ForcePathStyle=true&disableSSL=true&endpoint="+server.Listener.Addr().String())
}

// S3 answers with a conflict if another request interferes, whether or not the condition of the write holds. Put then
// reads the object to find out.
func TestS3Conflict(t *testing.T) {
	t.Parallel()
	tag := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPut:
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `<Error><Code>ConditionalRequestConflict</Code><Message>again</Message></Error>`)
		case tag == "":
			w.WriteHeader(http.StatusNotFound)
		default:
			w.Header().Set("ETag", tag)
		}
	}))
	t.Cleanup(server.Close)
	lookup := func(string) (string, bool) { return "", false }
	store, err := Open(t.Context(), "s3://pail?region=us-east-1&use_path_style=true&disable_https=true&anonymous=true&"+
		"endpoint="+server.URL, lookup)
	require.NoError(t, err)
	for _, c := range []struct {
		tag       string
		condition backend.Condition
		changed   bool
	}{
		{"", backend.Condition{Absent: true}, false},
		{`"a"`, backend.Condition{Absent: true}, true},
		{`"a"`, backend.Condition{Version: `"a"`}, false},
		{`"b"`, backend.Condition{Version: `"a"`}, true},
		{"", backend.Condition{Version: `"a"`}, true},
	} {
		tag = c.tag
		_, err := store.Put(t.Context(), "key", []byte("x"), c.condition)
		require.Error(t, err)
		require.Equal(t, c.changed, errors.Is(err, backend.ErrChanged), "%+v: %v", c, err)
		require.NotErrorIs(t, err, backend.ErrRefused, "it is to be tried again")
	}
}

// Opening a bucket without a region fails at once, with an error that names the way out.
func TestBucketWithoutRegion(t *testing.T) {
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/config")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", t.TempDir()+"/credentials")
	lookup := func(string) (string, bool) { return "", false }
	_, err := Open(t.Context(), "s3://pail", lookup)
	require.EqualError(t, err, "open the backend s3://pail: its region is not known: set AWS_REGION, or add `?region=` to "+
		"the URL")
	_, err = Open(t.Context(), "s3://pail?region=eu-west-1", lookup)
	require.NoError(t, err)
}
