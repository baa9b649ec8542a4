// Package queue implements the commands worker, which runs jobs from a queue, and queue, which lists and cancels jobs.
package queue
