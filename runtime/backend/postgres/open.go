//go:build !lean

package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/yamlhost/yamlhost/runtime/backend"
)

const (
	// connections is how many one process has at most, beside the one that holds the lock of a stack.
	connections = 4
	// patience is how long a connection may take to come about, unless connect_timeout says otherwise.
	patience = 10 * time.Second
)

// Known returns the schemes that this build can open.
func Known() []string { return []string{Scheme} }

// Open opens the database of a URL (F6.18). Nothing is asked of it yet, and nothing is made before something is
// written. lookup has libpq's variables. Error messages have no passwords in them.
func Open(ctx context.Context, rawURL string, lookup Lookup) (backend.Objects, error) {
	t, err := parse(rawURL, lookup)
	if err != nil {
		return nil, err
	}
	text, err := t.text()
	if err != nil {
		return nil, fmt.Errorf("open the backend %s: %w", t.name, err)
	}
	config, err := pgxpool.ParseConfig(text)
	if err != nil {
		return nil, fmt.Errorf("open the backend %s: %w", t.name, withoutSettings(err))
	}
	// One way for each statement: nothing is prepared, which short processes would not gain from. Get asks for bytes as
	// bytes.
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.MaxConns, config.MinConns, config.MaxConnIdleTime = connections, 0, time.Minute
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = patience
	}
	s := &Store{table: t.table, own: t.table + ownSuffix, prefix: t.prefix, connect: config.ConnConfig.Copy()}
	config.AfterConnect = s.prepare
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("open the backend %s: %w", t.name, err)
	}
	return s, nil
}

// withoutSettings returns why settings cannot be used, without the settings.
func withoutSettings(err error) error {
	if malformed, ok := errors.AsType[*pgconn.ParseConfigError](err); ok {
		if cause := errors.Unwrap(malformed); cause != nil {
			return cause
		}
		return errors.New("its parameters, or libpq's variables, cannot be used")
	}
	return err
}

// prepare sets the parameters of a new connection: an acknowledged write is on disk, a statement that waits for a
// lock gives up after a time, and the server notices within half a minute that a client's machine is gone.
func (s *Store) prepare(ctx context.Context, c *pgx.Conn) error {
	var pid uint32
	if err := c.QueryRow(ctx, `SELECT pg_backend_pid()`).Scan(&pid); err != nil {
		return err
	}
	if pid != c.PgConn().PID() && !s.sessions.Load() { // somebody stands between
		if err := s.refusePooler(ctx, c, pid); err != nil {
			return err
		}
		s.sessions.Store(true)
	}
	_, err := c.Exec(ctx, `SELECT set_config('lock_timeout', '15s', false), set_config('tcp_keepalives_idle', '10', false),
		set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false),
		set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
			ELSE current_setting('synchronous_commit') END, false)`)
	return err
}

// PoolerError is returned when a connection pooler gives each transaction another connection.
type PoolerError struct{}

func (*PoolerError) Error() string {
	return "a connection pooler in transaction mode stands before the database: it gives every transaction " +
		"another connection, so a run would lose its lock. Connect to the server itself, or to a pool in " +
		"session mode (pool_mode = session)"
}

// refusePooler returns an error if a connection does not keep its session, whose server process is pid. It opens a
// transaction on a second connection: a pooler that shares sessions has then given that one this process, or has to
// give this connection another process, or none.
func (s *Store) refusePooler(ctx context.Context, c *pgx.Conn, pid uint32) error {
	const turn = 3 * time.Second
	process := func(c *pgx.Conn, statements ...string) (pid uint32, err error) {
		ctx, cancel := context.WithTimeout(ctx, turn)
		defer cancel()
		for _, statement := range statements {
			if _, err := c.Exec(ctx, statement, pgx.QueryExecModeSimpleProtocol); err != nil {
				return 0, err
			}
		}
		return pid, c.QueryRow(ctx, `SELECT pg_backend_pid()`, pgx.QueryExecModeSimpleProtocol).Scan(&pid)
	}
	config := s.connect.Copy()
	config.ConnectTimeout = turn
	joining, giveUp := context.WithTimeout(ctx, turn)
	rival, err := pgx.ConnectConfig(joining, config)
	giveUp()
	if err == nil {
		defer closeNow(rival)
		if other, err := process(rival, `BEGIN`); err == nil && other == pid || code(err) == notInThisMode {
			return refused(&PoolerError{})
		}
	} // else all sessions are taken, which only those that are kept can be
	now, err := process(c)
	if now != pid && (err == nil || errors.Is(err, context.DeadlineExceeded)) {
		return refused(&PoolerError{})
	}
	return err
}
