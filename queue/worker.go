//go:build !lean

package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
)

// WorkerOptions say what a worker does.
type WorkerOptions struct {
	Name  string   // for people; unique among workers that live at the same time
	Jobs  int      // at the same time
	Allow []string // sources; see Allows
	Env   []string // of git
	Run   Runner
	Grace time.Duration // how long a job may be without its worker's lock before it goes to another; 0 for 15 seconds
	Tell  func(text string)
	// Archives are where the files of jobs are that name an archive; nil for a worker that allows none.
	Archives Archives
	Folder   string // where files of projects are put; empty for the system's folder of temporary files
}

// Work takes jobs until the context ends, and then waits for those that are under way, which it interrupts.
func (q *Queue) Work(ctx context.Context, o WorkerOptions) error {
	if o.Grace == 0 {
		o.Grace = 15 * time.Second
	}
	w := &worker{queue: q, options: o, locks: &locks{done: map[int64]*alive{}}}
	workers := river.NewWorkers()
	river.AddWorker(workers, &stackWorker{worker: w})
	client, err := river.NewClient(q.driver, &river.Config{
		ID: o.Name, Logger: silent, Workers: workers, JobTimeout: -1,
		// The lock of a job says whether its worker lives; River's own clock is for the case that nobody looks at locks.
		RescueStuckJobsAfter: 7 * 24 * time.Hour, CompletedJobRetentionPeriod: 7 * 24 * time.Hour,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: o.Jobs}},
	})
	if err != nil {
		return fmt.Errorf("work on the queue: %w", err)
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	w.stopping = ctx.Done()
	if err := client.Start(life); err != nil {
		return fmt.Errorf("work on the queue: %w", err)
	}
	ended, unsubscribe := client.Subscribe(river.EventKindJobCompleted, river.EventKindJobFailed,
		river.EventKindJobCancelled, river.EventKindJobSnoozed)
	defer unsubscribe()
	var chores sync.WaitGroup
	chores.Go(func() { w.keepHouse(life, ended) })
	<-ctx.Done()
	err = client.Stop(life) // waits for jobs under way
	end()
	chores.Wait()
	w.locks.releaseAll()
	return err
}

// worker takes jobs.
type worker struct {
	queue    *Queue
	options  WorkerOptions
	locks    *locks
	stopping <-chan struct{} // closed when it is to end
}

func (w *worker) tell(format string, args ...any) {
	if w.options.Tell != nil {
		w.options.Tell(fmt.Sprintf(format, args...))
	}
}

// stackWorker is the worker as River knows it.
type stackWorker struct {
	river.WorkerDefaults[Job]
	*worker
}

// Work carries a job out. An error has it tried again, with backoff; a cancellation ends it.
func (w *stackWorker) Work(ctx context.Context, r *river.Job[Job]) error {
	j := r.Args
	if err := j.Check(); err != nil {
		return river.JobCancel(err)
	}
	if !Allows(w.options.Allow, j.Source) {
		return river.JobCancel(fmt.Errorf("the worker %s does not allow %s", w.options.Name, j.Source))
	}
	alive, got, err := w.queue.hold(ctx, r.ID, r.AttemptedAt, j)
	if err != nil {
		return err
	}
	if !got { // no slot of its environment is free, or another worker has it after all
		return river.JobSnooze(time.Second)
	}
	defer w.locks.over(r.ID, alive)
	dir, err := os.MkdirTemp(w.options.Folder, "yamlhost-job-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := w.fetch(ctx, j.Source, dir); err != nil {
		return err
	}
	interrupt := make(chan struct{})
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-ctx.Done(): // somebody cancels the job
		case <-alive.lost: // it is another worker's now, or will be
		case <-w.stopping:
		case <-over:
			return
		}
		close(interrupt)
	})
	w.tell("%s of %s begins (job %d, attempt %d)", j.Command, j.Key(), r.ID, r.Attempt)
	result := w.options.Run(context.WithoutCancel(ctx), j, filepath.Join(dir, filepath.FromSlash(j.Path)), interrupt)
	close(over)
	watching.Wait()
	result.Worker = w.options.Name
	w.tell("%s of %s ended: %s (job %d)", j.Command, j.Key(), result.Name, r.ID)
	if err := river.RecordOutput(ctx, result); err != nil {
		return err
	}
	stopped := ctx.Err() == nil && closed(interrupt)
	switch {
	case Well(result.Code):
		return nil
	case stopped && Retry(j.Command, result.Code): // this worker ends; another one goes on at once
		return river.JobSnooze(0)
	case Retry(j.Command, result.Code) && ctx.Err() == nil:
		return fmt.Errorf("ended with %d (%s)", result.Code, result.Name)
	}
	return river.JobCancel(fmt.Errorf("ended with %d (%s), which is not tried again by itself", result.Code, result.Name))
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// fetch puts the files of a source into an empty folder.
func (w *worker) fetch(ctx context.Context, s Source, dir string) error {
	if s.Archive != "" {
		if w.options.Archives == nil {
			return errors.New("this worker has no backend to take archives from")
		}
		return unpack(w.options.Archives, s.Archive, dir)
	}
	for _, args := range [][]string{{"init", "--quiet"}, {"fetch", "--quiet", "--depth", "1", "--", s.Git, s.Commit},
		{"checkout", "--quiet", "--detach", "FETCH_HEAD"}} {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(append([]string(nil), w.options.Env...), "GIT_TERMINAL_PROMPT=0",
			"GIT_ALLOW_PROTOCOL=https:ssh:git:file")
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("fetch %s: %w: %s", s, err, strings.TrimSpace(said.String()))
		}
	}
	return nil
}

