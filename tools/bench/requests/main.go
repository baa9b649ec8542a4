// Command requests counts what commands ask of a bucket or a service: it starts a server of S3 in this process and runs
// the program against it, with a delay before each answer. For each command it prints the requests by kind, and the
// time at each delay. A command that makes its requests one after the other takes their number times the delay.
//
//	go run ./tools/bench/requests                      100 resources, 31 stacks, delays of 0, 30 and 100 ms
//	go run ./tools/bench/requests -resources 10 -trace prints each request, too
//	go run ./tools/bench/requests -store service       a service that takes journals; checkpoints: one that does not
//	go run ./tools/bench/requests -store azurite-blob  Azure's emulator, by the path of its program
//
// With a provider in a process of its own, the Pulumi CLI can be measured as well, if pulumi-language-yaml is on PATH:
//
//	go build -o pulumi-resource-noop ./tools/bench/pulumi-resource-noop
//	go run ./tools/bench/requests -provider pulumi-resource-noop -binary PATH/OF/pulumi
package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/yamlhost/yamlhost/test/service/host"
	"github.com/yamlhost/yamlhost/tools/bench/noop"
)

func main() {
	resources := flag.Int("resources", 100, "resources of each program")
	stacks := flag.Int("stacks", 31, "stacks to list")
	binary := flag.String("binary", "", "the program to measure; empty builds the one of this module")
	provider := flag.String("provider", "",
		"the program pulumi-resource-noop, whose resources are made; empty for built-in ones")
	store := flag.String("store", "s3", "s3, service, checkpoints, or the program azurite-blob")
	trace := flag.Bool("trace", false, "print each request")
	flag.Parse()
	if err := run(*binary, *provider, *store, *resources, *stacks, *trace); err != nil {
		fmt.Fprintln(os.Stderr, "requests:", err)
		os.Exit(1)
	}
}

// bucket counts and delays the requests to a server.
type bucket struct {
	server http.Handler
	trace  bool

	mu    sync.Mutex // guards the fields below
	delay time.Duration
	seen  map[string]int // by kind
}

// kind returns the name of a request in the API of S3, or the method.
func kind(r *http.Request) string {
	switch {
	case r.URL.Query().Has("list-type"), r.URL.Query().Get("comp") == "list":
		return "LIST"
	case r.URL.Query().Has("delete"):
		return "DELETES"
	}
	return r.Method
}

// ServeHTTP implements http.Handler.
func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	b.seen[kind(r)]++
	delay := b.delay
	b.mu.Unlock()
	if b.trace {
		fmt.Println("   ", kind(r), cmp.Or(r.URL.Query().Get("prefix"), r.URL.Path))
	}
	time.Sleep(delay)
	b.server.ServeHTTP(w, r)
}

// begin sets the delay and forgets the requests so far.
func (b *bucket) begin(delay time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.delay, b.seen = delay, map[string]int{}
}

// count describes the requests since begin.
func (b *bucket) count() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	total := 0
	var kinds []string
	for _, k := range []string{"LIST", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "DELETES"} {
		if n := b.seen[k]; n > 0 {
			total += n
			kinds = append(kinds, fmt.Sprintf("%d %s", n, k))
		}
	}
	return fmt.Sprintf("%d\t%s", total, strings.Join(kinds, ", "))
}

func run(binary, provider, store string, resources, stacks int, trace bool) (err error) {
	dir, err := os.MkdirTemp("", "yamlhost-requests-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if binary == "" {
		binary = filepath.Join(dir, "yamlhost")
		build := exec.Command("go", "build", "-tags", "grpcnotrace", "-o", binary, "./cmd/yamlhost")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("build: %w", err)
		}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "command\trequests\tby kind\t0 ms\t30 ms\t100 ms\n")
	steps := []struct {
		title string
		chain bool
		args  []string
	}{
		{fmt.Sprintf("up, %d resources", resources), false, []string{"up", "--yes", "--skip-preview"}},
		{"preview, no changes", false, []string{"preview"}},
		{"up, no changes", false, []string{"up", "--yes", "--skip-preview"}},
		{"destroy", false, []string{"destroy", "--yes", "--skip-preview"}},
		{fmt.Sprintf("up, a chain of %d", resources), true, []string{"up", "--yes", "--skip-preview"}},
		{fmt.Sprintf("stack ls, %d stacks", stacks), true, []string{"stack", "ls"}},
		{"stack ls --all", true, []string{"stack", "ls", "--all"}},
	}
	rows := make([][]string, len(steps))
	counts := make([]string, len(steps))
	for _, delay := range []time.Duration{0, 30 * time.Millisecond, 100 * time.Millisecond} {
		r, err := newRun(dir, binary, provider, store, trace)
		if err != nil {
			return err
		}
		defer r.close()
		for i, step := range steps {
			if err := r.write(resources, step.chain); err != nil {
				return err
			}
			if step.args[0] == "stack" && step.args[len(step.args)-1] == "ls" {
				r.bucket.begin(0)
				for n := range stacks - 1 {
					if err := r.do("stack", "init", fmt.Sprint("s", n), "--no-select"); err != nil {
						return err
					}
				}
			}
			if trace {
				fmt.Println(step.title)
			}
			r.bucket.begin(delay)
			start := time.Now()
			if err := r.do(step.args...); err != nil {
				return err
			}
			rows[i] = append(rows[i], fmt.Sprintf("%.2f s", time.Since(start).Seconds()))
			if delay == 0 { // leases are renewed by the clock
				counts[i] = r.bucket.count()
			}
		}
		if trace {
			return nil
		}
	}
	for i, step := range steps {
		fmt.Fprintf(w, "%s\t%s\t%s\n", step.title, counts[i], strings.Join(rows[i], "\t"))
	}
	return w.Flush()
}

