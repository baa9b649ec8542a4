//go:build linux && !lean

package kill

import (
	"context"
	"encoding/binary"
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
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/runtime/queue"
)

var (
	scaleStacks  = flag.String("scale-stacks", "6", "numbers of stacks, with commas")
	scaleWorkers = flag.String("scale-workers", "2", "numbers of workers, with commas")
	scaleStore   = flag.String("scale-store", "postgres", "the store of the states: postgres, s3 or azure")
)

// traffic counts requests, bytes and connections. It is safe for concurrent use.
type traffic struct {
	requests, writes, sent, received, open, peak atomic.Int64
}

// connected counts a new connection.
func (c *traffic) connected() {
	now := c.open.Add(1)
	for peak := c.peak.Load(); now > peak && !c.peak.CompareAndSwap(peak, now); peak = c.peak.Load() {
	}
}

// take returns the counts since the last call.
func (c *traffic) take() string {
	return fmt.Sprintf("%d requests (%d writes), %d KB sent, %d KB received, %d connections at most", c.requests.Swap(0),
		c.writes.Swap(0), c.sent.Swap(0)/1000, c.received.Swap(0)/1000, c.peak.Swap(c.open.Load()))
}

// counted counts the bytes read from a reader.
type counted struct {
	io.Reader
	n *atomic.Int64
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// countingSocket returns a folder with a socket that forwards to a PostgreSQL server, and the traffic that it counts.
func countingSocket(t *testing.T, server string) (dir string, c *traffic) {
	dir, err := os.MkdirTemp("", "kill-") // a socket's path must be short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	require.NoError(t, err)
	c = &traffic{}
	ctx, end := context.WithCancel(context.Background())
	var group sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		end()
		group.Wait()
	})
	group.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			group.Go(func() { c.pass(ctx, client, filepath.Join(server, ".s.PGSQL.5432")) })
		}
	})
	return dir, c
}

// pass forwards between a client and a server until either closes the connection or ctx ends.
func (c *traffic) pass(ctx context.Context, client net.Conn, server string) {
	defer context.AfterFunc(ctx, func() { _ = client.Close() })()
	defer func() { _ = client.Close() }()
	dst, err := net.Dial("unix", server)
	if err != nil {
		return
	}
	c.connected()
	defer c.open.Add(-1)
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(client, counted{dst, &c.received}) // ends with the connection
		_ = client.Close()
	})
	_ = c.messages(counted{client, &c.sent}, dst) // ends with the connection, too
	_ = dst.Close()
	back.Wait()
}

// messages forwards the messages of a client. The first one has no type byte. Simple queries and executions of prepared
// statements count as requests.
func (c *traffic) messages(client io.Reader, server io.Writer) error {
	for first := true; ; first = false {
		head := make([]byte, 5)
		if first {
			head = head[1:]
		}
		if _, err := io.ReadFull(client, head); err != nil {
			return err
		}
		if !first && (head[0] == 'Q' || head[0] == 'E') {
			c.requests.Add(1)
		}
		size := int64(binary.BigEndian.Uint32(head[len(head)-4:]))
		if _, err := server.Write(head); err != nil {
			return err
		}
		if _, err := io.CopyN(server, client, size-4); err != nil {
			return err
		}
	}
}

// countingServer returns an address that forwards to an HTTP server, and the traffic that it counts.
func countingServer(t *testing.T, address string) (own string, c *traffic) {
	c = &traffic{}
	pass := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", address, r.In.Host // signatures cover the host
		},
		ModifyResponse: func(r *http.Response) error {
			c.received.Add(max(0, r.ContentLength))
			return nil
		},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.requests.Add(1)
		if r.Method == http.MethodPut || r.Method == http.MethodDelete || r.Method == http.MethodPost {
			c.writes.Add(1)
		}
		c.sent.Add(max(0, r.ContentLength))
		c.connected()
		defer c.open.Add(-1)
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://"), c
}

// processorTime returns the CPU time of a process and its ended children.
func processorTime(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	words := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	ticks := 0
	for _, word := range words[11:15] {
		n, _ := strconv.Atoi(word)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// TestQueueScale sends stacks through the queue, once to create them and once without changes, and logs the load on
// each store (docs/design/scale.md).
func TestQueueScale(t *testing.T) {
	for _, stacks := range numbers(t, *scaleStacks) {
		for _, workers := range numbers(t, *scaleWorkers) {
			t.Run(fmt.Sprintf("%s/%d stacks/%d workers", *scaleStore, stacks, workers), func(t *testing.T) {
				scale(t, stacks, workers)
			})
		}
	}
}

func numbers(t *testing.T, text string) (list []int) {
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		require.NoError(t, err)
		list = append(list, n)
	}
	return list
}

func scale(t *testing.T, stacks, workers int) {
	db := newDatabase(t)
	queueDir, queueTraffic := countingSocket(t, db.server.Dir)
	var store storeServer = db
	var stateURL string
	var stateTraffic *traffic
	switch *scaleStore {
	case "postgres":
		dir, c := countingSocket(t, db.server.Dir)
		stateURL, stateTraffic = strings.Replace(db.url("states"), url.QueryEscape(db.server.Dir), url.QueryEscape(dir), 1), c
	case "s3":
		g := newGateway(t)
		address, c := countingServer(t, g.address)
		stateURL, stateTraffic, store = strings.Replace(g.url("states"), g.address, address, 1), c, g
	case "azure":
		e := newEmulator(t)
		address, c := countingServer(t, e.address)
		stateURL, stateTraffic, store = strings.Replace(e.url("states"), e.address, address, 1), c, e
	default:
		t.Fatalf("what is the store %q?", *scaleStore)
	}
	b := newBenchAt(t, &outcome{points: map[string]int{}}, 7, stateURL)
	for name, value := range store.environ() {
		b.environ = append(b.environ, name+"="+value)
	}
	f := &fleet{t: t, bench: b, url: "postgres:///postgres?host=" + queueDir + "&user=postgres", stacks: stacks,
		open: store.open, workers: make([]*exec.Cmd, workers), jobs: 1}
	q := f.begin()
	f.release = 1
	for turn, what := range []string{"first run", "no changes"} {
		queueTraffic.take()
		stateTraffic.take()
		used := func() (sum time.Duration) {
			for _, w := range f.workers {
				sum += processorTime(w.Process.Pid)
			}
			return sum
		}
		before, began := used(), time.Now()
		run := f.submit(q, fmt.Sprint("r", turn))
		done := 0
		require.NoError(t, q.Follow(context.Background(), run, func(e *queue.Entry) {
			if e.Over() && e.Result != nil && e.Result.Code == console.CodeOK {
				done++
			} else {
				t.Logf("%s: %v %+v", e.Job.Key(), e.Errors, e.Result)
			}
		}))
		require.Equal(t, stacks, done, what)
		require.Positive(t, stateTraffic.requests.Load())
		t.Logf("%s of %d stacks by %d workers: %v, processor %v\n  states: %s\n  queue:  %s", what, stacks, workers,
			time.Since(began).Round(time.Millisecond), (used() - before).Round(10*time.Millisecond), stateTraffic.take(),
			queueTraffic.take())
	}
	f.audit()
}
