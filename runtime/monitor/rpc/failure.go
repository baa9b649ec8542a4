package rpc

import (
	"context"
	"errors"
	"fmt"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"

	"github.com/yamlhost/yamlhost/internal/transport"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// The reasons in the details of an error, in yamlhost's domain.
const (
	domain         = "yamlhost"
	reasonShutdown = "SHUTDOWN" // the error wraps monitor.ErrShutdown
	reasonReported = "REPORTED" // the error wraps monitor.ErrReported
	reasonFailures = "FAILURES" // the error is a monitor.FailuresError; the failures follow
)

// statusOf encodes an error: the status code is for all callers, the details are for our own client.
func statusOf(err error) error {
	if err == nil {
		return nil
	}
	// Keep an error that is itself a status. A wrapped status, such as that of a plugin, is not our answer.
	if _, ok := err.(interface{ GRPCStatus() *status.Status }); ok {
		return err
	}
	code := codes.Unknown
	var details []protoadapt.MessageV1
	switch {
	case errors.Is(err, context.Canceled):
		code = codes.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		code = codes.DeadlineExceeded
	}
	if errors.Is(err, monitor.ErrReported) {
		details = append(details, &errdetails.ErrorInfo{Domain: domain, Reason: reasonReported})
	}
	if errors.Is(err, monitor.ErrShutdown) { // E2.8
		code = codes.Unavailable
		details = append(details, &errdetails.ErrorInfo{Domain: domain, Reason: reasonShutdown})
	}
	if failures, ok := errors.AsType[*monitor.FailuresError](err); ok {
		details = append(details, &errdetails.ErrorInfo{Domain: domain, Reason: reasonFailures,
			Metadata: map[string]string{"token": failures.Token}})
		list := &pulumirpc.InputPropertiesError{}
		for _, f := range failures.Failures {
			list.Errors = append(list.Errors, &pulumirpc.InputPropertiesError_PropertyError{PropertyPath: f.Property,
				Reason: f.Reason})
		}
		details = append(details, list)
	}
	return transport.Status(code, err.Error(), details...)
}

// remoteError is an error from the other side, with the original text and the errors that it wraps.
type remoteError struct {
	text  string
	wraps []error
	code  codes.Code
}

// isUnimplemented reports whether an engine does not implement a call.
func isUnimplemented(err error) bool {
	e, ok := errors.AsType[*remoteError](err)
	return ok && e.code == codes.Unimplemented
}

// Error returns the text.
func (e *remoteError) Error() string { return e.text }

// Unwrap returns the causes, for errors.Is and errors.As.
func (e *remoteError) Unwrap() []error { return e.wraps }

// errorOf decodes an error from the other side. An engine that is unreachable counts as shut down: it does nothing
// more.
func errorOf(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	s := status.Convert(err)
	e := &remoteError{text: s.Message(), code: s.Code()}
	var failures *monitor.FailuresError
	ours := false
	for _, detail := range s.Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			if d.GetDomain() != domain {
				continue
			}
			ours = true
			switch d.GetReason() {
			case reasonShutdown:
				e.wraps = append(e.wraps, monitor.ErrShutdown)
			case reasonReported:
				e.wraps = append(e.wraps, monitor.ErrReported)
			case reasonFailures:
				failures = &monitor.FailuresError{Token: d.GetMetadata()["token"]}
				e.wraps = append(e.wraps, failures)
			}
		case *pulumirpc.InputPropertiesError:
			for _, p := range d.GetErrors() {
				if failures != nil {
					failures.Failures = append(failures.Failures, monitor.Failure{Property: p.GetPropertyPath(),
						Reason: p.GetReason()})
					continue
				}
				e.text += fmt.Sprintf("\n  %s: %s", p.GetPropertyPath(), p.GetReason())
			}
		}
	}
	switch s.Code() {
	case codes.Unavailable:
		if !ours {
			e.wraps = append(e.wraps, monitor.ErrShutdown)
		}
	case codes.Canceled:
		e.wraps = append(e.wraps, context.Canceled)
	case codes.DeadlineExceeded:
		e.wraps = append(e.wraps, context.DeadlineExceeded)
	}
	if fault := ctx.Err(); fault != nil {
		e.wraps = append(e.wraps, fault)
	}
	return e
}
