//go:build linux && !lean

package kill

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/backend/postgres"
	"github.com/yamlhost/yamlhost/runtime/backend/postgres/postgrestest"
)

var (
	databaseKills  = flag.Int("database-kills", 30, "how many kills on PostgreSQL")
	databaseCuts   = flag.Int("database-cuts", 30, "how many cuts on PostgreSQL that hit a run in the middle of an operation")
	databaseRaces  = flag.Int("database-races", 200, "how many races on PostgreSQL")
	databasePauses = flag.Int("database-pauses", 4, "how many runs on PostgreSQL to stop and let go on")
)

// database is a PostgreSQL server. Each store in it has its own table.
type database struct {
	t      *testing.T
	server *postgrestest.Server
}

func newDatabase(t *testing.T) *database {
	t.Helper()
	return &database{t, postgrestest.Start(t, os.Getenv("YAMLHOST_POSTGRES"))}
}

func (d *database) url(prefix string) string { return d.server.URL(prefix) }

func (d *database) environ() map[string]string { return nil }

func (d *database) open(rawURL string) (backend.Objects, error) {
	return postgres.Open(context.Background(), rawURL, nil)
}

// ask runs a statement until the server answers, and returns the first value of each row as text.
func (d *database) ask(statement string) (values []string) {
	for until := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		values, err := d.askOnce(statement)
		if err == nil {
			return values
		}
		if time.Now().After(until) {
			d.t.Error(err)
			return nil
		}
	}
}

func (d *database) askOnce(statement string) ([]string, error) {
	ctx := context.Background()
	c, err := pgx.Connect(ctx, "host="+d.server.Dir+" user=postgres dbname=postgres")
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close(ctx) }()
	rows, err := c.Query(ctx, statement)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (text string, err error) {
		all, err := row.Values()
		return fmt.Sprint(all[0]), err
	})
}

func (d *database) read(prefix, key string) []byte {
	for _, column := range []string{"convert_from(decode(data->>'data', 'base64'), 'UTF8') FROM " + prefix,
		"convert_from(data, 'UTF8') FROM " + prefix + "_yamlhost"} {
		if found := d.ask("SELECT " + column + " WHERE key = 'postgres/" + key + "'"); len(found) > 0 {
			return []byte(found[0])
		}
	}
	return nil
}

func (d *database) unsettled(prefix string) []string {
	left := d.ask("SELECT key FROM " + prefix + " WHERE key LIKE '%/locks/%' OR key LIKE '%yamlhost%'")
	return append(left, d.ask(`SELECT max(key) FROM (SELECT key, regexp_replace(key, '/[^/]*$', '') AS folder, data,
		last_value(key) OVER (PARTITION BY regexp_replace(key, '/[^/]*$', '') ORDER BY key ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS last
		FROM `+prefix+`_yamlhost WHERE key LIKE '%/journal/%') AS links WHERE key = last AND substr(data, 1, 9) <> 'yhsettled' GROUP BY folder`)...)
}

// bounce stops the server or lets it crash, in turn, and starts it again.
func (d *database) bounce(away time.Duration, n int) {
	if n%2 == 0 {
		d.server.Stop()
	} else {
		d.server.Crash()
	}
	time.Sleep(away)
	d.server.Again()
}

// cut cuts all connections. A run is in the middle of an operation while its session holds the advisory lock on its
// stack.
func (d *database) cut() bool {
	return slices.Contains(d.ask(`WITH sessions AS MATERIALIZED (
			SELECT pid, EXISTS (SELECT 1 FROM pg_locks l WHERE l.pid = a.pid AND locktype = 'advisory' AND granted) AS works
			FROM pg_stat_activity a WHERE pid <> pg_backend_pid() AND backend_type = 'client backend')
		SELECT works FROM sessions WHERE pg_terminate_backend(pid)`), "true")
}

// TestDatabaseKill is TestStoreKill on PostgreSQL. It also cuts connections.
func TestDatabaseKill(t *testing.T) { storeKill(t, newDatabase(t), *databaseKills, *databaseCuts) } // D9, F6.18

func TestDatabaseRaces(t *testing.T) { storeRaced(t, newDatabase(t), *databaseRaces) } // F6.9

func TestDatabasePaused(t *testing.T) { storePaused(t, newDatabase(t), *databasePauses) } // D9

func TestDatabaseStopped(t *testing.T) { storeStopped(t, newDatabase(t), *storeStops) } // D14

// TestDatabaseHasAllStacks lists 1,000 stacks. The number of statements does not grow with the number of stacks.
func TestDatabaseHasAllStacks(t *testing.T) {
	const count = 1000
	d := newDatabase(t)
	b := newStoreBench(t, d, &outcome{points: map[string]int{}}, 1, 0)
	require.Equal(t, 0, b.run("", 0, "up", "--yes", "--skip-preview").code, b.said)
	// The other stacks are renamed copies of the first, as if the Pulumi CLI had created them.
	d.ask(`INSERT INTO b1 (key, data) SELECT replace(key, '/dev.json', '/s' || n || '.json'), json_build_object('data', translate(
			encode(convert_to(replace(replace(convert_from(decode(data->>'data', 'base64'), 'UTF8'), 'urn:pulumi:dev::', 'urn:pulumi:s' || n || '::'),
			'organization/kill/dev', 'organization/kill/s' || n), 'UTF8'), 'base64'), E'\n', ''))
		FROM b1, generate_series(1, ` + fmt.Sprint(count-1) + `) AS n WHERE key LIKE '%/stacks/kill/dev.json'`)
	text := testfile.Text(t, filepath.Join(d.server.Dir, "data", "postmaster.pid"))
	server, err := strconv.Atoi(strings.Fields(text)[0])
	require.NoError(t, err)
	for range 5 {
		before := processorTime(server)
		e := b.run("", 0, "stack", "ls")
		require.Equal(t, 0, e.code, b.said)
		require.Equal(t, count, strings.Count(b.said, "\n")-1, b.said)
		t.Logf("stack ls of %d stacks: %v; processor time of yamlhost %v, of the server about %v", count,
			e.took.Round(time.Millisecond), e.cpu.Round(time.Millisecond), processorTime(server)-before)
	}
	dir, wire := countingSocket(t, d.server.Dir)
	b.environ = append(b.environ, "PULUMI_BACKEND_URL="+strings.Replace(b.store.url, url.QueryEscape(d.server.Dir),
		url.QueryEscape(dir), 1))
	require.Equal(t, 0, b.run("", 0, "stack", "ls").code, b.said)
	n := wire.requests.Load()
	t.Logf("%d statements", n)
	require.Positive(t, n)
	require.Less(t, n, int64(30))
}
