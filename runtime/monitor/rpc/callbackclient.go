package rpc

import (
	"context"
	"fmt"
	"sync"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/yamlhost/yamlhost/internal/transport"
)

// programs holds the connections to processes with callbacks, one for each while the monitor is served (E2.69). It is
// safe for concurrent use.
type programs struct {
	mu     sync.Mutex // guards the rest
	conns  map[string]*grpc.ClientConn
	closed bool
}

// call sends request to a callback and decodes the answer into response.
func (p *programs) call(ctx context.Context, c *pulumirpc.Callback, request, response proto.Message) error {
	conn, err := p.connect(c.GetTarget())
	if err != nil {
		return fmt.Errorf("call the program back: %w", err)
	}
	bytes, err := proto.Marshal(request)
	if err != nil {
		return fmt.Errorf("call the program back: %w", err)
	}
	answer, err := pulumirpc.NewCallbacksClient(conn).Invoke(ctx, &pulumirpc.CallbackInvokeRequest{Token: c.GetToken(),
		Request: bytes})
	if err != nil {
		return errorOf(ctx, err)
	}
	if err := proto.Unmarshal(answer.GetResponse(), response); err != nil {
		return fmt.Errorf("read the program's answer: %w", err)
	}
	return nil
}

func (p *programs) connect(target string) (*grpc.ClientConn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, fmt.Errorf("the monitor is not served any more")
	}
	if conn := p.conns[target]; conn != nil {
		return conn, nil
	}
	conn, err := transport.Dial(target)
	if err != nil {
		return nil, err
	}
	if p.conns == nil {
		p.conns = map[string]*grpc.ClientConn{}
	}
	p.conns[target] = conn
	return conn, nil
}

// close closes all connections; calls in flight fail.
func (p *programs) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, conn := range p.conns {
		_ = conn.Close() // the calls have ended, so the error does not matter
	}
	p.conns = nil
}
