//go:build linux

package kill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

// hostileEscapes clears a terminal, renames its window, prints a link and reverses the text direction.
const hostileEscapes = "\x1b[2J\x1b]0;owned\x07\x1b]8;;http://evil.test\x1b\\link\x9b31m\u202e"

// sayPort prints a plugin's port. For a hostile kind it prints something else and never returns.
func sayPort(kind string, port int) {
	switch kind {
	case "endless-text": // no port and no end of line
		for {
			if _, err := fmt.Print(strings.Repeat("x", 64<<10)); err != nil {
				return
			}
		}
	case "foreign-port": // the port of an unrelated listener
		fmt.Println(os.Getenv(foreignKey))
	case "no-port":
		fmt.Println("70000")
	default:
		fmt.Println(port)
		return
	}
	select {}
}

// connections holds the connections of a hostile plugin.
var connections kept

// kept is a listener that keeps the connections that it accepts. It is safe for concurrent use.
type kept struct {
	net.Listener
	mu  sync.Mutex
	all []net.Conn // guarded by mu
}

func (k *kept) Accept() (net.Conn, error) {
	c, err := k.Listener.Accept()
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		k.all = append(k.all, c)
	}
	return c, err
}

func (k *kept) close() {
	_ = k.Listener.Close()
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.all {
		_ = c.Close()
	}
}

// foreignKey is the environment variable with the port of an unrelated listener.
const foreignKey = "YAMLHOST_TEST_FOREIGN"

// tree returns a copy of m that has made a round trip through its encoding.
func tree(m proto.Message) proto.Message {
	raw, err := proto.Marshal(m)
	again := m.ProtoReflect().New().Interface()
	if err = errors.Join(err, proto.Unmarshal(raw, again)); err != nil {
		panic(err)
	}
	return again
}

// hostileAnswer returns a hostile plugin's answer to a call whose real reply is given. known is false for other kinds.
func hostileAnswer(kind string, reply proto.Message) (answer any, err error, known bool) {
	created := func() *pulumirpc.CreateResponse { return tree(reply).(*pulumirpc.CreateResponse) }
	text := func(s string) any {
		r := created()
		r.Properties.Fields["title"] = structpb.NewStringValue(s)
		return r
	}
	switch kind {
	case "huge": // below the size limit of gRPC
		return text(strings.Repeat("y", 300<<20)), nil, true
	case "larger": // above the size limit of gRPC
		return text(strings.Repeat("y", 401<<20)), nil, true
	case "wide":
		r := created()
		for i := range 200_000 {
			r.Properties.Fields[fmt.Sprint("key", i)] = structpb.NewNullValue()
		}
		return r, nil, true
	case "no-text": // an ID that is not UTF-8
		raw, err := proto.Marshal(&pulumirpc.CreateResponse{Id: "QQQQ"})
		return bytes.Replace(raw, []byte("QQQQ"), []byte("\xff\xfe\xfdQ"), 1), err, true
	case "escapes":
		return nil, status.Error(codes.Internal, "it fails "+hostileEscapes), true
	case "exit":
		fmt.Fprintln(os.Stderr, "gone "+hostileEscapes)
		os.Exit(3)
	case "close": // closes the connections; the process stays
		connections.close()
		select {}
	case "flood":
		line := strings.Repeat("z", 1023) + "\n"
		for range 100_000 {
			fmt.Print(line)
			fmt.Fprint(os.Stderr, line)
		}
		return reply, nil, true
	case "logs":
		tellEngine(2_000, hostileEscapes+strings.Repeat("l", 2_000)+"\xff")
		return reply, nil, true
	case "other-version":
		return &pulumirpc.PluginInfo{Version: "0.0.1" + strings.ToValidUTF8(hostileEscapes, "")}, nil, true
	case "child": // a child that holds the plugin's output open
		child := exec.Command("sleep", "1000")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		_ = child.Start()
		return reply, nil, true
	}
	return nil, nil, false
}

