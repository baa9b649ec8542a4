//go:build !lean

package postgres

import (
	"context"
	"path"

	"github.com/jackc/pgx/v5"

	"github.com/yamlhost/yamlhost/runtime/backend"
)

var _ backend.Waking = (*Store)(nil)

// channel is notified when a lease is released. The payload names the lease.
const channel = "yamlhost_lease"

// payload names a lease in a notification.
func (s *Store) payload(key string) string { return s.table + " " + s.prefix + key }

// wake notifies processes that wait for a lease that it has been released. They ask again in any case, only later.
func (s *Store) wake(ctx context.Context, key string, c backend.Condition) {
	if c.Number == 0 && path.Base(key) == "lease.json" {
		_, _ = s.pool.Exec(ctx, `SELECT pg_notify($1, $2)`, channel, s.payload(key))
	}
}

// Wakes listens, on a connection of its own, for the end of a lease.
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
				return // who waits asks now and then
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
