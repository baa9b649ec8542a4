//go:build !lean

package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
)

// outcome is the result of one attempt at a job.
type outcome struct {
	state  rivertype.JobState // completed, cancelled, or available for another attempt
	result *Result            // nil if no command was run
	reason string             // is added to the job's errors; empty for none
	after  time.Duration      // delay before the next attempt
	counts bool               // reports whether the attempt counts towards maxAttempts
}

func cancelled(r *Result, reason string) outcome {
	return outcome{state: rivertype.JobStateCancelled, result: r, reason: reason}
}

// again returns the outcome of an attempt that does not count and is repeated after a delay.
func again(r *Result, after time.Duration) outcome {
	return outcome{state: rivertype.JobStateAvailable, result: r, after: after}
}

// failed returns the outcome of an attempt that counts. The next attempt follows after River's backoff, which grows
// with the number of errors. A job's errors also include dead workers, which must not lengthen the backoff.
func failed(row *rivertype.JobRow, r *Result, reason string) outcome {
	counted := *row
	counted.Errors = row.Errors[:min(len(row.Errors), max(0, row.Attempt-1))]
	after := time.Until((&river.DefaultClientRetryPolicy{}).NextRetry(&counted))
	return outcome{state: rivertype.JobStateAvailable, result: r, reason: reason, after: after, counts: true}
}

// outcomeOf converts the result of a command to the outcome of its job. unwanted reports whether the job was cancelled;
// interrupted, whether the command was interrupted by the cancellation, a lost lock or the end of the worker.
func outcomeOf(j *river.Job[Job], r *Result, unwanted, interrupted bool) outcome {
	switch text := fmt.Sprintf("ended with %d (%s)", r.Code, r.Name); {
	case Well(r.Code):
		return outcome{state: rivertype.JobStateCompleted, result: r}
	case unwanted || !Retry(j.Args.Command, r.Code):
		return cancelled(r, text+", which is not retried automatically")
	case interrupted: // this worker ends, or has lost the job; another worker continues at once
		return again(r, 0)
	default:
		return failed(j.JobRow, r, text)
	}
}

// plannedKey is the metadata key that stores Result.Planned in base64.
const plannedKey = "yamlhost_planned"

// planned returns the planned outputs of the jobs that job id needs, by the keys of their stacks.
func (q *Queue) planned(ctx context.Context, id int64) (map[string][]byte, error) {
	rows, _ := q.pool.Query(ctx, `SELECT args, decode(metadata->>$2, 'base64') FROM river_job WHERE metadata->>$2 <> ''
		AND id IN (SELECT jsonb_array_elements_text(metadata->'yamlhost_needs')::bigint FROM river_job WHERE id = $1)`,
		id, plannedKey) // the error is also in rows
	found := map[string][]byte{}
	var arguments, text []byte
	_, err := pgx.ForEachRow(rows, []any{&arguments, &text}, func() error {
		var j Job
		if err := json.Unmarshal(arguments, &j); err != nil {
			return err
		}
		found[j.Key()] = bytes.Clone(text)
		return nil
	})
	return found, err
}

// record stores the outcome of an attempt and retries until the database is reachable. While the worker shuts down, it
// gives up after five tries; another worker then takes the job.
func (w *worker) record(ctx context.Context, row *rivertype.JobRow, o outcome) {
	ctx = context.WithoutCancel(ctx)
	wait, last := 100*time.Millisecond, 5
	for {
		owner, err := w.queue.conclude(ctx, row, o)
		if err == nil {
			w.concluded(row.ID, owner, o)
			return
		}
		w.tell("how job %d ended cannot be recorded yet: %v", row.ID, err)
		if said := (*pgconn.PgError)(nil); errors.As(err, &said) && strings.HasPrefix(said.Code, "22") { // it can never be stored
			o = cancelled(nil, "the database refuses the result: "+said.Message)
		}
		if closed(w.stopping) {
			if last--; last == 0 {
				return
			}
		}
		time.Sleep(wait)
		wait = min(2*wait, 5*time.Second)
	}
}

// concluded triggers the chores of keepHouse after a job. If another worker owns the job, the chores wait for their
// regular time: otherwise the job would be given back repeatedly while workers are about to take its lock.
func (w *worker) concluded(id int64, owner bool, o outcome) {
	if !owner {
		if o.result != nil {
			w.tell("job %d was given to another worker: its result is not recorded here", id)
		}
		return
	}
	select {
	case w.ended <- struct{}{}:
	default: // already triggered
	}
}

// concludeTime bounds the time to store an outcome in the database.
const concludeTime = 30 * time.Second

// conclude stores the outcome of an attempt unless another attempt has taken over the job: a worker that is slow or
// lost its session may finish late. An attempt is identified by its start time. owner reports whether the outcome was
// stored.
func (q *Queue) conclude(ctx context.Context, row *rivertype.JobRow, o outcome) (owner bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, concludeTime)
	defer cancel()
	err = pgx.BeginFunc(ctx, q.pool, func(tx pgx.Tx) error {
		var wanted bool
		err := tx.QueryRow(ctx, `SELECT NOT metadata ? 'cancel_attempted_at' FROM river_job WHERE id = $1 AND
			state = 'running' AND attempted_at = $2 FOR UPDATE`, row.ID, row.AttemptedAt).Scan(&wanted)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		owner = true
		return write(ctx, tx, row, o, o.next(row, wanted))
	})
	return owner && err == nil, err
}