// tellEngine sends n log messages to the engine. Its address is the last argument of a plugin.
func tellEngine(n int, text string) {
	c, err := grpc.NewClient("passthrough:///"+os.Args[len(os.Args)-1],
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodec(rawCodec{})))
	if err != nil {
		return
	}
	defer c.Close()
	for range n {
		raw, _ := proto.Marshal(&pulumirpc.LogRequest{Severity: pulumirpc.LogSeverity_WARNING, Message: strings.ToValidUTF8(
			text, "\x00")})
		_ = c.Invoke(context.Background(), pulumirpc.Engine_Log_FullMethodName, raw, &pulumirpc.PluginInfo{})
	}
}

// A hostile plugin costs bounded memory and output and at most one error. Its changes are in the state or are resolved
// later, no escape sequence reaches the terminal, and no process of its group stays.
func TestHostilePlugins(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind    string
		code    int
		says    string
		pending bool
	}{
		{kind: "Start endless-text", code: console.CodeProgram, says: "where its port was expected"},
		{kind: "Start foreign-port", code: console.CodeProgram, says: "plugin drawer"},
		{kind: "Start no-port", code: console.CodeProgram, says: `printed "70000" where its port was expected`},
		{kind: "Create larger", code: console.CodeFailed, says: "plugin drawer", pending: true},
		{kind: "Create huge", code: console.CodeFailed,
			says: "plugin drawer answered outputs that cannot be read: they are larger than 256 MiB"},
		{kind: "Create wide", code: 0},
		{kind: "Create no-text", code: console.CodeFailed, says: "the answer of plugin drawer cannot be read",
			pending: true},
		{kind: "Check escapes", code: console.CodeFailed, says: "it fails"},
		{kind: "Create exit", code: console.CodeFailed, says: "plugin drawer", pending: true},
		{kind: "Create close", code: console.CodeFailed, says: "plugin drawer", pending: true},
		{kind: "Create flood", code: 0},
		{kind: "Create logs", code: 0},
		{kind: "Create child", code: 0},
		{kind: "GetPluginInfo other-version", code: 0},
	} {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			b := newFault(t)
			b.items = map[int]item{0: {"t", "k"}}
			b.write()
			foreign, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			t.Cleanup(func() { _ = foreign.Close() })
			before := len(b.environ)
			b.environ = append(b.environ, garbageKey+"="+c.kind,
				foreignKey+"="+fmt.Sprint(foreign.Addr().(*net.TCPAddr).Port))
			e := b.run("", 0, "up", "--yes", "--skip-preview")
			said := b.said
			if len(said) > 4<<10 {
				said = said[:2<<10] + " … " + said[len(said)-2<<10:]
			}
			t.Logf("%s: exit %d, %d MiB, %d bytes of output", c.kind, e.code, e.peak>>10, len(b.said))
			require.Equal(t, c.code, e.code, said)
			require.Contains(t, b.said, c.says)
			require.NotContains(t, b.said, "goroutine")
			require.True(t, utf8.ValidString(b.said), said)
			for _, raw := range []string{"\x1b]", "\x1b[2J", "\x07", "\x9b", "\u202e"} {
				require.NotContains(t, b.said, raw, "what a terminal would follow")
			}
			require.Less(t, len(b.said), 8<<20, "output")
			require.Less(t, e.peak, int64(3<<19), "KiB of memory, the plugin's included")
			b.childless(t)
			require.True(t, b.inspect(c.kind), b.o.faults)
			b.environ = b.environ[:before]
			flags, _ := b.settlingFlags(false)
			require.Equal(t, c.pending, len(flags) > 0, "%v: %s", flags, said)
			require.Equal(t, 0, b.run("", 0, append([]string{"up", "--yes", "--skip-preview", "--refresh"}, flags...)...).code,
				b.said)
			b.nothingLeft(t)
			require.Empty(t, b.o.faults)
		})
	}
}
