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

// listenerScheme is the scheme of the address of a program that receives events while they happen, such as Pulumi's
// automation libraries.
const listenerScheme = "tcp://"

// listener sends lines to a program by Pulumi's Events service: one message for each line. It is not safe for
// concurrent use.
type listener struct {
	address    string
	connection *grpc.ClientConn
	stream     grpc.ClientStreamingClient[pulumirpc.EventRequest, emptypb.Empty]
	rest       []byte // of an incomplete line
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

// Write sends the complete lines.
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

// Close waits until the program has received everything.
func (l *listener) Close() error {
	_, err := l.stream.CloseAndRecv()
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, l.connection.Close())
}
