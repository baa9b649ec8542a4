package main

import (
	"bufio"
	"bytes"
	"context"
	"os/exec"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
)

// provider takes a request and gives an answer.
type provider func(method string, request message) (message, error)

// local is the provider in this process: it answers as the plugin does.
func local(method string, request message) (message, error) {
	switch name := string(request.find(5)); method {
	case "Check":
		return message{}.bytes(1, request.find(3)), nil
	case "Create":
		return message{}.text(1, "id-"+name).bytes(2, request.find(2).with("uid", "uid-"+name)), nil
	case "Update":
		return message{}.bytes(1, request.find(4).with("uid", "uid-"+string(request.find(9)))), nil
	case "Diff":
		if !bytes.Equal(request.find(4), request.find(6)) {
			return message{4 << 3, 2}, nil
		}
		return message{4 << 3, 1}, nil
	case "Read":
		return message{}.bytes(1, request.find(1)).bytes(2, request.find(3)).bytes(3, request.find(4)), nil
	}
	return nil, nil
}

// start starts a plugin in a process of its own.
func start(plugin string) (p provider, stop func(), err error) {
	cmd := exec.Command(plugin, "") // no engine to ask
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // so that its CPU counts
	}
	port, err := bufio.NewReader(stdout).ReadString('\n')
	const window = 4 << 20 // a fixed one, without pings that estimate it
	connection, failed := grpc.NewClient("passthrough:///127.0.0.1:"+strings.TrimSpace(port),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(),
		grpc.WithInitialWindowSize(window), grpc.WithInitialConnWindowSize(window),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(plain{}), grpc.MaxCallRecvMsgSize(400<<20)))
	if err == nil {
		err = failed
	}
	return func(method string, request message) (answer message, err error) {
		err = connection.Invoke(context.Background(), "/pulumirpc.ResourceProvider/"+method, request, &answer)
		return answer, err
	}, stop, err
}

// plain passes on messages that are bytes already.
type plain struct{}

func (plain) Name() string { return "proto" }

func (plain) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.(message))}, nil
}

func (plain) Unmarshal(b mem.BufferSlice, v any) error {
	*v.(*message) = b.Materialize()
	return nil
}