// runner runs the program in a folder of its own against a server of its own.
type runner struct {
	binary, provider, dir string
	bucket                *bucket
	server                *httptest.Server
	emulator              *exec.Cmd // nil without one
	backend               []string  // variables
}

// close ends the servers.
func (r *runner) close() {
	r.server.Close()
	if r.emulator != nil {
		_ = r.emulator.Process.Kill()
		_ = r.emulator.Wait()
	}
}

func newRun(dir, binary, provider, store string, trace bool) (*runner, error) {
	r := &runner{binary: binary, provider: provider, bucket: &bucket{trace: trace}}
	r.bucket.begin(0)
	r.server = httptest.NewServer(r.bucket)
	var err error
	if r.dir, err = os.MkdirTemp(dir, "run-"); err == nil {
		err = r.serve(store)
	}
	if err != nil {
		return nil, err
	}
	if provider != "" {
		folder := filepath.Join(r.dir, "home", "plugins", "resource-noop-v"+noop.Version)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
		from, err := filepath.Abs(provider)
		if err == nil {
			err = os.Symlink(from, filepath.Join(folder, "pulumi-resource-noop"))
		}
		if err != nil {
			return nil, err
		}
	}
	if err := r.write(1, false); err != nil {
		return nil, err
	}
	return r, r.do("stack", "init", "dev")
}

// serve starts what answers the requests, with an empty bucket or account.
func (r *runner) serve(store string) error {
	address := r.server.Listener.Addr().String()
	switch store {
	case "s3":
		fake := gofakes3.New(s3mem.New())
		r.bucket.server = fake.Server()
		r.backend = []string{"AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=secret", "AWS_EC2_METADATA_DISABLED=true",
			"AWS_CONFIG_FILE=/dev/null", "AWS_SHARED_CREDENTIALS_FILE=/dev/null", "PULUMI_BACKEND_URL=s3://pail/state?" +
				"region=eu-west-1&s3ForcePathStyle=true&disableSSL=true&endpoint=" + address}
		request, err := http.NewRequest(http.MethodPut, r.server.URL+"/pail", nil)
		if err != nil {
			return err
		}
		answer, err := r.server.Client().Do(request)
		if err != nil {
			return err
		}
		return answer.Body.Close()
	case "service", "checkpoints":
		service, err := host.Open(filepath.Join(r.dir, "service"))
		if err != nil {
			return err
		}
		if store == "checkpoints" {
			service.Set(host.Behaviour{Forget: []string{"journal"}})
		}
		r.bucket.server = service
		r.backend = []string{"PULUMI_BACKEND_URL=" + r.server.URL, "PULUMI_ACCESS_TOKEN=" + service.Token()}
		return nil
	}
	return r.emulate(store, address)
}

// emulate starts Azure's emulator behind the address of the counting server.
func (r *runner) emulate(program, address string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	behind := l.Addr().String()
	name, port, err := net.SplitHostPort(behind)
	if err = errors.Join(err, l.Close()); err != nil {
		return err
	}
	key := base64.StdEncoding.EncodeToString([]byte("key"))
	r.emulator = exec.Command(program, "--blobHost", name, "--blobPort", port, "--location", filepath.Join(r.dir, "azure"),
		"--silent", "--skipApiVersionCheck", "--disableProductStyleUrl", "--disableTelemetry")
	r.emulator.Env = append(os.Environ(), "AZURITE_ACCOUNTS=account:"+key)
	if err := r.emulator.Start(); err != nil {
		return err
	}
	r.bucket.server = httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: behind})
	r.backend = []string{"AZURE_STORAGE_ACCOUNT=account", "AZURE_STORAGE_KEY=" + key,
		"PULUMI_BACKEND_URL=azblob://pail/state?protocol=http&localemu=true&domain=" + address}
	credential, err := container.NewSharedKeyCredential("account", key)
	if err != nil {
		return err
	}
	pail, err := container.NewClientWithSharedKeyCredential("http://"+behind+"/account/pail", credential, nil)
	for range 600 { // until it answers
		if err == nil {
			_, err = pail.Create(context.Background(), nil)
		}
		if err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
		pail, err = container.NewClientWithSharedKeyCredential("http://"+behind+"/account/pail", credential, nil)
	}
	return errors.New("the emulator does not answer")
}

// write writes a program of n resources, each of which needs the one before in a chain.
func (r *runner) write(n int, chain bool) error {
	var text strings.Builder
	text.WriteString("name: requests\nruntime: yaml\nresources:\n")
	for i := range n {
		declared := "type: random:RandomPet\n    properties: {length: 2}"
		if r.provider != "" {
			declared = "type: noop:Thing\n    properties: {title: t, size: 2}"
		}
		fmt.Fprintf(&text, "  r%d:\n    %s\n", i, declared)
		if chain && i > 0 {
			fmt.Fprintf(&text, "    options: {dependsOn: [\"${r%d}\"]}\n", i-1)
		}
	}
	return os.WriteFile(filepath.Join(r.dir, "Pulumi.yaml"), []byte(text.String()), 0o600)
}

// do runs a command.
func (r *runner) do(args ...string) error {
	cmd := exec.Command(r.binary, args...)
	cmd.Dir = r.dir
	cmd.Env = append(append(os.Environ(), "HOME="+r.dir, "PULUMI_HOME="+filepath.Join(r.dir, "home"),
		"PULUMI_CONFIG_PASSPHRASE=requests", "PULUMI_SKIP_UPDATE_CHECK=true",
		"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true"), r.backend...)
	cmd.Stdout = io.Discard
	var faults strings.Builder
	cmd.Stderr = &faults
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, faults.String())
	}
	return nil
}
