//go:build lean

package queue

import (
	"context"
	"errors"
	"time"
)

var errLean = errors.New("this is the lean edition of yamlhost, which has no queue")

// Queue is a queue in a database, which the lean edition cannot open.
type Queue struct{}

// Open fails.
func Open(context.Context, string) (*Queue, error) { return nil, errLean }

// Close does nothing.
func (*Queue) Close() {}

// Submit fails.
func (*Queue) Submit(context.Context, Submission, *Files) ([]int64, error) { return nil, errLean }

// List fails.
func (*Queue) List(context.Context, string, int) ([]*Entry, error) { return nil, errLean }

// Show fails.
func (*Queue) Show(context.Context, int64) (*Entry, error) { return nil, errLean }

// Schedules fails.
func (*Queue) Schedules(context.Context) ([]*Schedule, error) { return nil, errLean }

// Cancel fails.
func (*Queue) Cancel(context.Context, string) (Ended, error) { return Ended{}, errLean }

// Follow fails.
func (*Queue) Follow(context.Context, string, func(*Entry)) error { return errLean }

// Schedule fails.
func (*Queue) Schedule(context.Context, string, time.Duration, Submission, *Files) error {
	return errLean
}

// Work fails.
func (*Queue) Work(context.Context, WorkerOptions) error { return errLean }
