package plugin

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/internal/value/wire"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// views receives the steps that plugins report for views of resources (E4.114). Each call that may have views gets a
// token, which is valid during the call. It is safe for concurrent use.
type views struct {
	pulumirpc.UnimplementedResourceStatusServer

	byToken sync.Map // of *provider.Views
}

// PublishViewSteps passes on the steps that a plugin reports.
func (v *views) PublishViewSteps(ctx context.Context, r *pulumirpc.PublishViewStepsRequest) (
	*pulumirpc.PublishViewStepsResponse, error) {
	all, found := v.byToken.Load(r.GetToken())
	if !found {
		return nil, status.Error(codes.NotFound, "the token belongs to no call in progress")
	}
	steps := make([]provider.ViewStep, len(r.GetSteps()))
	for i, s := range r.GetSteps() {
		var err error
		if steps[i], err = viewStepOf(s); err != nil {
			return nil, status.Errorf(codes.InvalidArgument, "step %d: %s", i+1, err)
		}
	}
	if len(steps) == 0 {
		return &pulumirpc.PublishViewStepsResponse{}, nil
	}
	if err := all.(*provider.Views).Publish(ctx, steps); err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	return &pulumirpc.PublishViewStepsResponse{}, nil
}

// begin encodes values into the fields of a step's request. If the caller wants views, the request gets the address and
// a token for them. The caller calls end at the end of the step, and then no longer uses the request.
func (c *configured) begin(request proto.Message, v *provider.Views, parts ...sent) (end func(), err error) {
	if err := c.encodeInto(request, parts...); err != nil {
		return nil, err
	}
	if v == nil {
		return func() { wire.Recycle(request) }, nil
	}
	address, err := c.host.EngineAddress()
	if err != nil {
		return nil, err
	}
	token, m := rand.Text(), request.ProtoReflect()
	fields := m.Descriptor().Fields()
	m.Set(fields.ByName("resource_status_address"), protoreflect.ValueOfString(address))
	m.Set(fields.ByName("resource_status_token"), protoreflect.ValueOfString(token))
	for _, old := range v.Old {
		view := &pulumirpc.View{Type: old.Type, Name: old.Name, ParentType: old.ParentType, ParentName: old.ParentName}
		if err := c.encodeInto(view,
			sent{"inputs of a view", old.Inputs.MapOrEmpty(), c.elided(withoutUnknowns), "inputs"},
			sent{"outputs of a view", old.Outputs.MapOrEmpty(), c.elided(withoutUnknowns), "outputs"},
		); err != nil {
			return nil, err
		}
		if field := fields.ByName("old_views"); field != nil { // a new resource had none
			m.Mutable(field).List().Append(protoreflect.ValueOfMessage(view.ProtoReflect()))
		}
	}
	c.host.views.byToken.Store(token, v)
	return func() {
		c.host.views.byToken.Delete(token)
		wire.Recycle(request)
	}, nil
}

// viewOp returns our name of an operation.
func viewOp(op pulumirpc.ViewStep_Op) string {
	switch op {
	case pulumirpc.ViewStep_READ_DISCARD:
		return "discard"
	case pulumirpc.ViewStep_UNSPECIFIED:
		return ""
	}
	return strings.ReplaceAll(strings.ToLower(op.String()), "_", "-")
}

func viewOpMessage(op string) pulumirpc.ViewStep_Op {
	for number := range pulumirpc.ViewStep_Op_name {
		if viewOp(pulumirpc.ViewStep_Op(number)) == op {
			return pulumirpc.ViewStep_Op(number)
		}
	}
	return pulumirpc.ViewStep_UNSPECIFIED
}

func viewStepOf(s *pulumirpc.ViewStep) (provider.ViewStep, error) {
	step := provider.ViewStep{Op: viewOp(s.GetOp()), Error: s.GetError(), Keys: s.GetKeys(), Diffs: s.GetDiffs()}
	if step.Op == "" {
		return step, fmt.Errorf("it names no operation")
	}
	switch s.GetStatus() {
	case pulumirpc.ViewStep_PARTIAL_FAILURE:
		step.Outcome = provider.Partial
	case pulumirpc.ViewStep_UNKNOWN:
		step.Outcome = provider.Unclear
	}
	step.Detailed = diffOf(&pulumirpc.DiffResponse{HasDetailedDiff: s.GetHasDetailedDiff(),
		DetailedDiff: s.GetDetailedDiff()}).Detailed
	var err error
	if step.Old, err = viewOf(s.GetOld()); err != nil {
		return step, err
	}
	if step.New, err = viewOf(s.GetNew()); err != nil {
		return step, err
	}
	if step.Old == nil && step.New == nil {
		return step, fmt.Errorf("it names no resource")
	}
	return step, nil
}

