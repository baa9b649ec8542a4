package cli

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/backend/disk/disktest"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/tools/bench/drawer"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

// gossip is a drawer that repeats its inputs in errors, reasons of partial failures and check failures, and that
// returns secret outputs of its own.
type gossip struct{ *drawer.Provider }

func (g gossip) Configure(context.Context, provider.ConfigureRequest) (provider.Configured, error) {
	return g, nil
}

func titleOf(v value.Value) string {
	title, _ := v.Lookup("title")
	text, _ := title.AsString()
	return text
}

// inEveryForm returns text in every encoding in which programs print it.
func inEveryForm(text string) string {
	inJSON, _ := json.Marshal(map[string]string{"k": text})
	nested, _ := json.Marshal(string(inJSON))
	forms := []string{"cannot create " + text, fmt.Sprintf("%q", text), string(inJSON), string(nested),
		url.QueryEscape(text), url.PathEscape(text),
		"'" + strings.ReplaceAll(text, "'", `'\''`) + "'", hex.EncodeToString([]byte(text)), fmt.Sprintf("%X", text),
		strings.ReplaceAll(text, "\n", "")}
	for i := range 3 {
		forms = append(forms, base64.StdEncoding.EncodeToString([]byte("user:"[:2+i]+text)),
			base64.URLEncoding.EncodeToString([]byte(strings.Repeat("-", i)+text+"-")))
	}
	return strings.Join(append(forms, strings.Split(text, "\n")...), "\n")
}

func (g gossip) Create(ctx context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	if strings.HasSuffix(r.Name, "-create") && !r.Preview {
		return provider.CreateResponse{}, &provider.Error{Message: inEveryForm(titleOf(r.Inputs))}
	}
	out, err := g.Provider.Create(ctx, r)
	out.Outputs = out.Outputs.With("tag", value.String("canary-output-"+r.Name).Secret())
	if strings.HasSuffix(r.Name, "-partial") && !r.Preview {
		return out, &provider.Error{Outcome: provider.Partial, ID: out.ID, Outputs: out.Outputs,
			Reasons: []string{"half of " + titleOf(r.Inputs) + " and canary-output-" + r.Name}}
	}
	return out, err
}

func (g gossip) Update(ctx context.Context, r provider.UpdateRequest) (provider.UpdateResponse, error) {
	out, err := g.Provider.Update(ctx, r)
	if !r.Preview {
		err = fmt.Errorf("was %s, is to be %s", titleOf(r.OldInputs), titleOf(r.News))
	}
	return out, err
}

func (g gossip) Check(ctx context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	if strings.HasSuffix(r.Name, "-check") {
		return provider.CheckResponse{Inputs: r.News, Failures: []provider.Failure{{Property: "title",
			Reason: "nobody is called " + titleOf(r.News)}}}, nil
	}
	return g.Provider.Check(ctx, r)
}

type gossips struct{ drawers }

func (g gossips) Load(ctx context.Context, p provider.Package) (provider.Provider, error) {
	if p.Name != "drawer" {
		return nil, &provider.MissingError{Package: p.Name}
	}
	return gossip{g.Provider}, nil
}

// eventListener keeps the events that it receives over gRPC. It is safe for concurrent use.
type eventListener struct {
	pulumirpc.UnimplementedEventsServer
	mu   sync.Mutex
	text strings.Builder // guarded by mu
}

func (l *eventListener) StreamEvents(s grpc.ClientStreamingServer[pulumirpc.EventRequest, emptypb.Empty]) error {
	for {
		r, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return s.SendAndClose(&emptypb.Empty{})
		} else if err != nil {
			return err
		}
		l.mu.Lock()
		l.text.WriteString(r.GetEvent() + "\n")
		l.mu.Unlock()
	}
}

// listenToEvents starts a server for --event-log. It returns the address and a function that returns the events
// received so far.
func listenToEvents(t *testing.T) (heard func() string, address string) {
	t.Helper()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server, l := grpc.NewServer(), &eventListener{}
	pulumirpc.RegisterEventsServer(server, l)
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(socket) })
	t.Cleanup(func() { server.Stop(); serving.Wait() })
	return func() string {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.text.String()
	}, "tcp://" + socket.Addr().String()
}

