//go:build !lean

package postgres

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/yamlhost/yamlhost/runtime/backend"
)

// Store is a table of the Pulumi CLI, and yamlhost's own table beside it. It is safe for concurrent use.
type Store struct {
	pool    *pgxpool.Pool
	connect *pgx.ConnConfig // for connections beside the pool
	table   string
	own     string
	prefix  string

	sessions atomic.Bool // the pooler before the server was found to keep sessions
}

var (
	_ backend.Fencing = (*Store)(nil)
	_ backend.Bulk    = (*Store)(nil)
)

// version is the SQL expression for the version of a row: the transaction that wrote it, and the time. The Pulumi CLI's
// table has no column for a version number.
const version = `xmin::text || '.' || (extract(epoch FROM updated_at) * 1000000)::bigint::text`

// pulumis reports whether a key belongs in the Pulumi CLI's table. All others are in yamlhost's own table.
func pulumis(key string) bool {
	rest, _ := strings.CutPrefix(key, ".pulumi/")
	folder, _, deeper := strings.Cut(rest, "/")
	switch folder {
	case "meta.yaml":
		return !deeper
	case "stacks", "history", "backups", "locks":
		base := path.Base(rest)
		for _, end := range [...]string{".damaged", ".foreign", ".torn"} {
			if strings.HasSuffix(base, end) {
				return false
			}
		}
		return !strings.Contains(base, ".yamlhost-")
	}
	return false
}

// home returns the table of a key, and the SQL expressions that read and write its data there.
func (s *Store) home(key string) (table, read, write string) {
	if pulumis(key) {
		return quoted(s.table), `decode(data->>'data', 'base64')`, `$2::json`
	}
	return quoted(s.own), `data`, `$2::bytea`
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

// content returns data as a parameter for the table of a key.
func content(key string, data []byte) any {
	if pulumis(key) {
		return `{"data":"` + base64.StdEncoding.EncodeToString(data) + `"}`
	}
	if data == nil {
		data = []byte{}
	}
	return data
}

// Close closes all connections.
func (s *Store) Close() { s.pool.Close() }

// Get reads an object.
func (s *Store) Get(ctx context.Context, key string) (o backend.Object, err error) {
	table, read, _ := s.home(key)
	err = s.pool.QueryRow(ctx, fmt.Sprintf(`SELECT %s, %s, updated_at FROM %s WHERE key = $1`, read, version, table),
		pgx.QueryExecModeCacheDescribe, s.prefix+key).Scan(&o.Data, &o.Version, &o.Modified)
	if code(err) == noTable {
		err = pgx.ErrNoRows
	}
	if err = explain(err); err != nil {
		return backend.Object{}, err
	}
	return o, nil
}

// List lists the keys that begin with prefix. The database groups those that agree up to a further slash.
func (s *Store) List(ctx context.Context, prefix string) ([]backend.Listed, error) {
	return s.listIn(ctx, prefix, `SELECT name COLLATE "C", max(updated_at) FROM (
			SELECT substr(CASE position('/' IN rest) WHEN 0 THEN key ELSE left(key, length(key) - length(rest) + position('/' IN rest)) END,
				length($3::text) + 1) AS name, updated_at
			FROM (SELECT key, substr(key, length($1::text) + 1) AS rest, updated_at FROM found) AS cut) AS named
		GROUP BY 1 ORDER BY 1`)
}

// ListAll lists every object whose key begins with prefix.
func (s *Store) ListAll(ctx context.Context, prefix string) ([]backend.Listed, error) {
	return s.listIn(ctx, prefix, `SELECT substr(key, length($3::text) + 1) COLLATE "C" AS name, updated_at FROM found ORDER BY 1`)
}

// listIn runs a statement over found, the rows whose keys begin with prefix, in both tables or in the one that exists.
// Its parameters are the beginning and the end of these keys, and the prefix of all keys.
func (s *Store) listIn(ctx context.Context, prefix, statement string) ([]backend.Listed, error) {
	first := s.prefix + prefix
	for _, tables := range [][]string{{s.table, s.own}, {s.table}} { // the Pulumi CLI creates only its own
		var parts []string
		for _, table := range tables { // the operators match the Pulumi CLI's index
			parts = append(parts, `SELECT key, updated_at FROM `+quoted(table)+` WHERE key ~>=~ $1 AND key ~<~ $2`)
		}
		rows, _ := s.pool.Query(ctx, `WITH found AS (`+strings.Join(parts, ` UNION ALL `)+`) `+statement, first,
			first+"\U0010FFFF", s.prefix) // the error is also in rows
		all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l backend.Listed, err error) {
			return l, row.Scan(&l.Key, &l.Modified)
		})
		if code(err) != noTable {
			return all, explain(err)
		}
	}
	return nil, nil
}

