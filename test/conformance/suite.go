package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pulumi/pulumi/pkg/v3/testing/pulumi-test-language/tests"
	testingrpc "github.com/pulumi/pulumi/sdk/v3/proto/go/testing"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

const (
	messageLimit = 1 << 30 // bytes; one response has 200 MB, and twice that with the round trip
	testLimit    = 60 * time.Second
	largeLimit   = 240 * time.Second
	startLimit   = 60 * time.Second
)

// options configures a run of the suite.
type options struct {
	host, programs, providers, policies, keep string
	roundTrip, verbose                        bool
	workers                                   int
}

func (o *options) mode() string {
	switch {
	case o.programs != "":
		return "ready-made programs"
	case o.roundTrip:
		return "generated programs, with round trip"
	}
	return "generated programs"
}

// result is the result of a test.
type result struct {
	Name    string
	Outcome outcome
	Reason  string // of a failure or a skip
	Took    time.Duration
}

type outcome string

const (
	passed  outcome = "pass"
	failed  outcome = "fail"
	skipped outcome = "skip"
)

// levelOf returns the first part of a test's name; empty for a test of the suite itself.
func levelOf(name string) string {
	level, _, _ := strings.Cut(name, "-")
	if !slices.Contains(levels, level) {
		return ""
	}
	return level
}

var levels = []string{"l1", "l2", "l3", "provider", "policy"}

func isLarge(name string) bool { return strings.Contains(name, "-large-") }

// skip returns the reason why a test is skipped; empty if it is run.
func (o *options) skip(name string) string {
	switch {
	case levelOf(name) == "policy" && o.policies == "":
		return "no folder of policy packs is given"
	case levelOf(name) == "provider" && o.providers == "":
		return "no folder of component providers is given"
	case o.programs != "" && len(o.override(name)) == 0:
		return "there is no ready-made program: today's YAML cannot express the test"
	}
	return ""
}

// override returns the folders of a ready-made program, one for each run.
func (o *options) override(name string) []string {
	base := filepath.Join(o.programs, name)
	if _, err := os.Stat(base); err != nil {
		return nil
	}
	var folders []string
	for i := range max(1, len(tests.LanguageTests[name].Runs)) {
		folder := filepath.Join(base, fmt.Sprint(i))
		if _, err := os.Stat(folder); err != nil {
			folder = base // all runs share one program
		}
		folders = append(folders, folder)
	}
	return folders
}

// runAll runs tests, several at a time, and returns the results in the order of their names.
func (o *options) runAll(ctx context.Context, names []string) ([]result, error) {
	scratch, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		return nil, err
	}
	if o.keep != "" {
		scratch = o.keep
	} else {
		defer os.RemoveAll(scratch)
	}
	files, err := serveFixtures(filepath.Join(scratch, "fixtures"))
	if err != nil {
		return nil, err
	}
	defer files.close()
	results := make([]result, len(names))
	queue := make(chan int, len(names))
	for _, large := range []bool{true, false} { // the longest tests come first
		for i, name := range names {
			if isLarge(name) == large {
				queue <- i
			}
		}
	}
	close(queue)
	var wait sync.WaitGroup
	fatal := make([]error, o.workers)
	for n := range o.workers {
		wait.Go(func() {
			w := &worker{options: o, env: files.env, dir: filepath.Join(scratch, fmt.Sprint(n))}
			defer w.stop()
			for i := range queue {
				if ctx.Err() != nil {
					fatal[n] = ctx.Err()
					return
				}
				if reason := o.skip(names[i]); reason != "" {
					results[i] = result{Name: names[i], Outcome: skipped, Reason: reason}
					continue
				}
				if results[i], fatal[n] = w.test(ctx, names[i]); fatal[n] != nil {
					return
				}
				fmt.Fprintf(os.Stderr, "%-4s %s (%.1fs)\n", results[i].Outcome, names[i], results[i].Took.Seconds())
			}
		})
	}
	wait.Wait()
	return results, errors.Join(fatal...)
}

// worker is a pair of processes that runs one test at a time.
type worker struct {
	options *options
	dir     string
	env     []string // for the processes, in addition to our own

	engine, host *process
	conn         *grpc.ClientConn
	client       testingrpc.LanguageTestClient
	token        string
	round        int
}

