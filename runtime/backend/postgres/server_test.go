//go:build !lean

package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/backend/objectstest"
	"github.com/yamlhost/yamlhost/runtime/backend/postgres/postgrestest"
)

// programs is the folder of the programs of PostgreSQL, empty if it is not known.
var programs = os.Getenv("YAMLHOST_POSTGRES")

func openAt(t *testing.T, url string) *Store {
	t.Helper()
	o, err := Open(context.Background(), url, nil)
	require.NoError(t, err)
	s := o.(*Store)
	t.Cleanup(s.Close)
	return s
}

// sql runs a statement as an administrator, and returns the first value of each row as text.
func sql(t *testing.T, s *postgrestest.Server, statement string, args ...any) []string {
	t.Helper()
	return sqlAt(t, "host="+s.Dir, statement, args...)
}

func sqlAt(t *testing.T, server, statement string, args ...any) (values []string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), server+" user=postgres dbname=postgres")
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close(t.Context())) }()
	rows, err := c.Query(t.Context(), statement, args...)
	require.NoError(t, err)
	values, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		all, err := row.Values()
		if err != nil || len(all) == 0 {
			return "", err
		}
		return fmt.Sprint(all[0]), nil
	})
	require.NoError(t, err)
	return values
}

// TestServer tests the guarantees of the store on one server.
func TestServer(t *testing.T) { // F6.18, F6.9
	t.Parallel()
	server := postgrestest.Start(t, programs)
	opener := func(t *testing.T) func(string) (backend.Objects, error) {
		return func(url string) (backend.Objects, error) { return openAt(t, url), nil }
	}

	t.Run("contract", func(t *testing.T) {
		objectstest.Contract(t, openAt(t, server.URL("contract")))
		objectstest.Contract(t, under{openAt(t, server.URL("contract_pulumi"))})
	})
	t.Run("looking makes nothing", func(t *testing.T) {
		s := openAt(t, server.URL("none"))
		_, err := s.Get(t.Context(), ".pulumi/meta.yaml")
		require.ErrorIs(t, err, fs.ErrNotExist)
		found, err := s.List(t.Context(), ".pulumi/")
		require.NoError(t, err)
		require.Empty(t, found)
		require.NoError(t, s.Delete(t.Context(), ".pulumi/x"))
		require.Empty(t, sql(t, server, `SELECT tablename FROM pg_tables WHERE tablename LIKE 'none%'`))
	})
	t.Run("two that make the tables", func(t *testing.T) {
		var group sync.WaitGroup
		for i := range 6 {
			s := openAt(t, server.URL("together"))
			group.Go(func() {
				_, err := s.Put(context.Background(), fmt.Sprint(".pulumi/stacks/p/", i), nil, backend.Condition{Absent: true})
				if err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
	})
	t.Run("life", func(t *testing.T) {
		objectstest.Whole(t, server.URL("life"), opener(t))
		keys := strings.Join(sql(t, server, `SELECT key FROM life`), "\n")
		require.Contains(t, keys, "postgres/.pulumi/meta.yaml")
		require.NotContains(t, keys, "yamlhost")
		require.NotContains(t, keys, "locks/")
		require.Contains(t, strings.Join(sql(t, server, `SELECT key FROM life_yamlhost`), "\n"),
			"postgres/.pulumi/yamlhost/p/dev/lease.json")
	})
	t.Run("the table is Pulumi's", func(t *testing.T) {
		s := openAt(t, server.URL("Theirs"))
		_, err := s.Put(t.Context(), ".pulumi/meta.yaml", []byte("version: 1\n"), backend.Condition{})
		require.NoError(t, err)
		require.Equal(t, []string{`{"data":"dmVyc2lvbjogMQo="}`},
			sql(t, server, `SELECT data::text FROM theirs WHERE key = 'postgres/.pulumi/meta.yaml'`))
		require.Equal(t, []string{"key text NO", "data json NO", "updated_at timestamp with time zone NO now()"},
			sql(t, server,
				`SELECT concat_ws(' ', column_name, data_type, is_nullable, column_default) FROM information_schema.columns
			 WHERE table_name = 'theirs' ORDER BY ordinal_position`))
		require.Equal(t, []string{"CREATE INDEX theirs_key_prefix_idx ON public.theirs USING btree (key text_pattern_ops)",
			"CREATE UNIQUE INDEX theirs_pkey ON public.theirs USING btree (key)"},
			sql(t, server, `SELECT indexdef FROM pg_indexes WHERE tablename = 'theirs' ORDER BY 1`))
		// A row written by the Pulumi CLI is read, and has another version.
		got, err := s.Get(t.Context(), ".pulumi/meta.yaml")
		require.NoError(t, err)
		sql(t, server, `INSERT INTO theirs (key, data) VALUES ('postgres/.pulumi/meta.yaml', '{"data": "eA=="}')
			ON CONFLICT (key) DO UPDATE SET data = '{"data": "eA=="}', updated_at = now()`)
		_, err = s.Put(t.Context(), ".pulumi/meta.yaml", nil, backend.Condition{Version: got.Version})
		require.ErrorIs(t, err, backend.ErrChanged)
		got, err = s.Get(t.Context(), ".pulumi/meta.yaml")
		require.NoError(t, err)
		require.Equal(t, "x", string(got.Data))
	})
	t.Run("keys that look like patterns", func(t *testing.T) {
		s := openAt(t, server.URL("patterns"))
		for _, key := range []string{"a_b/c", "aXb/c", "a%/c", "ü/ä", "ü/ö/x"} {
			_, err := s.Put(t.Context(), key, nil, backend.Condition{})
			require.NoError(t, err)
		}
		for prefix, want := range map[string]string{"a_": "a_b/", "a%": "a%/", "ü/": "ü/ä", "": "a%/"} {
			found, err := s.List(t.Context(), prefix)
			require.NoError(t, err)
			require.Equal(t, want, found[0].Key)
		}
	})
	t.Run("fence", func(t *testing.T) { fence(t, server) })
	t.Run("sessions", func(t *testing.T) { sessions(t, server) })
	t.Run("cuts", func(t *testing.T) { cuts(t, server) })
	t.Run("refusals", func(t *testing.T) {
		_, err := openAt(t, server.URL("x")+"&dbname=nowhere").Get(t.Context(), "a")
		require.ErrorIs(t, err, backend.ErrRefused)
		require.ErrorContains(t, err, `database "nowhere" does not exist`)
		sql(t, server, `CREATE ROLE reader LOGIN`)
		_, err = openAt(t, strings.Replace(server.URL("x"), "user=postgres", "user=reader", 1)).Put(t.Context(), "a", nil,
			backend.Condition{})
		require.ErrorIs(t, err, backend.ErrRefused)
		require.ErrorContains(t, err, "permission denied")
		require.ErrorContains(t, err, "CREATE to make them")
	})
}

// under is a store that puts all keys into the table of the Pulumi CLI.
type under struct{ *Store }

const folder = ".pulumi/stacks/"

func (u under) Get(ctx context.Context, key string) (backend.Object, error) {
	return u.Store.Get(ctx, folder+key)
}

func (u under) ListAll(ctx context.Context, prefix string) ([]backend.Listed, error) {
	found, err := u.Store.ListAll(ctx, folder+prefix)
	for i := range found {
		found[i].Key = strings.TrimPrefix(found[i].Key, folder)
	}
	return found, err
}

func (u under) GetAll(ctx context.Context, keys []string) (map[string]backend.Object, error) {
	var below []string
	for _, key := range keys {
		below = append(below, folder+key)
	}
	found, err := u.Store.GetAll(ctx, below)
	objects := map[string]backend.Object{}
	for key, o := range found {
		objects[strings.TrimPrefix(key, folder)] = o
	}
	return objects, err
}

func (u under) List(ctx context.Context, prefix string) ([]backend.Listed, error) {
	found, err := u.Store.List(ctx, folder+prefix)
	for i := range found {
		found[i].Key = strings.TrimPrefix(found[i].Key, folder)
	}
	return found, err
}

func (u under) Put(ctx context.Context, key string, data []byte, c backend.Condition) (string, error) {
	return u.Store.Put(ctx, folder+key, data, c)
}

func (u under) Delete(ctx context.Context, key string) error { return u.Store.Delete(ctx, folder+key) }

// fence tests that a write succeeds only if the lease has its number at the instant of the write.
func fence(t *testing.T, server *postgrestest.Server) {
	const lease, state, link = ".pulumi/yamlhost/p/dev/lease.json", ".pulumi/stacks/p/dev.json",
		".pulumi/yamlhost/p/dev/journal/1/0"
	ctx := t.Context()
	s := openAt(t, server.URL("fence"))
	number := func(n int64) {
		_, err := s.Put(ctx, lease, fmt.Append(nil, n), backend.Condition{Number: n})
		require.NoError(t, err)
	}
	number(1)
	one, err := s.Hold(ctx, lease, 1)
	require.NoError(t, err)
	defer one.Release()
	first, err := one.Put(ctx, state, []byte("1"), backend.Condition{Absent: true})
	require.NoError(t, err)
	_, err = one.Put(ctx, link, []byte("1"), backend.Condition{})
	require.NoError(t, err)

	number(2)
	for _, c := range []backend.Condition{{}, {Version: first}} {
		_, err = one.Put(ctx, state, []byte("late"), c)
		require.ErrorIs(t, err, backend.ErrFenced)
		require.ErrorIs(t, err, backend.ErrChanged)
	}
	_, err = one.Put(ctx, link+"1", []byte("late"), backend.Condition{Absent: true})
	require.ErrorIs(t, err, backend.ErrFenced)
	require.ErrorIs(t, one.Delete(ctx, state), backend.ErrFenced)
	require.ErrorIs(t, one.Delete(ctx, link), backend.ErrFenced)
	got, err := s.Get(ctx, state)
	require.NoError(t, err)
	require.Equal(t, "1", string(got.Data))

	// Whichever of a write and a concurrent takeover comes first, a write after the takeover fails.
	two, err := s.Hold(ctx, lease, 2)
	require.NoError(t, err)
	defer two.Release()
	for n := int64(2); n < 60; n++ {
		var group sync.WaitGroup
		var wrote error
		group.Go(func() {
			_, wrote = two.(*held).put(ctx, state, fmt.Append(nil, n), backend.Condition{}, &claim{two.(*held).claim.key, n})
		})
		group.Go(func() { number(n + 1) })
		group.Wait()
		if wrote != nil {
			require.ErrorIs(t, wrote, backend.ErrFenced)
		}
		_, err := two.(*held).put(ctx, state, []byte("late"), backend.Condition{}, &claim{two.(*held).claim.key, n})
		require.ErrorIs(t, err, backend.ErrFenced)
	}

	// A write that waits for a takeover under way fails when the takeover commits.
	c, err := pgx.Connect(ctx, "host="+server.Dir+" user=postgres dbname=postgres")
	require.NoError(t, err)
	defer func() { _ = c.Close(context.Background()) }()
	tx, err := c.Begin(ctx)
	require.NoError(t, err)
	_, err = tx.Exec(ctx, `UPDATE fence_yamlhost SET number = 100 WHERE key LIKE '%lease.json'`)
	require.NoError(t, err)
	late := make(chan error, 1)
	go func() {
		_, err := two.(*held).put(context.Background(), state, []byte("late"), backend.Condition{},
			&claim{two.(*held).claim.key, 60})
		late <- err
	}()
	require.Eventually(t, func() bool {
		return len(sql(t, server,
			`SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FOR SHARE%'`)) > 0
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, tx.Commit(ctx))
	require.ErrorIs(t, <-late, backend.ErrFenced)
}

func sessionOf(t *testing.T, server *postgrestest.Server) []string {
	return sql(t, server, `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted`)
}

// sessions tests that the holder of a lease has an advisory lock, gets it back after its connection was cut, and loses
// it to the next holder.
func sessions(t *testing.T, server *postgrestest.Server) {
	const lease = ".pulumi/yamlhost/p/dev/lease.json"
	ctx := t.Context()
	s := openAt(t, server.URL("sessions"))
	_, err := s.Put(ctx, lease, nil, backend.Condition{Number: 1})
	require.NoError(t, err)
	require.Empty(t, sessionOf(t, server))
	one, err := s.Hold(ctx, lease, 1)
	require.NoError(t, err)
	before := sessionOf(t, server)
	require.Len(t, before, 1)
	sql(t, server, `SELECT pg_terminate_backend($1)`, before[0])
	require.Eventually(t, func() bool {
		now := sessionOf(t, server)
		return len(now) == 1 && now[0] != before[0]
	}, time.Minute, 10*time.Millisecond, "it has the lock again")

	mine := sessionOf(t, server)
	_, err = s.Put(ctx, lease, nil, backend.Condition{Number: 2})
	require.NoError(t, err)
	two, err := s.Hold(ctx, lease, 2)
	require.NoError(t, err)
	theirs := sessionOf(t, server)
	require.Len(t, theirs, 1)
	require.NotEqual(t, mine, theirs)
	require.Empty(t, sql(t, server, `SELECT pid FROM pg_stat_activity WHERE pid = $1`, mine[0]),
		"the session of the one before is over")
	one.Release()
	two.Release()
	require.Eventually(t, func() bool { return len(sessionOf(t, server)) == 0 }, time.Minute, 10*time.Millisecond)
}

// cuts terminates connections all the time while stacks are in use. Everything acknowledged is there exactly once.
func cuts(t *testing.T, server *postgrestest.Server) {
	done := make(chan struct{})
	var cutting sync.WaitGroup
	cutOff := 0
	cutting.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(150 * time.Millisecond):
				cutOff += len(sql(t, server, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
					WHERE pid <> pg_backend_pid() AND application_name = 'yamlhost'`))
			}
		}
	})
	open := func(url string) (backend.Objects, error) { return openAt(t, url), nil }
	for n := range 3 {
		objectstest.Whole(t, server.URL(fmt.Sprint("cuts", n)), open)
	}
	close(done)
	cutting.Wait()
	require.Positive(t, cutOff)
	t.Logf("%d connections were cut", cutOff)
}

// TestRestart checks that a server that crashes or is restarted during writes loses nothing acknowledged.
func TestRestart(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t, programs)
	s := openAt(t, server.URL("restart"))
	for n := range 6 {
		last := make(chan int, 1)
		go func() {
			i := 0
			for ; ; i++ {
				if _, err := s.Put(context.Background(), fmt.Sprintf("%d/%06d", n, i), nil,
					backend.Condition{Absent: true}); err != nil {
					break
				}
			}
			last <- i
		}()
		for { // until some are written
			if found, err := s.List(t.Context(), fmt.Sprint(n, "/")); err == nil && len(found) > 20 {
				break
			}
		}
		if n%2 == 0 {
			server.Crash()
		} else {
			server.Stop()
		}
		server.Again()
		acknowledged := <-last
		var found []backend.Listed
		require.Eventually(t, func() bool {
			all, err := s.List(t.Context(), fmt.Sprint(n, "/"))
			found = all
			return err == nil
		}, time.Minute, 10*time.Millisecond)
		require.GreaterOrEqual(t, len(found), acknowledged)
		require.LessOrEqual(t, len(found), acknowledged+1, "the one that was not acknowledged may be there, too")
	}
}

// TestPassingAndFinal checks which errors are transient and therefore retried.
func TestPassingAndFinal(t *testing.T) {
	t.Parallel()
	for _, c := range []string{"57P01", "57P03", "53300", "40001", "08006", "25006", "55P03"} {
		require.True(t, passes(c), c)
	}
	for _, c := range []string{"28P01", "3D000", "42501", "42601", "22P02"} {
		require.False(t, passes(c), c)
	}
	require.NotErrorIs(t, explain(errors.New("cut")), backend.ErrRefused)
	// A missing socket is not a missing object.
	s := openAt(t, "postgres:///x?host="+t.TempDir())
	_, err := s.Get(t.Context(), "a")
	require.ErrorContains(t, err, "no such file")
	require.NotErrorIs(t, err, fs.ErrNotExist)
	require.NotErrorIs(t, err, backend.ErrRefused)
	require.NotErrorIs(t, s.Delete(t.Context(), "a"), fs.ErrNotExist)
}