// keepHouse lets jobs go on whose needs are completed, ends those whose needs have failed, and gives those of dead
// workers to others. Every worker does so; the statements are the same no matter who comes first.
func (w *worker) keepHouse(ctx context.Context, ended <-chan *river.Event) {
	timer := time.NewTicker(time.Second)
	defer timer.Stop()
	for {
		err := errors.Join(w.locks.release(ctx, w.queue), w.queue.release(ctx), w.queue.rescue(ctx, w.options.Grace),
			w.queue.due(ctx))
		if w.options.Archives != nil {
			err = errors.Join(err, w.queue.tidy(ctx, w.options.Archives))
		}
		if err != nil && ctx.Err() == nil {
			w.tell("the queue cannot be kept in order: %v", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ended:
		case <-timer.C:
		}
	}
}

// release lets jobs go on whose needs are completed, and cancels those whose needs never will be.
func (q *Queue) release(ctx context.Context) error {
	const need = `SELECT 1 FROM jsonb_array_elements_text(j.metadata->'yamlhost_needs') AS n
		JOIN river_job d ON d.id = n::bigint WHERE d.state`
	released, err := q.pool.Exec(ctx, `UPDATE river_job j SET state = 'available', scheduled_at = now()
		WHERE j.kind = $1 AND j.state = 'pending' AND NOT EXISTS (`+need+` <> 'completed')`, Job{}.Kind())
	if err == nil && released.RowsAffected() > 0 {
		err = q.callWorkers(ctx)
	}
	if err != nil {
		return err
	}
	_, err = q.pool.Exec(ctx, `UPDATE river_job j SET state = 'cancelled', finalized_at = now(), errors = array_append(
			errors, jsonb_build_object('at', now(), 'attempt', attempt, 'error', 'what it needs has failed', 'trace', ''))
		WHERE j.kind = $1 AND j.state = 'pending' AND EXISTS (`+need+` IN ('cancelled', 'discarded'))`, Job{}.Kind())
	return err
}

// callWorkers has workers look for jobs now, as River does itself when it inserts some. They look each second anyway.
func (q *Queue) callWorkers(ctx context.Context) error {
	return q.driver.GetExecutor().NotifyMany(ctx, &riverdriver.NotifyManyParams{Topic: "river_insert",
		Payload: []string{`{"queue": "` + river.QueueDefault + `"}`}})
}

// rescue gives jobs back whose workers are gone: they run, and nobody has their lock.
func (q *Queue) rescue(ctx context.Context, grace time.Duration) error {
	return q.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		rows, err := c.Query(ctx, `SELECT id FROM river_job WHERE kind = $1 AND state = 'running' AND
			attempted_at < now() - $2::interval`, Job{}.Kind(), grace)
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := rescueOne(ctx, c, id, grace); err != nil {
				return err
			}
		}
		return nil
	})
}

// rescueOne gives a job back, unless somebody has its lock. The attempt does not count.
func rescueOne(ctx context.Context, c *pgxpool.Conn, id int64, grace time.Duration) error {
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		var free bool
		err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock($1, $2)`, jobLocks, int32(id)).Scan(&free)
		if err != nil || !free {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE river_job SET state = 'available', scheduled_at = now(),
			attempt = GREATEST(attempt - 1, 0), errors = array_append(errors, jsonb_build_object('at', now(), 'attempt', attempt,
				'error', 'its worker ' || COALESCE(attempted_by[array_length(attempted_by, 1)], '') || ' is gone', 'trace', ''))
			WHERE id = $1 AND state = 'running' AND attempted_at < now() - $2::interval`, id, grace)
		return err
	})
}
