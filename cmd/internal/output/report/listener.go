package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"
)

// listenerScheme begins the address of a program that wants to hear events while they happen, as Pulumi's automation
// libraries do.
const listenerScheme = "tcp://"

// listener sends lines to a program as Pulumi's Events service has it: one message for each line. One goroutine at a
// time uses it.
type listener struct {
	address    string
	connection *grpc.ClientConn
	stream     grpc.ClientStreamingClient[pulumirpc.EventRequest, emptypb.Empty]
	rest       []byte // of a line that is not complete
}

// newListener opens the stream to a program.
func newListener(target string) (*listener, error) {
	address := strings.TrimPrefix(target, listenerScheme)
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithNoProxy())
	if err != nil {
		return nil, err
	}
	// Events are sent until the end of the operation, also after an interrupt; Close ends the stream.
	stream, err := pulumirpc.NewEventsClient(connection).StreamEvents(context.Background())
	if err != nil {
		return nil, errors.Join(err, connection.Close())
	}
	return &listener{address: address, connection: connection, stream: stream}, nil
}

// Write sends the lines of data that are complete.
func (l *listener) Write(data []byte) (int, error) {
	l.rest = append(l.rest, data...)
	for {
		line, after, found := bytes.Cut(l.rest, []byte("\n"))
		if !found {
			return len(data), nil
		}
		if err := l.stream.Send(&pulumirpc.EventRequest{Event: string(line)}); err != nil {
			return 0, fmt.Errorf("the listener at %s takes no more events: %w", l.address, err)
		}
		l.rest = after
	}
}

// Close waits until the program has taken everything.
func (l *listener) Close() error {
	_, err := l.stream.CloseAndRecv()
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, l.connection.Close())
}