// start starts the processes and passes all paths to the engine.
func (w *worker) start(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if w.engine, err = launch(w.env, self, engineArgument); err != nil {
		return fmt.Errorf("start the suite's engine: %w", err)
	}
	if w.host, err = launch(w.env, w.options.host, w.engine.address); err != nil {
		return fmt.Errorf("start the host: %w", err)
	}
	hostAddress := "127.0.0.1:" + w.host.address
	w.conn, err = grpc.NewClient(w.engine.address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageLimit)))
	if err != nil {
		return err
	}
	w.client = testingrpc.NewLanguageTestClient(w.conn)
	w.round++
	request := &testingrpc.PrepareLanguageTestsRequest{
		LanguagePluginName: "yaml", LanguagePluginTarget: hostAddress,
		TemporaryDirectory: filepath.Join(w.dir, fmt.Sprint("work-", w.round)),
		SnapshotDirectory:  filepath.Join(w.dir, "snapshots"),
		ProvidersDirectory: w.options.providers, PolicyPackDirectory: w.options.policies,
	}
	if w.options.roundTrip {
		request.ConverterPluginTarget = hostAddress
	}
	if w.options.programs != "" {
		request.ProgramOverrides = map[string]*testingrpc.PrepareLanguageTestsRequest_ProgramOverride{}
		for name := range tests.LanguageTests {
			if folders := w.options.override(name); len(folders) > 0 {
				request.ProgramOverrides[name] = &testingrpc.PrepareLanguageTestsRequest_ProgramOverride{Paths: folders}
			}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	prepared, err := w.client.PrepareLanguageTests(ctx, request)
	if err != nil {
		return fmt.Errorf("prepare the tests: %w", err)
	}
	w.token = prepared.GetToken()
	return nil
}

// stop ends the processes.
func (w *worker) stop() {
	if w.conn != nil {
		_ = w.conn.Close()
	}
	for _, p := range []*process{w.host, w.engine} {
		if p != nil {
			p.kill()
		}
	}
	w.conn, w.host, w.engine, w.client = nil, nil, nil, nil
}

// test runs a test. If it hangs or kills a process, the processes are restarted.
func (w *worker) test(ctx context.Context, name string) (result, error) {
	if w.client == nil {
		if err := w.start(ctx); err != nil {
			w.stop()
			return result{}, err
		}
	}
	w.engine.stderr.reset()
	limit := testLimit
	if isLarge(name) {
		limit = largeLimit
	}
	started := time.Now()
	call, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answer, err := w.client.RunLanguageTest(call, &testingrpc.RunLanguageTestRequest{
		Token: w.token, Test: name, SkipConvertTests: !w.options.roundTrip,
	})
	r := result{Name: name, Took: time.Since(started)}
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case err != nil:
		r.Outcome, r.Reason = failed, status.Convert(err).Message()
		if code := status.Code(err); code == codes.DeadlineExceeded || code == codes.Unavailable {
			r.Reason += "\n" + w.host.said()
			w.stop()
		}
	case answer.GetSuccess():
		r.Outcome = passed
	default:
		r.Outcome = failed
		r.Reason = strings.Join(answer.GetMessages(), "\n")
		if w.options.verbose {
			r.Reason += "\n" + limited(answer.GetStdout()) + "\n" + limited(answer.GetStderr()) + "\n" + limited(w.engine.said())
		}
	}
	return r, nil
}

func limited(text string) string {
	const most = 4000
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

// process is a child whose first line of output is its address.
type process struct {
	cmd     *exec.Cmd
	address string
	stderr  *tail
	ended   chan struct{}
}

// launch starts a program and reads its address. Generated files replace the suite's snapshots, because this run tests
// behaviour only.
func launch(env []string, path string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(path, args...), stderr: &tail{}, ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), "PULUMI_ACCEPT=true", "PULUMI_SKIP_UPDATE_CHECK=true",
		"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true")
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.Stderr = p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := readAddress(out)
	go func() {
		_, _ = io.Copy(io.Discard, out)
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	if err != nil {
		p.kill()
		return nil, fmt.Errorf("%w\n%s", err, p.said())
	}
	p.address = line
	return p, nil
}

// readAddress reads up to the end of a line or of the output.
func readAddress(r io.Reader) (string, error) {
	var line []byte
	var b [1]byte
	for {
		n, err := r.Read(b[:])
		if n == 1 && b[0] != '\n' {
			line = append(line, b[0])
			continue
		}
		if len(line) == 0 {
			return "", errors.New("it printed no address")
		}
		if n == 1 || err != nil {
			return strings.TrimSpace(string(line)), nil
		}
	}
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

func (p *process) said() string { return p.stderr.String() }

// tail keeps the end of the text that is written to it. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	const most = 16 << 10
	t.text.Write(b)
	if extra := t.text.Len() - most; extra > 0 {
		t.text.Next(extra)
	}
	return len(b), nil
}

func (t *tail) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Reset()
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}
