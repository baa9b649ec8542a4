//go:build !lean

package postgres

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/backend"
)

func lookupIn(variables map[string]string) Lookup {
	return func(name string) (string, bool) {
		value, ok := variables[name]
		return value, ok
	}
}

func TestSettings(t *testing.T) { // F6.18
	t.Parallel()
	got, err := parse("postgres://ann:pa%20s%27w%5Cd@db.example:5433/states/eu?sslmode=verify-full&table=Teams", nil)
	require.NoError(t, err)
	require.Equal(t, "teams", got.table)
	require.Equal(t, "states/eu/", got.prefix)
	require.Equal(t, map[string]string{"user": "ann", "password": `pa s'w\d`, "host": "db.example", "port": "5433",
		"dbname":  "states/eu",
		"sslmode": "verify-full", "application_name": "yamlhost", "target_session_attrs": "primary"}, got.settings)
	text, err := got.text()
	require.NoError(t, err)
	require.Contains(t, text, `password='pa s\'w\\d' `)

	got, err = parse("postgres:///postgres?host=/run/db", nil)
	require.NoError(t, err)
	require.Equal(t, defaultTable, got.table)
	require.Equal(t, "postgres/", got.prefix, "keys begin with the name of the database")
	require.Equal(t, "/run/db", got.settings["host"])
	require.Equal(t, "require", got.settings["sslmode"])
	got, err = parse("postgres://db/", nil)
	require.NoError(t, err)
	require.Empty(t, got.prefix)
}

// TestVariablesAndServices checks that the URL takes precedence over the service, and the service over the variables of
// libpq.
func TestVariablesAndServices(t *testing.T) { // F6.18
	t.Parallel()
	home := t.TempDir()
	services := "[prod]\nhost=from.service\nport=6000\ndbname=service\n\n[other]\nhost=none\n"
	require.NoError(t, os.WriteFile(filepath.Join(home, ".pg_service.conf"), []byte(services), 0o600))
	variables := map[string]string{"HOME": home, "PGHOST": "from.variable", "PGPORT": "7000", "PGUSER": "variable",
		"PGPASSWORD": "pw", "PGSSLMODE": "verify-ca", "PGSERVICE": "prod"}
	got, err := parse("postgres://:6001/", lookupIn(variables))
	require.NoError(t, err)
	require.Equal(t, map[string]string{"host": "from.service", "port": "6001", "dbname": "service", "user": "variable",
		"password": "pw",
		"sslmode":  "verify-ca", "passfile": filepath.Join(home, ".pgpass"), "application_name": "yamlhost",
		"target_session_attrs": "primary"},
		got.settings)
	require.Empty(t, got.prefix, "which only the URL has")
	got, err = parse("postgres:///?service=other", lookupIn(variables))
	require.NoError(t, err)
	require.Equal(t, "none", got.settings["host"])

	_, err = parse("postgres:///?service=gone", lookupIn(variables))
	require.ErrorContains(t, err, `describes no service "gone"`)
	_, err = parse("postgres:///?service=gone&servicefile=/none/there", nil)
	require.ErrorContains(t, err, "read the services in /none/there")
	_, err = parse("postgres:///?service=gone", nil)
	require.ErrorContains(t, err, "is not known; name it in PGSERVICEFILE")
}

// TestBadURLs checks that each error suggests a remedy and that none has the password.
func TestBadURLs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, says string }{
		{"postgres://ann:s3cret@db:port/x", "is malformed: it should look like"},
		{"postgres://ann:s3cret%zz@db/x", "is malformed"},
		{"postgres://ann:s3/cret@db/x", "is malformed"},
		{"postgres://ann:s3cret@db/x?table=a%zz", "the parameters of the backend"},
		{"postgres://ann:s3cret@db/x?table=a.b", "A schema is chosen with search_path"},
		{"postgres://ann:s3cret@db/x?table=a;drop", "the parameters of the backend"},
		{"postgres://ann:s3cret@db/x?table=a%3Bdrop", `the table "a;drop"`},
		{"postgres://ann:s3cret@db/x?table=t2345678901234567890123456789012345678901234567890123456789", "54 are possible"},
		{"postgresql://ann:s3cret@db/x", "begin it with postgres://"},
		{"postgres://ann:s3cret@db/x?sslmode=perhaps",
			"open the backend postgres://ann:xxxxx@db/x?sslmode=perhaps: sslmode is invalid"},
		{"postgres://db/x?password=s3cret&connect_timeout=soon", "open the backend"},
		{"postgres://ann:s3cret@db/x?sslrootcert=/none/there&sslmode=verify-full", "/none/there"},
	} {
		_, err := Open(t.Context(), c.url, nil)
		require.ErrorContains(t, err, c.says, c.url)
		require.NotContains(t, err.Error(), "s3", c.url)
		require.NotContains(t, err.Error(), "cret", c.url)
	}
}

// TestWhichTable checks that only keys that the Pulumi CLI writes are in its table.
func TestWhichTable(t *testing.T) { // F6.4, F6.18
	t.Parallel()
	for _, key := range []string{"meta.yaml", "stacks/p/dev.json", "stacks/p/dev.json.gz.bak", "stacks/p/dev.pulumi-tags",
		"history/p/dev/dev-1.history.json", "backups/p/dev/dev.1.json.zst", "locks/organization/p/dev/u.json",
		"stacks/p/dev.json.17"} {
		require.True(t, pulumis(".pulumi/"+key), key)
	}
	for _, key := range []string{"yamlhost/p/dev/lease.json", "yamlhost/p/dev/journal/000000000001/00000000", "probe-1-2",
		"stacks/p/dev.json.1.damaged", "stacks/p/dev.yamlhost-journal", "yamlhost/p/dev/1.foreign", "meta.yaml/x"} {
		require.False(t, pulumis(".pulumi/"+key), key)
	}
}

var _ backend.Fencing = (*Store)(nil)
