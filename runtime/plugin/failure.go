package plugin

import (
	"context"
	"errors"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"

	"github.com/yamlhost/yamlhost/internal/transport"
	"github.com/yamlhost/yamlhost/internal/value/wire"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// errorOf decodes the error that a plugin returned (E3.50, F2.22). client.fail handles a plugin that has ended.
func errorOf(err error) *provider.Error {
	s := status.Convert(err)
	e := &provider.Error{Message: unframed(s.Message()), Cause: err}
	if s.Code() == codes.Canceled {
		e.Cause = errors.Join(context.Canceled, err)
	}
	switch s.Code() {
	case codes.Internal, codes.DataLoss, codes.Unknown,
		codes.Canceled, codes.DeadlineExceeded: // whichever side gave up, the plugin may have begun the operation
		e.Outcome = provider.Unclear
	case codes.Unimplemented:
		e.Unimplemented = true
	}
	for _, detail := range s.Details() {
		switch d := detail.(type) {
		case *pulumirpc.ErrorResourceInitFailed:
			e.Outcome = provider.Partial
			e.Message = "" // the provider's text repeats the reasons
			e.ID, e.RefreshBeforeUpdate = d.GetId(), d.GetRefreshBeforeUpdate()
			for _, reason := range d.GetReasons() {
				e.Reasons = append(e.Reasons, unframed(reason))
			}
			var faults [2]error
			decoding := wire.Options{KeepSecrets: true, KeepResources: true} // unknown values are left out
			e.Outputs, faults[0] = decoding.Decode(d.GetProperties())
			e.Inputs, faults[1] = decoding.Decode(d.GetInputs())
			if fault := errors.Join(faults[:]...); fault != nil {
				e.Reasons = append(e.Reasons, "the provider's description of the error cannot be read: "+fault.Error())
			}
		case *pulumirpc.InputPropertiesError:
			for _, p := range d.GetErrors() {
				e.Properties = append(e.Properties, provider.Failure{Property: p.GetPropertyPath(),
					Reason: p.GetReason()})
			}
		case *pulumirpc.ErrorCause:
			if e.Message == "" {
				e.Message = d.GetMessage()
			}
		case *pulumirpc.ConfigureErrorMissingKeys:
			e.Message = missingKeys(d)
		}
	}
	return e
}

// unframed removes the text that github.com/hashicorp/go-multierror writes around a single error, as many providers do.
func unframed(text string) string {
	before, alone, framed := strings.Cut(text, "1 error occurred:\n\t* ")
	if !framed {
		return text
	}
	return before + strings.TrimSpace(alone)
}

func missingKeys(d *pulumirpc.ConfigureErrorMissingKeys) string {
	text := ""
	for _, key := range d.GetMissingKeys() {
		text += "missing required configuration key \"" + key.GetName() + "\": " + key.GetDescription() +
			"\nset it with `yamlhost config set " + key.GetName() + " VALUE`\n"
	}
	return text
}

// statusOf is the reverse of errorOf: it encodes a provider's failure for an engine.
func statusOf(err error, encoding wire.Options) error {
	if err == nil {
		return nil
	}
	var e *provider.Error
	if !errors.As(err, &e) {
		switch {
		case errors.Is(err, context.Canceled):
			return status.Error(codes.Canceled, err.Error())
		case errors.Is(err, context.DeadlineExceeded):
			return status.Error(codes.DeadlineExceeded, err.Error())
		}
		if _, ok := err.(interface{ GRPCStatus() *status.Status }); ok {
			return err
		}
		return status.Error(codes.Unknown, err.Error())
	}
	code := codes.FailedPrecondition
	var details []protoadapt.MessageV1
	switch {
	case e.Unimplemented:
		code = codes.Unimplemented
	case e.Outcome == provider.Partial:
		code = codes.Unknown
		d := &pulumirpc.ErrorResourceInitFailed{Id: e.ID, Reasons: e.Reasons,
			RefreshBeforeUpdate: e.RefreshBeforeUpdate}
		var fault error
		if d.Properties, fault = encoding.Encode(e.Outputs); fault == nil {
			d.Inputs, fault = encoding.Encode(e.Inputs)
		}
		if fault != nil {
			return status.Error(codes.Unknown, e.Error()+"\n"+fault.Error())
		}
		details = append(details, d)
	case e.Outcome == provider.Unclear:
		code = codes.Unknown
	case len(e.Properties) > 0:
		code = codes.InvalidArgument
	}
	if len(e.Properties) > 0 {
		d := &pulumirpc.InputPropertiesError{}
		for _, p := range e.Properties {
			d.Errors = append(d.Errors, &pulumirpc.InputPropertiesError_PropertyError{PropertyPath: p.Property,
				Reason: p.Reason})
		}
		details = append(details, d)
	}
	return transport.Status(code, e.Error(), details...)
}
