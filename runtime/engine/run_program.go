package engine

import (
	"context"
	"errors"
	"time"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// runProgram runs the program to its end, or to the point where it asks for nothing more (E2.6).
func (op *operation) runProgram(program Program) {
	signal := op.beginProgram()
	ended := make(chan error, 1)
	go func() {
		defer op.guard()
		ended <- program(op.running, op.deployment)
	}()
	select {
	case err := <-ended:
		op.programEnded(err)
	case <-signal:
		op.closeRequests()
		op.deleter.deleteRest()
		// The program waits for all remaining work of the operation. That work ends before the stack's outputs are
		// registered.
		op.finishWaiting()
		op.programEnded(<-ended)
	case <-op.interrupted: // what it has asked for is let finish; the program itself need not end
		op.closeRequests()
		op.programEnded(lastOf(ended))
	}
	op.closeRequests()
}

// programGrace is how long a program may take to end once it is interrupted and nothing that it asked for is under way.
const programGrace = time.Second

// lastOf waits for a program that was interrupted. One that does not look at its context is left alone: it cannot ask
// for anything any more.
func lastOf(ended <-chan error) error {
	timer := time.NewTimer(programGrace)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		return context.Canceled
	}
}

// programEnded takes note of how the program ended (E2.7).
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
