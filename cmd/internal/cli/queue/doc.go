// Package queue implements the commands queue, which lists and cancels jobs (queue.go), and worker, which runs them
// (worker.go). The queue itself is in runtime/queue.
package queue
