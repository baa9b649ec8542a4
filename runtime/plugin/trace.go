package plugin

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/internal/value/wire"
)

// tracer writes a JSON line when a call starts and one when it ends (F2.39). Secrets are masked: those marked in a
// message, and every text that was ever sent as part of a secret, since many plugins get secrets as plain text. It is
// safe for concurrent use.
type tracer struct {
	mu      sync.Mutex // guards out, and keeps lines whole
	out     io.Writer
	secrets mask.Masker
}

type traceLine struct {
	Method    string            `json:"method"`
	Request   any               `json:"request,omitempty"`
	Response  any               `json:"response,omitempty"`
	Errors    []string          `json:"errors,omitempty"`
	Metadata  map[string]string `json:"metadata"`
	Progress  string            `json:"progress"`
	Timestamp string            `json:"timestamp"`
	Duration  string            `json:"duration,omitempty"`
}

// intercept is the interceptor for gRPC.
func (t *tracer) intercept(
	ctx context.Context, method string, request, response any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
	options ...grpc.CallOption,
) error {
	begin := time.Now()
	line := traceLine{Method: method, Metadata: map[string]string{"mode": "client"},
		Timestamp: begin.Format(time.RFC3339Nano)}
	line.Request, line.Progress = t.hidden(request), "request_started"
	t.write(line)
	err := invoke(ctx, method, request, response, conn, options...)
	line.Progress, line.Duration = "response_completed", time.Since(begin).String()
	line.Timestamp = time.Now().Format(time.RFC3339Nano)
	if err != nil {
		line.Errors = []string{t.secrets.Hide(status.Convert(err).Message())}
	} else {
		line.Response = t.hidden(response)
	}
	t.write(line)
	return err
}

func (t *tracer) write(line traceLine) {
	text, err := json.Marshal(line)
	if err != nil {
		return // a trace must not fail the call
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = t.out.Write(append(text, '\n'))
}

// hidden returns a message as JSON without secrets; nil if it cannot be shown. It decodes the message again, because
// values in it may be bytes.
func (t *tracer) hidden(message any) any {
	if text, ok := message.(*schemaText); ok {
		message = text.message()
	}
	m, ok := message.(proto.Message)
	if !ok {
		return nil
	}
	whole := m.ProtoReflect().New().Interface()
	raw, err := proto.Marshal(m)
	if err != nil || proto.Unmarshal(raw, whole) != nil {
		return nil
	}
	text, err := protojson.Marshal(whole)
	var tree any
	if err != nil || json.Unmarshal(text, &tree) != nil {
		return nil
	}
	return t.hideTree(tree)
}

func (t *tracer) hideTree(tree any) any {
	switch x := tree.(type) {
	case string:
		return t.secrets.Hide(x)
	case []any:
		for i, item := range x {
			x[i] = t.hideTree(item)
		}
	case map[string]any:
		signature := x[wire.SignatureKey]
		secret := signature == wire.SecretSignature || signature == wire.OutputSignature && x["secret"] == true
		for key, item := range x {
			if secret && key == "value" {
				x[key] = value.SecretText
				continue
			}
			x[key] = t.hideTree(item)
		}
	}
	return tree
}
