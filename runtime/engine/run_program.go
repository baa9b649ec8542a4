package engine

import (
	"context"
	"errors"
	"time"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// runProgram runs the program until it returns or signals that it makes no further requests (E2.6).
func (op *operation) runProgram(program Program) {
	signal := op.gate.beginProgram()
	ended := make(chan error, 1)
	go func() {
		defer op.guard()
		ended <- program(op.running, op.deployment)
	}()
	select {
	case err := <-ended:
		op.programEnded(err)
	case <-signal:
		op.gate.closeRequests()
		op.deleter.deleteRest()
		// The program waits for all remaining work of the operation. That work ends before the stack's outputs are
		// registered.
		op.gate.finishWaiting()
		op.programEnded(<-ended)
	case <-op.interrupted: // its requests in progress are completed; the program itself need not end
		op.gate.closeRequests()
		op.programEnded(lastOf(ended))
	}
	op.gate.closeRequests()
}

// programGrace is how long an interrupted program may take to return after its last request has completed.
const programGrace = time.Second

// lastOf returns the error of an interrupted program. It stops waiting after programGrace for a program that ignores
// its context; the monitor refuses all further requests anyway.
func lastOf(ended <-chan error) error {
	select {
	case err := <-ended:
		return err
	case <-time.After(programGrace):
		return context.Canceled
	}
}

// programEnded records and reports the program's error, if any (E2.7).
func (op *operation) programEnded(err error) {
	switch {
	case err == nil:
	case errors.Is(err, monitor.ErrReported), errors.Is(err, monitor.ErrShutdown), errors.Is(err, context.Canceled):
		op.programFailed.Store(true)
		if errors.Is(err, monitor.ErrReported) {
			op.report.failed.Store(true)
		}
	default:
		op.programFailed.Store(true)
		op.report.message(Message{Severity: diag.Error, Text: "an unhandled error occurred: " + err.Error()})
	}
}
