//go:build !lean

package queue

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"

	"github.com/yamlhost/yamlhost/internal/git"
)

// Work executes jobs until ctx ends, then interrupts running jobs and waits for them.
func (q *Queue) Work(ctx context.Context, o WorkerOptions) (err error) {
	if o.Grace == 0 {
		o.Grace = 15 * time.Second
	}
	w := &worker{queue: q, options: o, ended: make(chan struct{}, 1)}
	folder, release, err := ownFolder(o.Folder)
	if err != nil {
		return fmt.Errorf("make a folder for the files of jobs: %w", err)
	}
	defer func() { err = errors.Join(err, release()) }()
	w.copies = &copies{folder: folder, most: o.Jobs, fetch: w.fetch}
	workers := river.NewWorkers()
	river.AddWorker(workers, &stackWorker{worker: w})
	client, err := river.NewClient(workerDriver{q.driver}, &river.Config{
		ID: o.Name, Logger: silent, Workers: workers, JobTimeout: -1,
		// A job's lock shows whether its worker is alive; River's own limit matters only if no worker checks the locks.
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
	var chores sync.WaitGroup
	chores.Go(func() { w.keepHouse(life) })
	<-ctx.Done()
	err = client.Stop(life) // waits for running jobs
	end()
	chores.Wait()
	return err
}

type worker struct {
	queue    *Queue
	options  WorkerOptions
	stopping <-chan struct{} // closed when the worker has to end
	copies   *copies
	ended    chan struct{} // receives a value after the end of a job; capacity 1
}

func (w *worker) tell(format string, args ...any) {
	if w.options.Tell != nil {
		w.options.Tell(fmt.Sprintf(format, args...))
	}
}

// stackWorker implements river.Worker.
type stackWorker struct {
	river.WorkerDefaults[Job]
	*worker
}

// Work executes a job and stores its outcome before it releases the job's lock. It always returns nil, for which River
// records nothing (see workerDriver).
func (w *stackWorker) Work(ctx context.Context, r *river.Job[Job]) error {
	if o, refused := w.refuse(r.Args); refused {
		w.record(ctx, r.JobRow, o)
		return nil
	}
	lock, err := w.queue.hold(ctx, r.ID, r.AttemptedAt, r.Args)
	if err != nil {
		w.tell("job %d waits: %v", r.ID, err)
	}
	if lock == nil { // no free slot in its environment, or another worker has the job
		w.record(ctx, r.JobRow, again(nil, time.Second))
		return nil
	}
	defer lock.release()
	w.record(ctx, r.JobRow, w.attempt(ctx, r, lock))
	return nil
}

// refuse returns the outcome of a job that the worker must not execute, and reports whether j is one.
func (w *stackWorker) refuse(j Job) (o outcome, refused bool) {
	if err := j.Check(); err != nil {
		return cancelled(nil, err.Error()), true
	}
	if !Allows(w.options.Allow, j.Source) {
		return cancelled(nil, fmt.Sprintf("the worker %s does not allow %s", w.options.Name, j.Source)), true
	}
	return o, false
}

// attempt executes a job. The caller holds the job's lock.
func (w *stackWorker) attempt(ctx context.Context, r *river.Job[Job], lock *alive) (o outcome) {
	j := r.Args
	defer func() {
		if fault := recover(); fault != nil {
			o = failed(r.JobRow, nil, fmt.Sprintf("a fault of the program: %v\n%s", fault, debug.Stack()))
		}
	}()
	files, err := w.copies.take(ctx, j.Source)
	if err != nil {
		return failed(r.JobRow, nil, err.Error())
	}
	defer w.copies.give(files)
	if j.Command == "preview" {
		if j.Planned, err = w.queue.planned(ctx, r.ID); err != nil {
			return failed(r.JobRow, nil, fmt.Sprintf("read the jobs that it needs: %v", err))
		}
	}
	interrupt := make(chan struct{})
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-ctx.Done(): // the job was cancelled
		case <-lock.lost: // another worker has taken the job, or will take it
		case <-w.stopping:
		case <-done:
			return
		}
		close(interrupt)
	})
	endWatch := sync.OnceFunc(func() { close(done); watching.Wait() })
	defer endWatch()
	w.tell("%s of %s begins (job %d, attempt %d)", j.Command, j.Key(), r.ID, r.Attempt)
	result := w.options.Run(context.WithoutCancel(ctx), j, filepath.Join(files.dir, filepath.FromSlash(j.Path)),
		interrupt)
	endWatch()
	result.Worker = w.options.Name
	w.tell("%s of %s ended: %s (job %d)", j.Command, j.Key(), result.Name, r.ID)
	return outcomeOf(r, &result, ctx.Err() != nil, closed(interrupt))
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// fetch copies the files of a source into an empty folder.
func (w *worker) fetch(ctx context.Context, s Source, dir string) error {
	if s.Archive != "" {
		if w.options.Archives == nil {
			return errors.New("this worker has no backend to take archives from")
		}
		return unpack(w.options.Archives, s.Archive, dir)
	}
	if err := git.Fetch(ctx, dir, w.options.Env, s.Git, s.Commit, true); err != nil {
		return fmt.Errorf("fetch %s: %w", s, err)
	}
	return nil
}

// keepHouse maintains the queue once a second and after each job: it releases waiting jobs, gives back the jobs of dead
// workers, submits scheduled jobs and removes unused archives. Every worker does so.
func (w *worker) keepHouse(ctx context.Context) {
	timer := time.NewTicker(time.Second)
	defer timer.Stop()
	for {
		err := errors.Join(w.queue.release(ctx), w.queue.rescue(ctx, w.options.Grace), w.queue.due(ctx))
		if w.options.Archives != nil {
			err = errors.Join(err, w.queue.tidy(ctx, w.options.Archives))
		}
		if err != nil && ctx.Err() == nil {
			w.tell("maintain the queue: %v", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-w.ended:
		case <-timer.C:
		}
	}
}

// release makes jobs available when all their needs are completed, and cancels jobs with a failed need.
func (q *Queue) release(ctx context.Context) error {
	const need = `SELECT 1 FROM jsonb_array_elements_text(j.metadata->'yamlhost_needs') AS n
		JOIN river_job d ON d.id = n::bigint WHERE d.state`
	released, err := q.pool.Exec(ctx, `UPDATE river_job j SET state = 'available', scheduled_at = now()
		WHERE j.kind = $1 AND j.state = 'pending' AND NOT EXISTS (`+need+` <> 'completed')`, Job{}.Kind())
	if err == nil && released.RowsAffected() > 0 { // notify workers as River does; else they poll
		err = q.driver.GetExecutor().NotifyMany(ctx, &riverdriver.NotifyManyParams{Topic: "river_insert",
			Payload: []string{`{"queue": "` + river.QueueDefault + `"}`}})
	}
	if err != nil {
		return err
	}
	_, err = q.pool.Exec(ctx, `UPDATE river_job j SET state = 'cancelled', finalized_at = now(), errors = array_append(
			errors, jsonb_build_object('at', now(), 'attempt', attempt, 'error', 'what it needs has failed', 'trace', ''))
		WHERE j.kind = $1 AND j.state = 'pending' AND EXISTS (`+need+` IN ('cancelled', 'discarded'))`, Job{}.Kind())
	return err
}
