//go:build !lean

package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// alive is the lock of a running job. It has its own database session.
type alive struct {
	conn *pgx.Conn
	lost chan struct{} // closed when the session ends without release
	end  context.CancelFunc
	done chan struct{}
}

// The classes of the advisory locks on jobs and on slots of environments.
const (
	jobLocks  = 0x796a6f62
	slotLocks = 0x79736c6f
)

// hold takes the lock of a job and a slot of its environment. begun is the start time of the attempt. It returns nil if
// the lock or all slots are taken, or if another attempt has replaced this one.
func (q *Queue) hold(ctx context.Context, id int64, begun *time.Time, j Job) (*alive, error) {
	conn, err := pgx.ConnectConfig(ctx, q.pool.Config().ConnConfig.Copy())
	if err != nil {
		return nil, err
	}
	got := false
	try := func(query string, args ...any) {
		if err == nil {
			err = conn.QueryRow(ctx, query, args...).Scan(&got)
		}
	}
	_, err = conn.Exec(ctx, `SELECT set_config('tcp_keepalives_idle', '10', false),
		set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false)`)
	try(`SELECT pg_try_advisory_lock($1, $2)`, jobLocks, int32(id))
	if err == nil && got {
		try(`SELECT EXISTS (SELECT 1 FROM river_job WHERE id = $1 AND state = 'running' AND attempted_at = $2)`, id, begun)
	}
	if err == nil && got && j.Environment != "" && j.Slots > 0 {
		got = false
		for slot := 0; slot < j.Slots && !got && err == nil; slot++ {
			try(`SELECT pg_try_advisory_lock($1, hashtext($2))`, slotLocks, fmt.Sprintf("%s/%d", j.Environment, slot))
		}
	}
	if err != nil || !got {
		_ = conn.Close(context.WithoutCancel(ctx)) // on failure the server ends the session and releases its locks
		return nil, err
	}
	life, end := context.WithCancel(context.Background())
	a := &alive{conn: conn, lost: make(chan struct{}), end: end, done: make(chan struct{})}
	go a.watch(life)
	return a, nil
}

// watch waits for the end of the session.
func (a *alive) watch(ctx context.Context) {
	defer close(a.done)
	for {
		if _, err := a.conn.WaitForNotification(ctx); err != nil {
			if ctx.Err() == nil {
				close(a.lost)
			}
			return
		}
	}
}

// release ends the session, which releases the locks.
func (a *alive) release() {
	a.end()
	<-a.done
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = a.conn.Close(ctx) // on failure the server ends the session
}