func viewStepMessage(s provider.ViewStep) (*pulumirpc.ViewStep, error) {
	m := &pulumirpc.ViewStep{Op: viewOpMessage(s.Op), Error: s.Error, Keys: s.Keys, Diffs: s.Diffs,
		HasDetailedDiff: s.Detailed != nil, DetailedDiff: detailedMessages(s.Detailed)}
	switch s.Outcome {
	case provider.Partial:
		m.Status = pulumirpc.ViewStep_PARTIAL_FAILURE
	case provider.Unclear:
		m.Status = pulumirpc.ViewStep_UNKNOWN
	case provider.NothingHappened:
	}
	for _, side := range []struct {
		view *provider.View
		dst  **pulumirpc.ViewStepState
	}{{s.Old, &m.Old}, {s.New, &m.New}} {
		v := side.view
		if v == nil {
			continue
		}
		state := &pulumirpc.ViewStepState{Type: v.Type, Name: v.Name, ParentType: v.ParentType,
			ParentName: v.ParentName}
		encoding := wire.Options{KeepUnknowns: true, KeepSecrets: true, KeepResources: true}
		if err := encodeTo(encoding, v.Inputs.MapOrEmpty(), state, "inputs"); err != nil {
			return nil, err
		}
		if err := encodeTo(encoding, v.Outputs.MapOrEmpty(), state, "outputs"); err != nil {
			return nil, err
		}
		*side.dst = state
	}
	return m, nil
}

// viewMessage is the common part of all messages about a view.
type viewMessage interface {
	GetType() string
	GetName() string
	GetParentType() string
	GetParentName() string
	GetInputs() *structpb.Struct
	GetOutputs() *structpb.Struct
}

func readView(m viewMessage) (provider.View, error) {
	v := provider.View{Type: m.GetType(), Name: m.GetName(), ParentType: m.GetParentType(),
		ParentName: m.GetParentName()}
	if v.Type == "" || v.Name == "" {
		return v, fmt.Errorf("a view needs a type and a name")
	}
	decoding := response(withUnknowns)
	inputs, err := decoding.Decode(m.GetInputs())
	if err != nil {
		return v, fmt.Errorf("inputs of %s: %w", v.Name, err)
	}
	outputs, err := decoding.Decode(m.GetOutputs())
	if err != nil {
		return v, fmt.Errorf("outputs of %s: %w", v.Name, err)
	}
	v.Inputs, v.Outputs = inputs.MapOrEmpty(), outputs.MapOrEmpty()
	return v, nil
}

func viewOf(m *pulumirpc.ViewStepState) (*provider.View, error) {
	if m == nil {
		return nil, nil
	}
	v, err := readView(m)
	return &v, err
}

// publisher lets a served provider report its views. It connects for the first report, since few resources have views
// and a connection costs more than the call. The caller calls release at the end of the call.
func publisher(address, token string, old []*pulumirpc.View) (_ *provider.Views, release func(), err error) {
	if address == "" || token == "" {
		return nil, func() {}, nil
	}
	var once sync.Once // connects once
	var conn *grpc.ClientConn
	failed := status.Error(codes.FailedPrecondition, "the call that has these views is over")
	v := &provider.Views{Publish: func(ctx context.Context, steps []provider.ViewStep) error {
		request := &pulumirpc.PublishViewStepsRequest{Token: token}
		for _, s := range steps {
			m, err := viewStepMessage(s)
			if err != nil {
				return err
			}
			request.Steps = append(request.Steps, m)
		}
		once.Do(func() {
			var err error
			if conn, err = dial(address, nil); err != nil {
				failed = status.Error(codes.InvalidArgument, err.Error())
			}
		})
		if conn == nil {
			return errorOf(failed)
		}
		_, err := pulumirpc.NewResourceStatusClient(conn).PublishViewSteps(ctx, request)
		if err != nil {
			return errorOf(err)
		}
		return nil
	}}
	for _, m := range old {
		view, err := readView(m)
		if err != nil {
			return nil, nil, status.Error(codes.InvalidArgument, err.Error())
		}
		v.Old = append(v.Old, view)
	}
	return v, func() {
		once.Do(func() {}) // no connection after this
		if conn != nil {
			_ = conn.Close() // all calls have been answered
		}
	}, nil
}
