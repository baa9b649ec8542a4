//go:build !lean

package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
)

// Queue is a queue in a database. It is safe for concurrent use.
type Queue struct {
	pool   *pgxpool.Pool
	driver *riverpgxv5.Driver
	client *river.Client[pgx.Tx] // inserts and cancels jobs; it runs none
}

// silent discards River's log: everything relevant is recorded in the jobs.
var silent = slog.New(slog.DiscardHandler)

// tables creates our own tables, for the archives to remove later and for the schedules, and an index on River's table.
const tables = `
CREATE TABLE IF NOT EXISTS yamlhost_files (digest text PRIMARY KEY);
CREATE TABLE IF NOT EXISTS yamlhost_schedules (name text PRIMARY KEY, every interval NOT NULL,
	next timestamptz NOT NULL, submission jsonb NOT NULL);
CREATE INDEX IF NOT EXISTS yamlhost_runs ON river_job ((metadata->>'yamlhost_run'))`

// tablesLock prevents two processes from creating the tables at the same time.
const tablesLock = 0x79616d6c71756575

// Open opens the queue in a database and creates missing tables. Errors contain no passwords.
func Open(ctx context.Context, url string) (*Queue, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("--queue takes postgres://…, and this URL cannot be read")
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the queue: %w", err)
	}
	q := &Queue{pool: pool, driver: riverpgxv5.New(pool)}
	if err := q.prepare(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("open the queue: %w", err)
	}
	return q, nil
}

func (q *Queue) prepare(ctx context.Context) error {
	migrator, err := rivermigrate.New(q.driver, &rivermigrate.Config{Logger: silent})
	if err != nil {
		return err
	}
	lock, err := q.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer lock.Release()
	if _, err := lock.Exec(ctx, `SELECT pg_advisory_lock($1)`, int64(tablesLock)); err != nil {
		return err
	}
	defer func() { // the end of the session releases the lock too
		_, _ = lock.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, int64(tablesLock))
	}()
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	if _, err := lock.Exec(ctx, tables); err != nil {
		return err
	}
	q.client, err = river.NewClient(q.driver, &river.Config{Logger: silent})
	return err
}

// Close ends the connections.
func (q *Queue) Close() { q.pool.Close() }

// metadata is the part of a job's metadata that Submit writes.
type metadata struct {
	Run   string  `json:"yamlhost_run"`
	Needs []int64 `json:"yamlhost_needs,omitempty"`
}

// maxAttempts limits the attempts at a failing job. Attempts of dead workers do not count.
const maxAttempts = 4