// most is the amount of data that GetAll reads at once from a table, in bytes as the server stores them.
const most = 4 << 20

// GetAll reads objects; see backend.Bulk.
func (s *Store) GetAll(ctx context.Context, keys []string) (map[string]backend.Object, error) {
	found := map[string]backend.Object{}
	byTable := map[string][]string{}
	reads := map[string]string{}
	for _, key := range keys {
		table, read, _ := s.home(key)
		byTable[table], reads[table] = append(byTable[table], s.prefix+key), read
	}
	for table, keys := range byTable {
		rows, _ := s.pool.Query(ctx, fmt.Sprintf(`SELECT substr(key, length($2::text) + 1), %s, %s, updated_at
			FROM %s WHERE key IN (SELECT key FROM (
				SELECT key, sum(pg_column_size(data)) OVER (ORDER BY key COLLATE "C") - pg_column_size(data) AS before
				FROM %[3]s WHERE key = ANY($1)) AS sizes WHERE before < $3)`, reads[table], version, table),
			pgx.QueryExecModeCacheDescribe, keys, s.prefix, most) // the error is also in rows
		var key string
		var o backend.Object
		if _, err := pgx.ForEachRow(rows, []any{&key, &o.Data, &o.Version, &o.Modified}, func() error {
			found[key] = o
			o = backend.Object{}
			return nil
		}); err != nil && code(err) != noTable {
			return nil, explain(err)
		}
	}
	return found, nil
}

// Put writes an object if the condition holds.
func (s *Store) Put(ctx context.Context, key string, data []byte, c backend.Condition) (string, error) {
	return s.put(ctx, key, data, c, nil)
}

// Delete removes an object, if there is one.
func (s *Store) Delete(ctx context.Context, key string) error { return s.remove(ctx, key, nil) }

// claim is the lease that a write requires.
type claim struct {
	key    string // with its prefix
	number int64
}

// fence returns the WITH clause before a write, and appends its parameters: it has a row if the lease still has its
// number, and always without a claim. The lease's row stays locked until the write is done; a write that waited for a
// run that takes over sees the new number. The space keeps the clause's name from being a table's.
func (s *Store) fence(c *claim, parameters *[]any) string {
	if c == nil {
		return `WITH "the fence" AS (SELECT 1)`
	}
	*parameters = append(*parameters, c.key, c.number)
	n := len(*parameters)
	return fmt.Sprintf(`WITH "the fence" AS MATERIALIZED (SELECT 1 FROM %s WHERE key = $%d AND number = $%d FOR SHARE)`,
		quoted(s.own), n-1, n)
}

func (s *Store) put(ctx context.Context, key string, data []byte, c backend.Condition, held *claim) (string, error) {
	table, _, write := s.home(key)
	columns, values, set := `key, data, updated_at`, `$1, `+write+`, clock_timestamp()`, `data = `+write+
		`, updated_at = clock_timestamp()`
	parameters := []any{s.prefix + key, content(key, data)}
	if !pulumis(key) {
		parameters = append(parameters, c.Number)
		columns, values, set = columns+`, number`, values+`, $3::bigint`, set+`, number = $3::bigint`
	}
	var change string
	if c.Version != "" {
		parameters = append(parameters, c.Version)
		change = fmt.Sprintf(`UPDATE %s SET %s FROM "the fence" WHERE key = $1 AND %s = $%d`, table, set, version,
			len(parameters))
	} else {
		change = fmt.Sprintf(`INSERT INTO %s (%s) SELECT %s FROM "the fence" ON CONFLICT (key) DO `, table, columns, values)
		if c.Absent {
			change += `NOTHING`
		} else {
			change += `UPDATE SET ` + set
		}
	}
	statement := s.fence(held, &parameters) + `, "the change" AS (` + change + ` RETURNING ` + version + ` AS version)
		SELECT (SELECT count(*) FROM "the fence"), (SELECT version FROM "the change")`
	for attempt := 0; ; attempt++ {
		var holds int
		var made *string
		err := s.pool.QueryRow(ctx, statement, parameters...).Scan(&holds, &made)
		switch {
		case code(err) == noTable && attempt == 0:
			if err := s.create(ctx); err != nil {
				return "", explain(err)
			}
			continue
		case err != nil:
			return "", explain(err)
		case holds == 0:
			return "", backend.ErrFenced
		case made == nil:
			return "", backend.ErrChanged
		}
		s.wake(ctx, key, c)
		return *made, nil
	}
}

