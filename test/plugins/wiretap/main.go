// Command wiretap is a proxy between an engine and a plugin that records the calls. It is started under the plugin's
// name, pulumi-resource-<name>, and starts the executable of the same name in the folder WIRETAP_BEHIND. Each call is
// one line of JSON in the file WIRETAP_LOG: the process, the method, the request, and whether it failed.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

const largest = 400 << 20 // the limit of a message, as in engines

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "wiretap:", err)
		os.Exit(1)
	}
}

func run() error {
	log, err := os.OpenFile(os.Getenv("WIRETAP_LOG"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	plugin := exec.Command(filepath.Join(os.Getenv("WIRETAP_BEHIND"), filepath.Base(os.Args[0])), os.Args[1:]...)
	plugin.Stderr = os.Stderr
	stdout, err := plugin.StdoutPipe()
	if err != nil {
		return err
	}
	if err := plugin.Start(); err != nil {
		return err
	}
	defer plugin.Wait() //nolint:errcheck // it is killed
	defer plugin.Process.Kill()
	lines := bufio.NewReader(stdout)
	port, err := lines.ReadString('\n')
	if err != nil {
		return fmt.Errorf("the plugin did not say where it listens: %w", err)
	}
	go io.Copy(io.Discard, lines)

	behind, err := grpc.NewClient("127.0.0.1:"+strings.TrimSpace(port),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(asItIs{}), grpc.MaxCallRecvMsgSize(largest),
			grpc.MaxCallSendMsgSize(largest)))
	if err != nil {
		return err
	}
	defer behind.Close()
	tap := &tap{behind: behind, log: log}
	server := grpc.NewServer(grpc.ForceServerCodec(asItIs{}), grpc.UnknownServiceHandler(tap.pass),
		grpc.MaxRecvMsgSize(largest), grpc.MaxSendMsgSize(largest))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		server.Stop()
	}()
	return server.Serve(listener)
}

// asItIs is a codec that passes messages on as bytes.
type asItIs struct{}

func (asItIs) Name() string { return "proto" }

func (asItIs) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

func (asItIs) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}

type tap struct {
	behind *grpc.ClientConn
	mu     sync.Mutex // guards log
	log    *os.File
}

// call is a line of the log.
type call struct {
	Process int             `json:"process"`
	Method  string          `json:"method"`
	Request json.RawMessage `json:"request"`
	Failed  bool            `json:"failed"`
}

// pass forwards a call. All calls of plugins have one request and one response.
func (t *tap) pass(_ any, stream grpc.ServerStream) error {
	ctx := stream.Context()
	method, ok := grpc.MethodFromServerStream(stream)
	if !ok {
		return errors.New("a call without a method")
	}
	var request, answer []byte
	if err := stream.RecvMsg(&request); err != nil {
		return err
	}
	outgoing := context.Background()
	if headers, ok := metadata.FromIncomingContext(ctx); ok {
		outgoing = metadata.NewOutgoingContext(ctx, headers)
	}
	err := t.behind.Invoke(outgoing, method, &request, &answer)
	if note := t.note(method, request, err != nil); note != nil {
		return note
	}
	if err != nil {
		return status.Convert(err).Err()
	}
	return stream.SendMsg(&answer)
}

// note records a call. Calls are recorded in the order of their responses, so that a call that waited for a response
// comes after it.
func (t *tap) note(method string, request []byte, failed bool) error {
	text, err := readable(method, request)
	if err != nil {
		return err
	}
	line, err := json.Marshal(call{os.Getpid(), method[strings.LastIndexByte(method, '/')+1:], text, failed})
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err = t.log.Write(append(line, '\n'))
	return err
}

func readable(method string, request []byte) (json.RawMessage, error) {
	service := pulumirpc.File_pulumi_provider_proto.Services().ByName("ResourceProvider")
	descriptor := service.Methods().ByName(protoreflect.Name(method[strings.LastIndexByte(method, '/')+1:]))
	if descriptor == nil {
		return json.Marshal(nil)
	}
	message := dynamicpb.NewMessage(descriptor.Input())
	if err := proto.Unmarshal(request, message); err != nil {
		return nil, err
	}
	return protojson.Marshal(message)
}