// No secret is in plain text in any output, in any file of the backend at any moment, or in any temporary file.
func TestCanaries(t *testing.T) {
	t.Parallel()
	const program = `name: can
config:
  word: {type: string}
resources:
  first: {type: drawer:Item, properties: {title: "of ${word}", kind: k}}
  second: {type: drawer:Item, properties: {title: {fn::secret: canary-program}, kind: "${first.tag}"}}
%s
outputs:
  plain: ${first.revision}
  hidden: ${first.title}
  more: {list: ["${second.tag}"]}
`
	x := newTerminal(t, fmt.Sprintf(program, ""))
	root := filepath.Join(x.world.Dir, "..")
	objects := t.TempDir() // the provider may keep plain text
	x.world.Embedded = []console.EmbeddedProviders{gossips{drawers{&drawer.Provider{Dir: objects}}}}
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=canary-passphrase", "TMPDIR="+filepath.Join(root, "home"))
	var mu sync.Mutex // guards seen
	seen := map[string]int{}
	look := func(where, text string) {
		mu.Lock()
		defer mu.Unlock()
		seen[strings.SplitN(where, " ", 2)[0]]++
		// As plain text, in hexadecimal, and in base64 at each of the three alignments.
		for _, canary := range []string{"canary-", "63616e6172792d", "63616E6172792D", "Y2FuYXJ5", "NhbmFyeS", "jYW5hcnkt"} {
			if pos := strings.Index(text, canary); pos >= 0 {
				t.Errorf("%s: …%s…", where, text[max(0, pos-80):min(len(text), pos+60)])
			}
		}
	}
	x.world.Disk = disktest.Faulty(disk.Real{}, func(do, path string, done bool) error {
		if done && (do == "write" || do == "rename") {
			if text, err := os.ReadFile(path); err == nil {
				look(filepath.Ext(path)+" while "+do, string(text))
			}
		}
		return nil
	})
	run := func(code int, args ...string) {
		t.Helper()
		require.Equal(t, code, x.run(args...), "%v: %s", args, x.err.String())
		look("out of "+strings.Join(args, " "), x.out.String())
		look("err of "+strings.Join(args, " "), x.err.String())
	}
	reports := 0
	run(0, "stack", "init", "dev")
	run(0, "config", "set", "--secret", "word", "canary-config")
	for _, extra := range []string{"",
		"  x-create: {type: drawer:Item, properties: {title: {fn::secret: \"canary-\\\"quoted\\\"\\nlines\"}, kind: k}}",
		"  x-partial: {type: drawer:Item, properties: {title: \"${word}\", kind: k}}",
		"  x-check: {type: drawer:Item, properties: {title: \"${word}\", kind: k}}"} {
		text := fmt.Sprintf(program, extra)
		require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.yaml"), []byte(text), 0o600))
		code := 0
		if extra != "" {
			code = 14
		}
		preview := 0
		if strings.Contains(extra, "check") {
			preview = 14
		}
		reports++
		run(preview, append([]string{"preview", "--diff"},
			allKinds(filepath.Join(root, fmt.Sprintf("reports%d", reports)))...)...)
		run(preview, "preview", "--json")
		reports++
		run(code, append([]string{"up", "--yes", "--diff"},
			allKinds(filepath.Join(root, fmt.Sprintf("reports%d", reports)))...)...)
		run(code, "up", "--yes", "--json", "--skip-preview")
	}
	for _, canary := range []string{"63616e6172792d", "63616E6172792D", "Y2FuYXJ5", "NhbmFyeS", "jYW5hcnkt"} {
		require.Contains(t, inEveryForm("canary-config"), canary)
	}
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.yaml"),
		[]byte(strings.Replace(fmt.Sprintf(program, ""), "canary-program", "canary-other", 1)), 0o600))
	plan := filepath.Join(root, "saved.plan")
	heard, listening := listenToEvents(t)
	run(0, "preview", "--save-plan", plan, "--event-log", listening)
	look("grpc events", heard())
	require.Contains(t, heard(), "resourcePreEvent")
	run(0, "plan", "show", plan)
	run(14, "up", "--yes", "--diff")
	run(14, "up", "--yes", "--json", "--skip-preview")
	run(0, "refresh", "--yes", "--diff")
	run(0, "drift")
	for _, args := range [][]string{{"stack"}, {"stack", "output"}, {"stack", "output", "--json"}, {"stack", "export"},
		{"stack", "history"},
		{"stack", "history", "--json"}, {"config"}, {"config", "--json"}, {"state", "verify"}, {"graph"},
		{"destroy", "--yes", "--json"}} {
		run(0, args...)
	}
	require.NoError(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(path) == "Pulumi.yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		look("file "+path, string(text))
		return err
	}))
	for i := range reports {
		for _, kind := range report.Kinds() {
			text, err := os.ReadFile(filepath.Join(root, fmt.Sprintf("reports%d", i+1), kind))
			require.NoError(t, err)
			if kind == "text" || kind == "markdown" || kind == "html" {
				require.Contains(t, string(text), "[secret]", kind)
			}
		}
	}
	for _, kind := range []string{"out", "err", "file", ".yamlhost-journal", ".json"} {
		require.Greater(t, seen[kind], 3, "places of the kind %s were looked at: %v", kind, seen)
	}
}
