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
	// connections is the largest number of connections of a process, not counting those outside of the pool.
	connections = 4
	// patience is the default of connect_timeout.
	patience = 10 * time.Second
)

// Known returns the schemes that this build can open.
func Known() []string { return []string{Scheme} }

// Open opens the database of a URL (F6.18). It sends no request yet; the first write creates the tables. lookup
// supplies libpq's variables. Error messages contain no passwords.
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
	// Statements are not prepared: short processes would gain nothing. Get and GetAll choose a mode that reads data in
	// binary form.
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

// withoutSettings returns the reason why settings cannot be used, without the settings: they may contain a password.
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
	if pid != c.PgConn().PID() && !s.sessions.Load() { // there is a pooler in between
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

// refusePooler returns an error if the connection c does not keep its session, which is the server process pid. It
// opens a transaction on a second connection. If the pooler shares sessions, that transaction either runs in pid too,
// or c now gets another process, or none.
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
	} // else no session is free, which happens only if the pooler keeps them
	now, err := process(c)
	if now != pid && (err == nil || errors.Is(err, context.DeadlineExceeded)) {
		return refused(&PoolerError{})
	}
	return err
}