// Submit puts all jobs or none into the queue and returns their numbers. It stores files first; files may be nil.
func (q *Queue) Submit(ctx context.Context, s Submission, files *Files) ([]int64, error) {
	var ids []int64
	err := q.bringing(ctx, files, func(c *pgxpool.Conn) error {
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) (err error) {
			ids, err = q.submit(ctx, tx, s)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("put jobs into the queue: %w", err)
	}
	return ids, nil
}

func (q *Queue) submit(ctx context.Context, tx pgx.Tx, s Submission) ([]int64, error) {
	ids := make([]int64, len(s.Jobs))
	for i, j := range s.Jobs {
		if err := j.Check(); err != nil {
			return nil, fmt.Errorf("%s: %w", j.Key(), err)
		}
		m := metadata{Run: j.Run}
		for _, need := range s.Needs[i] {
			m.Needs = append(m.Needs, ids[need])
		}
		text, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		inserted, err := q.client.InsertTx(ctx, tx, j, &river.InsertOpts{Priority: s.Priority, Metadata: text,
			Pending: len(m.Needs) > 0, MaxAttempts: maxAttempts})
		if err != nil {
			return nil, err
		}
		ids[i] = inserted.Job.ID
	}
	return ids, nil
}

// List returns the last jobs of a run, or of all runs if run is empty, in the order of their numbers. It returns at
// most the given number of jobs.
func (q *Queue) List(ctx context.Context, run string, most int) ([]*Entry, error) {
	return q.entries(ctx, `SELECT id FROM river_job WHERE kind = $1 AND ($2 = '' OR metadata->>'yamlhost_run' = $2)
		ORDER BY id DESC LIMIT $3`, Job{}.Kind(), run, most)
}

// Show returns one job.
func (q *Queue) Show(ctx context.Context, id int64) (*Entry, error) {
	found, err := q.entries(ctx, `SELECT id FROM river_job WHERE kind = $1 AND id = $2`, Job{}.Kind(), id)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("there is no job %d", id)
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

func (q *Queue) entries(ctx context.Context, which string, args ...any) ([]*Entry, error) {
	rows, _ := q.pool.Query(ctx, `SELECT id, args, metadata, state::text, priority, attempt, max_attempts, scheduled_at,
		created_at, finalized_at, COALESCE((SELECT array_agg(e->>'error' ORDER BY n) FROM unnest(errors) WITH ORDINALITY AS t(e, n)), '{}')
		FROM river_job WHERE id IN (`+which+`) ORDER BY id`, args...) // the error is also in rows
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*Entry, error) {
		e := &Entry{}
		var arguments, more []byte
		var state string
		var next time.Time
		var ended *time.Time
		err := row.Scan(&e.ID, &arguments, &more, &state, &e.Priority, &e.Attempt, &e.Attempts, &next, &e.Created,
			&ended, &e.Errors)
		if err != nil {
			return nil, err
		}
		var m struct {
			metadata
			Output *Result `json:"output"`
		}
		if err := errors.Join(json.Unmarshal(arguments, &e.Job), json.Unmarshal(more, &m)); err != nil {
			return nil, err
		}
		e.Needs, e.Result = m.Needs, m.Output
		if ended != nil {
			e.Ended = *ended
		}
		if e.State = stateOf(rivertype.JobState(state), e.Result); e.State == Waiting && len(e.Errors) > 0 {
			e.Next = next
		}
		return e, nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the queue: %w", err)
	}
	return found, nil
}

// stateOf converts River's state. A cancelled job with a failed result counts as failed.
func stateOf(s rivertype.JobState, r *Result) State {
	switch s {
	case rivertype.JobStateRunning:
		return Running
	case rivertype.JobStateCompleted:
		return Done
	case rivertype.JobStateDiscarded:
		return Failed
	case rivertype.JobStateCancelled:
		if r != nil && !Well(r.Code) {
			return Failed
		}
		return Cancelled
	}
	return Waiting
}

// Cancel ends a job by its number, or by name a schedule and all unfinished jobs of a run. A running job completes its
// current steps and begins no further ones.
func (q *Queue) Cancel(ctx context.Context, name string) (ended Ended, err error) {
	var list []*Entry
	if id, fault := strconv.ParseInt(name, 10, 64); fault == nil {
		var one *Entry
		if one, err = q.Show(ctx, id); err == nil {
			list = []*Entry{one}
		}
	} else if ended.Schedule, err = q.endSchedule(ctx, name); err == nil {
		list, err = q.List(ctx, name, 1<<20)
	}
	if err != nil {
		return ended, err
	}
	if len(list) == 0 && !ended.Schedule {
		return ended, fmt.Errorf("there is no job, run or schedule %q", name)
	}
	slices.Reverse(list) // dependants first
	for _, e := range list {
		if e.Over() {
			continue
		}
		if _, err := q.client.JobCancel(ctx, e.ID); err != nil {
			return ended, fmt.Errorf("cancel job %d: %w", e.ID, err)
		}
		ended.Jobs++
	}
	return ended, nil
}

// Follow calls told once for each ended job of a run, and each time that a job waits for another attempt after a fault.
// It returns when all have ended, and loads only jobs of which there is news.
func (q *Queue) Follow(ctx context.Context, run string, told func(*Entry)) error {
	over := map[int64]bool{}
	faults := map[int64]int{} // by job, how many are known
	timer := time.NewTicker(300 * time.Millisecond)
	defer timer.Stop()
	for {
		rows, _ := q.pool.Query(ctx, `SELECT id, finalized_at IS NOT NULL, COALESCE(cardinality(errors), 0)
			FROM river_job WHERE kind = $1 AND metadata->>'yamlhost_run' = $2`, Job{}.Kind(), run) // the error is also in rows
		var id int64
		var ended bool
		var count int
		left := 0
		var news []int64
		_, err := pgx.ForEachRow(rows, []any{&id, &ended, &count}, func() error {
			if !ended {
				left++
			}
			if ended && !over[id] || !ended && count > faults[id] {
				over[id], faults[id] = ended, count
				news = append(news, id)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("read the queue: %w", err)
		}
		if len(news) > 0 {
			list, err := q.entries(ctx, `SELECT unnest($1::bigint[])`, news)
			if err != nil {
				return err
			}
			for _, e := range list {
				over[e.ID] = over[e.ID] || e.Over() // it may have ended since
				told(e)
			}
		}
		if left == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		}
	}
}

// minimum is the shortest interval of a schedule.
const minimum = time.Minute

// Schedule submits the same jobs repeatedly, for the first time now. It replaces a schedule of the same name. files, if
// not nil, are stored as long as the schedule exists.
func (q *Queue) Schedule(ctx context.Context, name string, every time.Duration, s Submission, files *Files) error {
	if every < minimum {
		return fmt.Errorf("a schedule needs an interval of at least a minute, not %s", every)
	}
	for _, j := range s.Jobs {
		if err := j.Check(); err != nil {
			return fmt.Errorf("%s: %w", j.Key(), err)
		}
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return q.bringing(ctx, files, func(c *pgxpool.Conn) error {
		_, err := c.Exec(ctx, `INSERT INTO yamlhost_schedules (name, every, next, submission) VALUES ($1, $2, now(), $3)
			ON CONFLICT (name) DO UPDATE SET every = $2, next = now(), submission = $3`, name, every, text)
		return err
	})
}

// Schedules returns all schedules, by name.
func (q *Queue) Schedules(ctx context.Context) ([]*Schedule, error) {
	rows, _ := q.pool.Query(ctx, `SELECT name, extract(epoch FROM every)::bigint, next, submission FROM yamlhost_schedules
		ORDER BY name`) // the error is also in rows
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*Schedule, error) {
		s := &Schedule{}
		var submission []byte
		if err := row.Scan(&s.Name, &s.Every, &s.Next, &submission); err != nil {
			return nil, err
		}
		return s, json.Unmarshal(submission, s)
	})
	if err != nil {
		return nil, fmt.Errorf("read the schedules: %w", err)
	}
	return found, nil
}

// endSchedule deletes a schedule and reports whether it existed. Its submitted jobs continue.
func (q *Queue) endSchedule(ctx context.Context, name string) (bool, error) {
	ended, err := q.pool.Exec(ctx, `DELETE FROM yamlhost_schedules WHERE name = $1`, name)
	return ended.RowsAffected() > 0, err
}

// due submits the jobs of one schedule that is due, if any. Row locks keep other workers from submitting them too.
func (q *Queue) due(ctx context.Context) error {
	return pgx.BeginFunc(ctx, q.pool, func(tx pgx.Tx) error {
		var name string
		var text []byte
		var now time.Time
		err := tx.QueryRow(ctx, `UPDATE yamlhost_schedules SET next = now() + every WHERE name = (
			SELECT name FROM yamlhost_schedules WHERE next <= now() ORDER BY next LIMIT 1 FOR UPDATE SKIP LOCKED)
			RETURNING name, submission, now()`).Scan(&name, &text, &now)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		var s Submission
		if err := json.Unmarshal(text, &s); err != nil {
			return fmt.Errorf("the schedule %s is damaged: %w", name, err)
		}
		for i := range s.Jobs {
			s.Jobs[i].Run = fmt.Sprintf("%s-%s", name, now.UTC().Format("20060102T150405"))
		}
		_, err = q.submit(ctx, tx, s)
		return err
	})
}
