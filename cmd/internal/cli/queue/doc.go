// Package queue has the commands of machines that share work: worker, and queue with what it lists and cancels.
package queue