// next returns the next state of a job. wanted is false for a cancelled job.
func (o *outcome) next(row *rivertype.JobRow, wanted bool) rivertype.JobState {
	switch {
	case o.state != rivertype.JobStateAvailable:
		return o.state
	case !wanted:
		return rivertype.JobStateCancelled
	case o.counts && row.Attempt >= row.MaxAttempts:
		return rivertype.JobStateDiscarded
	}
	return o.state
}

// write updates the row of a job that the transaction has locked.
func write(ctx context.Context, tx pgx.Tx, row *rivertype.JobRow, o outcome, state rivertype.JobState) error {
	more := []byte("{}")
	var fault []byte
	var err error
	if o.result != nil {
		more, err = json.Marshal(map[string]any{rivertype.MetadataKeyOutput: o.result, plannedKey: o.result.Planned})
		if err != nil {
			return err
		}
	}
	if o.reason != "" {
		text := strings.ReplaceAll(strings.ToValidUTF8(o.reason, "\uFFFD"), "\x00", "")
		fault, err = json.Marshal(rivertype.AttemptError{At: time.Now().UTC(), Attempt: row.Attempt, Error: text})
		if err != nil {
			return err
		}
	}
	attempt := row.Attempt
	if state == rivertype.JobStateAvailable && !o.counts {
		attempt--
	}
	_, err = tx.Exec(ctx, `UPDATE river_job SET state = $2::text::river_job_state, attempt = $3,
		metadata = metadata || $4::jsonb,
		errors = CASE WHEN $5::jsonb IS NULL THEN errors ELSE array_append(errors, $5::jsonb) END,
		finalized_at = CASE WHEN $2::text <> 'available' THEN now() END,
		scheduled_at = CASE WHEN $2::text <> 'available' THEN scheduled_at ELSE now() + $6::interval END
		WHERE id = $1`, row.ID, string(state), attempt, more, fault, max(0, o.after))
	return err
}

// workerDriver is River's driver, except that River does not record the end of a job: River finds a job by its number
// alone, so an old attempt would end the current one. Attempts record their own outcomes (see conclude). River still
// records jobs that it cannot hand to a worker.
type workerDriver struct{ *riverpgxv5.Driver }

// GetExecutor returns River's executor, which does not record the ends of executed jobs.
func (d workerDriver) GetExecutor() riverdriver.Executor {
	return workerExecutor{d.Driver.GetExecutor()}
}

type workerExecutor struct{ riverdriver.Executor }

// JobSetStateIfRunningMany skips jobs that River considers completed: Work returns nil after it has itself recorded the
// outcome.
func (e workerExecutor) JobSetStateIfRunningMany(ctx context.Context,
	params *riverdriver.JobSetStateIfRunningManyParams) ([]*rivertype.JobRow, error) {
	rest := *params
	rest.ID = make([]int64, len(params.ID)) // no job has the number 0
	left := false
	for i, id := range params.ID {
		if params.State[i] != rivertype.JobStateCompleted {
			rest.ID[i], left = id, true
		}
	}
	if !left {
		return nil, nil
	}
	return e.Executor.JobSetStateIfRunningMany(ctx, &rest)
}

// rescue gives back the jobs of dead workers: jobs that have been running for longer than grace and whose lock is free.
func (q *Queue) rescue(ctx context.Context, grace time.Duration) error {
	rows, _ := q.pool.Query(ctx, `SELECT id FROM river_job WHERE kind = $1 AND state = 'running' AND
		attempted_at < now() - $2::interval`, Job{}.Kind(), grace) // the error is also in rows
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := q.rescueOne(ctx, id, grace); err != nil {
			return err
		}
	}
	return nil
}

// rescueOne makes a job available again unless its lock is taken. The attempt does not count. A cancelled job becomes
// cancelled instead.
func (q *Queue) rescueOne(ctx context.Context, id int64, grace time.Duration) error {
	return pgx.BeginFunc(ctx, q.pool, func(tx pgx.Tx) error {
		var free bool
		err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock($1, $2)`, jobLocks, int32(id)).Scan(&free)
		if err != nil || !free {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE river_job SET scheduled_at = now(),
			state = CASE WHEN metadata ? 'cancel_attempted_at' THEN 'cancelled' ELSE 'available' END::river_job_state,
			finalized_at = CASE WHEN metadata ? 'cancel_attempted_at' THEN now() END,
			attempt = GREATEST(attempt - 1, 0), errors = array_append(errors, jsonb_build_object('at', now(), 'attempt', attempt,
				'error', 'its worker ' || COALESCE(attempted_by[array_length(attempted_by, 1)], '') || ' is gone', 'trace', ''))
			WHERE id = $1 AND state = 'running' AND attempted_at < now() - $2::interval`, id, grace)
		return err
	})
}
