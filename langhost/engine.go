package langhost

import (
	"context"
	"fmt"
	"io"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/transport"
)

// engineClient is the client of the engine that started the host. Without an engine, messages go to stderr.
type engineClient struct {
	conn   *grpc.ClientConn // nil for none
	client pulumirpc.EngineClient
	stderr io.Writer
}

func dialEngine(address string, stderr io.Writer) (*engineClient, error) {
	if address == "" {
		return &engineClient{stderr: stderr}, nil
	}
	conn, err := transport.Dial(address)
	if err != nil {
		return nil, fmt.Errorf("connect to the engine at %s: %w", address, err)
	}
	return &engineClient{conn: conn, client: pulumirpc.NewEngineClient(conn), stderr: stderr}, nil
}

func (e *engineClient) close() error {
	if e.conn == nil {
		return nil
	}
	return e.conn.Close()
}

// report shows findings to the user, sorted, and reports whether one of them is an error. It skips findings for editors
// and portability checks.
func (e *engineClient) report(ctx context.Context, ds diag.Diagnostics) (failed bool) {
	for _, d := range ds.Sorted() {
		if d.Severity > diag.Info {
			continue
		}
		failed = failed || d.Severity == diag.Error
		e.log(ctx, d.Severity, messageOf(d))
	}
	return failed
}

// say shows a message. It goes to stderr if the engine does not take it.
func (e *engineClient) say(ctx context.Context, m eval.Message) {
	level := pulumirpc.LogSeverity_INFO
	switch {
	case m.Debug:
		level = pulumirpc.LogSeverity_DEBUG
	case m.Severity == diag.Error:
		level = pulumirpc.LogSeverity_ERROR
	case m.Severity == diag.Warning:
		level = pulumirpc.LogSeverity_WARNING
	}
	if e.client != nil { // even if the run is cancelled, which the message may report
		request := &pulumirpc.LogRequest{Severity: level, Message: m.Text, Urn: string(m.URN)}
		if _, err := e.client.Log(context.WithoutCancel(ctx), request); err == nil {
			return
		}
	}
	fmt.Fprintf(e.stderr, "%s: %s\n", strings.ToLower(level.String()), m.Text)
}

// log shows a message of the given severity.
func (e *engineClient) log(ctx context.Context, severity diag.Severity, text string) {
	e.say(ctx, eval.Message{Severity: severity, Text: text})
}

// messageOf returns a finding as plain text: position, summary, code, related positions and detail.
func messageOf(d diag.Diagnostic) string {
	var b strings.Builder
	place := func(r diag.Range) {
		if !r.IsZero() {
			pos := r.StartPosition()
			fmt.Fprintf(&b, "%s:%d:%d: ", r.Source.Name(), pos.Line, pos.Column)
		}
	}
	place(d.Subject)
	b.WriteString(d.Summary)
	if d.Code != "" {
		fmt.Fprintf(&b, " [%s]", d.Code)
	}
	for _, r := range d.Related {
		b.WriteString("\n  ")
		place(r.Range)
		b.WriteString(r.Message)
	}
	if d.Detail != "" {
		b.WriteString("\n  " + strings.ReplaceAll(d.Detail, "\n", "\n  "))
	}
	return b.String()
}

// requireVersion returns an error if the engine's version is outside the range wanted. An engine without this call
// passes (L3.62).
func (e *engineClient) requireVersion(ctx context.Context, wanted string) error {
	if e.client == nil {
		return nil
	}
	_, err := e.client.RequirePulumiVersion(ctx, &pulumirpc.RequirePulumiVersionRequest{PulumiVersionRange: wanted})
	if err == nil || status.Code(err) == codes.Unimplemented {
		return nil
	}
	return fmt.Errorf("%s", status.Convert(err).Message())
}

// watch waits until ctx is done. It returns an error if the engine ends first (F2.11).
func (e *engineClient) watch(ctx context.Context) error {
	if e.conn == nil {
		<-ctx.Done()
		return nil
	}
	return transport.WatchEngine(ctx, e.conn)
}
