package main

import (
	"bufio"
	"bytes"
	"context"
	"os/exec"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protowire"
)

// provider takes a request and gives an answer.
type provider func(method string, request message) message

// local returns the provider in this process: it answers as the plugin does.
func local(method string, request message) message {
	switch name := string(request.find(5)); method {
	case "Check":
		return message{}.bytes(1, request.find(3))
	case "Create":
		return message{}.text(1, "id-"+name).bytes(2, request.find(2).with("uid", "uid-"+name))
	case "Update":
		return message{}.bytes(1, request.find(4).with("uid", "uid-"+string(request.find(9))))
	case "Diff":
		return message{4 << 3, 1 + byte(protowire.EncodeBool(!bytes.Equal(request.find(4), request.find(6))))}
	case "Read":
		return message{}.bytes(1, request.find(1)).bytes(2, request.find(3)).bytes(3, request.find(4))
	}
	return nil
}

// start starts a plugin in a process of its own.
func start(plugin string) (p provider, stop func()) {
	cmd := exec.Command(plugin, "") // no engine to ask
	stdout := must(cmd.StdoutPipe())
	check(cmd.Start())
	port := must(bufio.NewReader(stdout).ReadString('\n'))
	const window = 4 << 20 // a fixed one, without pings that estimate it
	connection := must(grpc.NewClient("passthrough:///127.0.0.1:"+strings.TrimSpace(port),
		grpc.WithTransportCredentials(
			insecure.NewCredentials()), grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(),
		grpc.WithInitialWindowSize(window), grpc.WithInitialConnWindowSize(window),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(plain{}), grpc.MaxCallRecvMsgSize(400<<20))))
	ask := func(method string, request message) (answer message) {
		check(connection.Invoke(context.Background(), "/pulumirpc.ResourceProvider/"+method, request, &answer))
		return answer
	}
	return ask, func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // so that its CPU counts
	}
}

// plain passes on messages that are bytes already.
type plain struct{}

func (plain) Name() string                    { return "proto" }
func (plain) Marshal(v any) ([]byte, error)   { return v.(message), nil }
func (plain) Unmarshal(b []byte, v any) error { *v.(*message) = b; return nil }