func (s *Store) remove(ctx context.Context, key string, held *claim) error {
	table, _, _ := s.home(key)
	parameters := []any{s.prefix + key}
	statement := s.fence(held, &parameters) + `, "the change" AS (DELETE FROM ` + table +
		` USING "the fence" WHERE key = $1) SELECT count(*) FROM "the fence"`
	var holds int
	err := s.pool.QueryRow(ctx, statement, parameters...).Scan(&holds)
	switch {
	case code(err) == noTable:
		return nil
	case err != nil:
		return explain(err)
	case holds == 0:
		return backend.ErrFenced
	}
	return nil
}

// create creates both tables, the Pulumi CLI's as that creates it. The column number holds the number of a lease.
func (s *Store) create(ctx context.Context) error {
	table, index, own := quoted(s.table), quoted(s.table+"_key_prefix_idx"), quoted(s.own)
	for _, statement := range [...]string{
		`CREATE TABLE IF NOT EXISTS ` + table + ` (
			key TEXT PRIMARY KEY, data JSON NOT NULL, updated_at TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT now())`,
		`CREATE INDEX IF NOT EXISTS ` + index + ` ON ` + table + ` (key text_pattern_ops)`,
		`CREATE TABLE IF NOT EXISTS ` + own + ` (key TEXT COLLATE "C" PRIMARY KEY, data BYTEA NOT NULL, number BIGINT NOT NULL DEFAULT 0,
			updated_at TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT now())`,
	} {
		var err error
		for range 6 { // processes that create it at the same moment make each other fail
			_, err = s.pool.Exec(ctx, statement)
			if c := code(err); c != duplicate && c != there && c != thereToo {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// The SQLSTATE codes that the store handles.
const (
	noTable   = "42P01"
	duplicate = "23505"
	there     = "42P07"
	thereToo  = "42710" // for the row type of a table
	// notInThisMode is pgbouncer's answer to a transaction in statement mode.
	notInThisMode = "08P01"
)

func code(err error) string {
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		return answer.Code
	}
	return ""
}

// explain classifies an error as transient, permanent (backend.ErrRefused) or a missing object (fs.ErrNotExist). It
// does not wrap the cause of a transient error: a socket that is missing would be taken for a missing object.
func explain(err error) error {
	var answer *pgconn.PgError
	unknown := backend.NoHost(err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrNoRows):
		return fs.ErrNotExist
	case errors.Is(err, backend.ErrRefused):
		return err
	case unknown != nil:
		return unknown
	case !errors.As(err, &answer):
		return errors.New(err.Error())
	case passes(answer.Code):
		return errors.New(answer.Message)
	}
	text := answer.Message
	if answer.Code == "42501" {
		text += "; the user needs USAGE of the schema, and SELECT, INSERT, UPDATE and DELETE on both tables, or CREATE to " +
			"make them"
	}
	return refused(fmt.Errorf("%s (SQLSTATE %s)", text, answer.Code))
}

// refused returns err as a permanent error.
func refused(err error) error { return fmt.Errorf("%w: %w", backend.ErrRefused, err) }

// passes reports whether an error of the server is transient: it is about the connection, a server that starts, stops
// or is still a replica, too many connections, concurrent transactions, or an operator's intervention.
func passes(code string) bool {
	for _, class := range [...]string{"08", "40", "53", "55", "57", "58", "25006"} {
		if strings.HasPrefix(code, class) {
			return true
		}
	}
	return false
}
