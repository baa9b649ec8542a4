//go:build !lean

package cli

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/runtime/backend/postgres/postgrestest"
	"github.com/yamlhost/yamlhost/test/service/host"
)

// TestHostedMoveBucket moves a stack from a bucket to a service and back.
func TestHostedMoveBucket(t *testing.T) {
	t.Parallel()
	store := s3mem.New()
	require.NoError(t, store.CreateBucket("pail"))
	server := httptest.NewServer(gofakes3.New(store).Server())
	t.Cleanup(server.Close)
	moves(t, "s3://pail/some/prefix?region=eu-west-1&s3ForcePathStyle=true&disableSSL=true&endpoint="+
		server.Listener.Addr().String())
}

// TestHostedMovePostgreSQL moves a stack from a database to a service and back.
func TestHostedMovePostgreSQL(t *testing.T) {
	t.Parallel()
	moves(t, postgrestest.Start(t, os.Getenv("YAMLHOST_POSTGRES")).URL("states"))
}

// moves runs testdata/move with a backend at place. Scripts run commands in processes, because the libraries for place
// leave connections open and read the environment.
func moves(t *testing.T, place string) {
	h, err := host.Open(t.TempDir())
	require.NoError(t, err)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/move", RequireExplicitExec: true, Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			for name, text := range map[string]string{"HOME": home, "PULUMI_HOME": filepath.Join(home, ".pulumi"),
				"PLACE": place, "SERVICE": server.URL, "PULUMI_ACCESS_TOKEN": h.Token(),
				"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_EC2_METADATA_DISABLED": "true",
				"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null"} {
				e.Setenv(name, text)
			}
			return os.MkdirAll(home, 0o755)
		}})
}
