//go:build !lean

package queue

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// alive is the lock of a job under way, in a session of its own.
type alive struct {
	conn *pgx.Conn
	lost chan struct{} // closed when the session has ended by itself
	end  context.CancelFunc
	done chan struct{}
}

// The classes of the advisory locks: jobs and slots of environments.
const (
	jobLocks  = 0x796a6f62
	slotLocks = 0x79736c6f
)

// hold takes the lock of a job that was begun at a time, and a slot of its environment; got is false when one of them
// is taken, or when the job was given to another worker before its lock was taken.
func (q *Queue) hold(ctx context.Context, id int64, begun *time.Time, j Job) (a *alive, got bool, err error) {
	conn, err := pgx.ConnectConfig(ctx, q.pool.Config().ConnConfig.Copy())
	if err != nil {
		return nil, false, err
	}
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
		_ = conn.Close(context.WithoutCancel(ctx)) // the server ends the session, and its locks, in any case
		return nil, false, err
	}
	life, end := context.WithCancel(context.Background())
	a = &alive{conn: conn, lost: make(chan struct{}), end: end, done: make(chan struct{})}
	go a.watch(life)
	return a, true, nil
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

// release ends the session, and with it the locks.
func (a *alive) release() {
	a.end()
	<-a.done
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = a.conn.Close(ctx) // the server ends the session in any case
}

// locks are those of jobs that a worker has carried out and that the database still has as running: River writes down
// a little later how they ended. Without its lock such a job would look like one whose worker is gone.
type locks struct {
	mu   sync.Mutex
	done map[int64]*alive // by job; guarded by mu
}

// over takes note of a job that was carried out.
func (l *locks) over(id int64, a *alive) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if before := l.done[id]; before != nil {
		before.release()
	}
	l.done[id] = a
}

// release gives the locks back of jobs that the database does not have as running any more.
func (l *locks) release(ctx context.Context, q *Queue) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.done) == 0 {
		return nil
	}
	rows, err := q.pool.Query(ctx, `SELECT id FROM unnest($1::bigint[]) AS id WHERE NOT EXISTS (
		SELECT 1 FROM river_job j WHERE j.id = id.id AND j.state = 'running')`, slices.Collect(maps.Keys(l.done)))
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	for _, id := range ids {
		l.done[id].release()
		delete(l.done, id)
	}
	return err
}

// releaseAll gives all locks back.
func (l *locks) releaseAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, a := range l.done {
		a.release()
		delete(l.done, id)
	}
}
