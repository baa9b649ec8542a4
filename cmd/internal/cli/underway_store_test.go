//go:build !lean

package cli

import (
	"io"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/backend/bucket"
	"github.com/yamlhost/yamlhost/runtime/backend/postgres"
	"github.com/yamlhost/yamlhost/runtime/backend/postgres/postgrestest"
)

// As TestCommandsBesideARun, with the state in a bucket.
func TestCommandsBesideARunInABucket(t *testing.T) {
	t.Parallel()
	store := s3mem.New()
	require.NoError(t, store.CreateBucket("pail"))
	server := httptest.NewServer(gofakes3.New(store).Server())
	t.Cleanup(server.Close)
	x := newTerminal(t, slowProgram)
	x.besideItsRunAt(t, "s3://pail/some/prefix?region=eu-west-1&anonymous=true&s3ForcePathStyle=true&disableSSL=true&endpoint="+
		server.Listener.Addr().String(), func(url string) (backend.Objects, error) {
		return bucket.Open(t.Context(), url, x.world.Lookup)
	})
}

// As TestCommandsBesideARun, with the state in a database.
func TestCommandsBesideARunInPostgreSQL(t *testing.T) {
	t.Parallel()
	url := postgrestest.Start(t, os.Getenv("YAMLHOST_POSTGRES")).URL("states")
	x := newTerminal(t, slowProgram)
	x.besideItsRunAt(t, url, func(url string) (backend.Objects, error) {
		return postgres.Open(t.Context(), url, x.world.Lookup)
	})
}

// besideItsRunAt is besideItsRun with the state in a store.
func (x *terminal) besideItsRunAt(t *testing.T, url string, open func(string) (backend.Objects, error)) {
	x.world.Env = append(x.world.Env, "PULUMI_BACKEND_URL="+url)
	closed := func(o backend.Objects) backend.Objects { // the commands of a process leave connections open
		switch o := o.(type) {
		case io.Closer:
			t.Cleanup(func() { _ = o.Close() })
		case interface{ Close() }:
			t.Cleanup(o.Close)
		}
		return o
	}
	x.world.Objects = closed
	x.besideItsRun(t, url, func(url string) (backend.Objects, error) {
		o, err := open(url)
		return closed(o), err
	})
}
