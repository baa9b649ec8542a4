//go:build !lean

package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/yamlhost/yamlhost/runtime/backend"
)

// held is the store for the holder of a lease. Each of its writes checks the number of the lease. In addition, a
// session of its own holds an advisory lock while the process is connected: administrators see in pg_locks who works on
// which stack, and a run that takes over ends that session. It is safe for concurrent use.
type held struct {
	*Store
	lease string // key of the lease object
	claim *claim

	end  context.CancelFunc
	done chan struct{}
}

var _ backend.Held = (*held)(nil)

var errHeld = errors.New("another session holds the advisory lock on the stack")

// Hold takes the advisory lock on the key of a lease. A session that still has that lock belongs to a run that has lost
// the lease: Hold ends it, so that its statements in flight have no effect.
func (s *Store) Hold(ctx context.Context, lease string, number int64) (backend.Held, error) {
	h := &held{Store: s, lease: lease, claim: &claim{s.prefix + lease, number}, done: make(chan struct{})}
	c, err := h.session(ctx)
	if err != nil {
		return nil, explain(err)
	}
	if err := h.take(ctx, c); err != nil {
		closeNow(c)
		return nil, explain(err)
	}
	life, end := context.WithCancel(context.Background())
	h.end = end
	go h.keep(life, c)
	return h, nil
}

// Put writes an object if the condition holds and the lease still has its number. For the lease object itself only the
// condition counts.
func (h *held) Put(ctx context.Context, key string, data []byte, c backend.Condition) (string, error) {
	if key == h.lease {
		return h.put(ctx, key, data, c, nil)
	}
	return h.put(ctx, key, data, c, h.claim)
}

// Delete removes an object if the lease still has its number.
func (h *held) Delete(ctx context.Context, key string) error { return h.remove(ctx, key, h.claim) }

// Release gives the advisory lock back.
func (h *held) Release() {
	h.end()
	<-h.done
}

// session opens a connection outside of the pool.
func (h *held) session(ctx context.Context) (*pgx.Conn, error) {
	c, err := pgx.ConnectConfig(ctx, h.connect)
	if err != nil {
		return nil, err
	}
	if err := h.prepare(ctx, c); err != nil {
		closeNow(c)
		return nil, err
	}
	return c, nil
}

func closeNow(c *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.Close(ctx) // the server ends the session in any case
}

// lockNumber returns the number of the advisory lock: a hash of table and key, because the numbers of advisory locks
// are shared by the whole database.
func (h *held) lockNumber(ctx context.Context, c *pgx.Conn) (int64, error) {
	var table uint32
	if err := c.QueryRow(ctx, `SELECT to_regclass($1)::oid`, quoted(h.own)).Scan(&table); err != nil {
		return 0, err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "yamlhost %d %s", table, h.claim.key))
	return int64(binary.BigEndian.Uint64(sum[:])), nil
}

func (h *held) try(ctx context.Context, c *pgx.Conn, number int64) error {
	var got bool
	err := c.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, number).Scan(&got)
	if err == nil && !got {
		err = errHeld
	}
	return err
}

// take takes the advisory lock, and ends any session that has it.
func (h *held) take(ctx context.Context, c *pgx.Conn) error {
	number, err := h.lockNumber(ctx, c)
	if err != nil {
		return err
	}
	for range 100 {
		if err := h.try(ctx, c, number); !errors.Is(err, errHeld) {
			return err
		}
		_, err := c.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND classid = (($1::bigint >> 32) & 4294967295)::oid AND objid = ($1::bigint & 4294967295)::oid`, number)
		if err != nil {
			return fmt.Errorf("end the session of the run before: %w", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return errHeld
}

// mine reports whether the lease still has its number.
func (h *held) mine(ctx context.Context, c *pgx.Conn) (mine bool, err error) {
	err = c.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM `+quoted(h.own)+` WHERE key = $1 AND number = $2)`,
		h.claim.key, h.claim.number).Scan(&mine)
	return mine, err
}

// keep opens a new session whenever the session ends, until Release or until another run has the lease. The end of a
// session does not end the run: only the lease decides who may write. If another session has the advisory lock while
// the lease is still this run's, the server has not noticed yet that an earlier session of this run is gone.
func (h *held) keep(ctx context.Context, c *pgx.Conn) {
	defer close(h.done)
	for pause := time.Duration(0); ; pause = time.Second {
		for c != nil {
			if _, err := c.WaitForNotification(ctx); err != nil {
				closeNow(c)
				c, pause = nil, 0
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		next, err := h.session(ctx)
		if err != nil {
			continue
		}
		mine, err := h.mine(ctx, next)
		if err == nil && !mine { // the run that ended the session has the lease now, and needs the advisory lock
			closeNow(next)
			return
		}
		var number int64
		if err == nil {
			number, err = h.lockNumber(ctx, next)
		}
		if err == nil {
			err = h.try(ctx, next, number)
		}
		if err != nil {
			closeNow(next)
			continue
		}
		c = next
	}
}

var _ backend.Waking = (*Store)(nil)

// channel is notified when a lease is released. The payload names the lease.
const channel = "yamlhost_lease"

// payload names a lease in a notification.
func (s *Store) payload(key string) string { return s.table + " " + s.prefix + key }

// wake notifies waiting processes that a lease has been released. Without the notification they find out later, because
// they also poll.
func (s *Store) wake(ctx context.Context, key string, c backend.Condition) {
	if c.Number == 0 && path.Base(key) == "lease.json" {
		_, _ = s.pool.Exec(ctx, `SELECT pg_notify($1, $2)`, channel, s.payload(key))
	}
}

// Wakes listens on a connection of its own for the release of a lease; see backend.Waking.
func (s *Store) Wakes(ctx context.Context, key string) (<-chan struct{}, func(), error) {
	c, err := pgx.ConnectConfig(ctx, s.connect)
	if err != nil {
		return nil, nil, explain(err)
	}
	if _, err := c.Exec(ctx, `LISTEN `+channel); err != nil {
		closeNow(c)
		return nil, nil, explain(err)
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	wakes, done := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(done)
		defer closeNow(c)
		for {
			n, err := c.WaitForNotification(life)
			if err != nil {
				return // the waiting process also polls
			}
			if n.Payload != s.payload(key) {
				continue
			}
			select {
			case wakes <- struct{}{}:
			default:
			}
		}
	}()
	return wakes, func() { end(); <-done }, nil
}
