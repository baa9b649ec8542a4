//go:build !lean

package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// minimum is the shortest time between two submissions of a schedule.
const minimum = time.Minute

// Schedule submits the same jobs again and again, for the first time now. One of the same name is replaced. files are
// kept for as long as the schedule is there; nil for none.
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

// Schedules are all schedules, by name.
func (q *Queue) Schedules(ctx context.Context) ([]*Schedule, error) {
	rows, err := q.pool.Query(ctx, `SELECT name, extract(epoch FROM every)::bigint, next, submission FROM yamlhost_schedules
		ORDER BY name`)
	if err != nil {
		return nil, fmt.Errorf("read the schedules: %w", err)
	}
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

// endSchedule ends a schedule, and reports whether there was one. Jobs that it has submitted go on.
func (q *Queue) endSchedule(ctx context.Context, name string) (bool, error) {
	ended, err := q.pool.Exec(ctx, `DELETE FROM yamlhost_schedules WHERE name = $1`, name)
	return ended.RowsAffected() > 0, err
}

// due submits what is due. Of several workers one does.
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
