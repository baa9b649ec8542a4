// Command floor does what no host can do without, and nothing else: it decodes a program, calls a provider twice for
// each resource with its properties, and reads and writes a state once. What it costs is what other figures are
// multiples of.
//
//	floor PLUGIN PROGRAM STATE
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/structpb"
	"gopkg.in/yaml.v3"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: floor PLUGIN PROGRAM STATE")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func run(plugin, program, state string) error {
	text, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	var decoded struct {
		Resources map[string]struct {
			Type       string
			Properties map[string]any
		}
	}
	if err := yaml.Unmarshal(text, &decoded); err != nil {
		return err
	}
	if text, err = os.ReadFile(state); err != nil {
		return err
	}
	var checkpoint any
	if err := json.Unmarshal(text, &checkpoint); err != nil {
		return err
	}

	cmd := exec.Command(plugin, "") // no engine to ask
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // so that its CPU counts
	}()
	port, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return err
	}
	connection, err := grpc.NewClient("127.0.0.1:"+strings.TrimSpace(port),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	client := pulumirpc.NewResourceProviderClient(connection)
	ctx := context.Background()
	if _, err := client.Configure(ctx, &pulumirpc.ConfigureRequest{AcceptSecrets: true,
		AcceptResources: true}); err != nil {
		return err
	}

	type resource struct {
		name, typ  string
		properties map[string]any
	}
	work := make(chan resource)
	var group sync.WaitGroup
	var once sync.Once
	var failed error
	for range 4 * runtime.NumCPU() { // as many calls at the same time as hosts have by default
		group.Go(func() {
			for r := range work {
				if err := call(ctx, client, r.name, r.typ, r.properties); err != nil {
					once.Do(func() { failed = err })
				}
			}
		})
	}
	for name, r := range decoded.Resources {
		work <- resource{name, r.Type, r.Properties}
	}
	close(work)
	group.Wait()
	if failed != nil {
		return failed
	}

	if text, err = json.MarshalIndent(checkpoint, "", "    "); err != nil {
		return err
	}
	return write(state+".floor", text)
}

// write returns when the disk has it, which is what makes a state worth writing.
func write(path string, text []byte) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(text); err != nil {
		return err
	}
	return f.Sync()
}

// call checks and creates one resource.
func call(ctx context.Context, client pulumirpc.ResourceProviderClient, name, typ string,
	properties map[string]any) error {
	news, err := structpb.NewStruct(properties)
	if err != nil {
		return err
	}
	urn := "urn:pulumi:dev::generated::" + typ + "::" + name
	checked, err := client.Check(ctx, &pulumirpc.CheckRequest{Urn: urn, Name: name, Type: typ, Olds: &structpb.Struct{},
		News: news, RandomSeed: make([]byte, 32)})
	if err != nil {
		return err
	}
	_, err = client.Create(ctx, &pulumirpc.CreateRequest{Urn: urn, Name: name, Type: typ, Properties: checked.Inputs})
	return err
}
