//go:build linux

package kill

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/tools/bench/drawer"
)

// playGarbage runs a plugin that executes each call but garbles its answer to one of them.
func playGarbage(p *drawer.Provider, garbage string) int {
	method, kind, _ := strings.Cut(garbage, " ")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 1
	}
	server := grpc.NewServer(grpc.ForceServerCodec(rawCodec{}), grpc.UnaryInterceptor(
		func(ctx context.Context, r any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
			reply, err := handle(ctx, r)
			if err == nil && strings.HasSuffix(info.FullMethod, "/"+method) {
				return garbled(kind, reply.(proto.Message))
			}
			return reply, err
		}))
	pulumirpc.RegisterResourceProviderServer(server, plugin.NewServer(p))
	port := listener.Addr().(*net.TCPAddr).Port
	if method == "Start" {
		sayPort(kind, port)
	} else {
		sayPort("", port)
	}
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadString(0) // until the host closes the pipe
		server.Stop()
	}()
	connections.Listener = listener
	_ = server.Serve(&connections)
	return 0
}

// rawCodec sends byte slices unchanged and marshals everything else.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(v any) ([]byte, error) {
	if raw, ok := v.([]byte); ok {
		return raw, nil
	}
	return proto.Marshal(v.(proto.Message))
}

func (rawCodec) Unmarshal(data []byte, v any) error { return proto.Unmarshal(data, v.(proto.Message)) }

// garbled returns reply, broken in the given way.
func garbled(kind string, reply proto.Message) (any, error) {
	put := func(v *structpb.Value) any {
		m := tree(reply).ProtoReflect()
		field := m.Descriptor().Fields().ByName("properties")
		s := &structpb.Struct{Fields: map[string]*structpb.Value{"title": v, "tag": v, "revision": v, "kind": v}}
		m.Set(field, m.NewField(field))
		proto.Merge(m.Mutable(field).Message().Interface(), s)
		return m.Interface()
	}
	if answer, err, known := hostileAnswer(kind, reply); known {
		return answer, err
	}
	switch kind {
	case "freeze":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		select {} // the signal takes a moment; do not answer before it arrives
	case "bytes":
		return []byte("\xff\xff\xff\xff this is not a message"), nil
	case "empty":
		return reply.ProtoReflect().New().Interface(), nil
	case "unknowns":
		return put(structpb.NewStringValue("04da6b54-80e4-46f7-96ec-b56ff0331ba9")), nil
	case "half-secret":
		return put(structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
			"4dabf18193072939515e22adb298388d": structpb.NewStringValue("1b47061264138c4ac30d75fd1eb44270")}})), nil
	case "no-signature":
		return put(structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
			"4dabf18193072939515e22adb298388d": structpb.NewNumberValue(-7)}})), nil
	case "infinities":
		return put(structpb.NewNumberValue(math.Inf(-1))), nil
	case "other-types":
		return put(structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{structpb.NewBoolValue(true),
			structpb.NewNullValue()}})), nil
	case "deep":
		v := structpb.NewNullValue()
		for range 20_000 {
			v = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{v}})
		}
		return put(v), nil
	case "status":
		return nil, status.Error(codes.Code(99), "the drawer \xfe speaks in tongues")
	case "same-id":
		reply.(*pulumirpc.CreateResponse).Id = "the-only-one"
		return reply, nil
	case "numbers":
		d := reply.(*pulumirpc.DiffResponse)
		d.Changes, d.HasDetailedDiff = -5, true
		d.Replaces, d.Diffs = []string{"", "nosuch", "a[-1].b[99999999999999999999]"}, []string{"[", "\"", "nosuch"}
		d.DetailedDiff = map[string]*pulumirpc.PropertyDiff{"]": {Kind: -1}, "x.y[": {Kind: 1 << 30}, "": {Kind: 3}}
		return d, nil
	case "failures":
		c := reply.(*pulumirpc.CheckResponse)
		c.Failures = []*pulumirpc.CheckFailure{{Property: "no[such", Reason: ""}, {}}
		return c, nil
	}
	return nil, status.Error(codes.Internal, "no such nonsense: "+kind)
}

// A garbled answer causes one clear error that names the plugin. The plugin's changes are in the state, or the next run
// detects them (D10).
func TestGarbage(t *testing.T) {
	t.Parallel()
	const unreadable = "plugin drawer"
	for _, c := range []struct {
		garbage string
		again   bool   // the run updates and deletes existing resources
		code    int    // exit code of the run
		says    string // text in its output
		pending bool   // the next run needs flags that settle creations
	}{
		{garbage: "Handshake bytes", code: console.CodeProgram, says: unreadable},
		{garbage: "GetPluginInfo bytes", code: console.CodeProgram, says: unreadable},
		{garbage: "GetSchema bytes", code: console.CodeProgram, says: unreadable},
		{garbage: "GetSchema empty", code: console.CodeProgram, says: "plugin drawer has no schema"},
		{garbage: "CheckConfig bytes", code: console.CodeFailed, says: unreadable},
		{garbage: "Configure bytes", code: console.CodeFailed, says: unreadable},
		{garbage: "Configure empty", code: 0},
		{garbage: "Check bytes", code: console.CodeFailed, says: unreadable},
		{garbage: "Check failures", code: console.CodeFailed, says: "i0"},
		{garbage: "Check status", code: console.CodeFailed, says: "speaks in tongues"},
		{garbage: "Create bytes", code: console.CodeFailed, says: "create: the answer of plugin drawer cannot be read",
			pending: true},
		{garbage: "Create empty", code: console.CodeFailed, says: "plugin drawer returned no ID for what it created",
			pending: true},
		{garbage: "Create deep", code: console.CodeFailed, says: "plugin drawer answered outputs that cannot be read"},
		{garbage: "Create unknowns", code: console.CodeFailed, says: "plugin drawer answered outputs that cannot be read"},
		{garbage: "Create half-secret", code: console.CodeFailed, says: "plugin drawer answered outputs that cannot be read"},
		{garbage: "Create no-signature", code: console.CodeFailed,
			says: "plugin drawer answered outputs that cannot be read"},
		{garbage: "Create infinities", code: 0},
		{garbage: "Create other-types", code: console.CodeFailed, says: "a list cannot be put into a text"},
		{garbage: "Diff bytes", again: true, code: console.CodeFailed, says: unreadable},
		{garbage: "Diff numbers", again: true, code: 0},
		{garbage: "Diff empty", again: true, code: 0},
		{garbage: "Update bytes", again: true, code: console.CodeFailed,
			says: "update: the answer of plugin drawer cannot be read"},
		{garbage: "Update unknowns", again: true, code: console.CodeFailed,
			says: "plugin drawer answered outputs that cannot be read"},
		{garbage: "Update empty", again: true, code: 0},
		{garbage: "Delete bytes", again: true, code: console.CodeFailed,
			says: "delete: the answer of plugin drawer cannot be read"},
		{garbage: "Read bytes", again: true, code: console.CodeFailed,
			says: "read: the answer of plugin drawer cannot be read"},
		{garbage: "Read unknowns", again: true, code: console.CodeFailed,
			says: "plugin drawer answered outputs that cannot be read"},
		{garbage: "Cancel bytes", code: 0},
	} {
		t.Run(c.garbage, func(t *testing.T) {
			t.Parallel()
			b := newFault(t)
			if c.again {
				require.Equal(t, 0, b.run("", 0, "up", "--yes", "--skip-preview").code, b.said)
				b.items = map[int]item{0: {"other", "k"}, 1: {"t", "k2"}, 2: {"t", "k"}}
				b.write()
			}
			operation := []string{"up", "--yes", "--skip-preview", "--refresh=" +
				fmt.Sprint(strings.HasPrefix(c.garbage, "Read"))}
			before := len(b.environ)
			b.environ = append(b.environ, garbageKey+"="+c.garbage)
			require.Equal(t, c.code, b.run("", 0, operation...).code, b.said)
			require.Contains(t, b.said, c.says)
			require.NotContains(t, b.said, "goroutine")
			require.True(t, utf8.ValidString(b.said), b.said)
			require.True(t, b.inspect(c.garbage), b.o.faults)
			b.environ = b.environ[:before]
			flags, _ := b.settlingFlags(false)
			require.Equal(t, c.pending, len(flags) > 0, "%v: %s", flags, b.said)
			if c.pending {
				require.Equal(t, console.CodePending, b.run("", 0, operation...).code, b.said)
			}
			require.Equal(t, 0, b.run("", 0, append([]string{"up", "--yes", "--skip-preview", "--refresh"}, flags...)...).code,
				b.said)
			b.nothingLeft(t)
			require.Empty(t, b.o.faults)
		})
	}
}

// Several resources may share a provider ID: the state that holds them is valid, and the next run has no changes.
func TestDuplicateIDs(t *testing.T) {
	t.Parallel()
	b := newFault(t)
	b.environ = append(b.environ, garbageKey+"=Create same-id")
	require.Equal(t, 0, b.run("", 0, "up", "--yes", "--skip-preview").code, b.said)
	s, err := b.load()
	require.NoError(t, err)
	same := 0
	for _, r := range s.Resources {
		if r.ID == "the-only-one" {
			same++
		}
	}
	require.Equal(t, len(b.items), same)
	require.Equal(t, 0, b.run("", 0, "up", "--yes", "--skip-preview", "--expect-no-changes").code, b.said)
}

// The watchdog names a plugin that freezes, and the call. Two interrupts end the run and leave no process and no
// unknown object behind (D10, E5.51).
func TestFreezeInEachCall(t *testing.T) {
	t.Parallel()
	for call, c := range map[string]struct {
		again bool
		says  string
	}{
		"CheckConfig": {false, "check its configuration"}, "Configure": {false, "take its configuration"},
		"Check":  {false, "check inputs"},
		"Create": {false, "create the resource"}, "Diff": {true, "compare inputs"}, "Update": {true, "update the resource"},
		"Delete": {true, "delete the resource"}, "Read": {true, "read the resource"},
	} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			b := newFault(t)
			require.Equal(t, 0, b.run("", 0, "preview").code, b.said) // caches the schema
			if c.again {
				require.Equal(t, 0, b.run("", 0, "up", "--yes", "--skip-preview").code, b.said)
				b.items = map[int]item{0: {"other", "k"}, 1: {"t", "k"}, 2: {"t", "k"}}
				b.write()
			}
			environ := b.environ
			b.environ = append(b.environ[:len(b.environ):len(b.environ)], garbageKey+"="+call+" freeze")
			wait := b.giveUpOn("still waiting for the provider drawer to " + c.says)
			require.Equal(t, 8, b.run("", 0, "up", "--yes", "--skip-preview", "--refresh="+fmt.Sprint(call == "Read")).code,
				b.said)
			wait()
			require.Contains(t, b.said, "still waiting for the provider drawer to "+c.says)
			b.childless(t)
			require.True(t, b.inspect(call), b.o.faults)
			b.meddle, b.environ = nil, environ
			flags, _ := b.settlingFlags(false)
			require.Equal(t, 0, b.run("", 0, append([]string{"up", "--yes", "--skip-preview", "--refresh"}, flags...)...).code,
				b.said)
			b.nothingLeft(t)
			require.Empty(t, b.o.faults)
		})
	}
}
