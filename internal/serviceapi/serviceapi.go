// Package serviceapi calls a service that keeps stacks behind HTTP, such as Pulumi Cloud: Client. It knows how calls
// are signed, packed and repeated, and what statuses mean, and none of the calls themselves.
package serviceapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/yamlhost/yamlhost/internal/httpget"
	"github.com/yamlhost/yamlhost/internal/nohost"
	"github.com/yamlhost/yamlhost/internal/printable"
)

// Options are how a service is asked.
type Options struct {
	// Token returns the user's token; empty if there is none, which gives ErrNoToken. It is called until it returns
	// one.
	Token func() (string, error)
	HTTP  *http.Client  // nil for the usual one
	Agent string        // the name of the program for the service
	Pause time.Duration // see httpget.Repeat
	// Opening returns the context of a call while the service has not answered any yet, and what ends it; nil leaves
	// calls their own.
	Opening func(context.Context) (_ context.Context, done func())
}

// Client calls one service. It is safe for concurrent use.
type Client struct {
	url    string
	o      Options
	client http.Client
	most   sizes

	answered atomic.Bool // the service is there

	mu    sync.Mutex // guards token
	token string
}

// ErrNoToken: there is no token for the service.
var ErrNoToken = errors.New("there is no token for it")

// limits of a call.
const (
	patience = time.Minute
	// namePatience is how long a host that is not found and has never answered is looked for: its name is
	// probably wrong.
	namePatience = 2 * time.Second
	packed       = 4096 // bodies from this size on are packed where the call allows it

	longestMessage = 300 // characters of a service's message
	// Compression reduces a state to between a tenth and a thirtieth. More than mostRatio times what was sent are an
	// attempt to use up the memory.
	mostRatio = 100
)

// sizes are limits of answers in bytes, unpacked.
type sizes struct{ answer, state int64 }

var usualSizes = sizes{64 << 20, 1 << 30}

// Address returns a service's URL without a slash at its end. The URL has to be one that a token may be sent to: https,
// or http to this machine.
func Address(rawURL string) (string, error) {
	text := strings.TrimRight(rawURL, "/")
	address, err := url.Parse(text)
	if err != nil || address.Host == "" || address.User != nil || address.RawQuery != "" || address.Fragment != "" {
		return "", errors.New("it is no sound URL")
	}
	ip := net.ParseIP(address.Hostname())
	local := address.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if address.Scheme != "https" && !(address.Scheme == "http" && local) {
		return "", errors.New("a token is sent by https only")
	}
	return text, nil
}

// New returns a client for a service, without sending a request. It returns the errors of Address.
func New(rawURL string, o Options) (*Client, error) {
	address, err := Address(rawURL)
	if err != nil {
		return nil, err
	}
	c := &Client{url: address, o: o, most: usualSizes}
	if o.HTTP != nil {
		c.client = *o.HTTP
	}
	c.client.Timeout = patience
	// Another server must not get the token.
	c.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

// URL returns the service's URL, without a slash at its end.
func (c *Client) URL() string { return c.url }

// StatusError is an answer by which a service refuses a call.
type StatusError struct {
	Status  int
	Message string // of the service, shortened and made harmless for terminals; may be empty
	Answer  []byte // whole
	sent    int    // bytes of the call, as they were sent
	url     string // of the service
}

// Error returns an explanation of the HTTP status.
func (e *StatusError) Error() string {
	switch e.Status {
	case http.StatusUnauthorized:
		return fmt.Sprintf("it refuses the token, which is unknown or has expired; log in again with `yamlhost login %s`, or "+
			"set another PULUMI_ACCESS_TOKEN", e.url)
	case http.StatusRequestEntityTooLarge:
		return fmt.Sprintf("a call of %d kB is larger than it takes: its limit has to be raised, or the resources of the "+
			"stack have to hold less", (e.sent+999)/1000)
	}
	text := fmt.Sprintf("it answers with status %d", e.Status)
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// AwayError is a service that cannot be reached, or has only faults of its own to answer.
type AwayError struct{ Err error }

// Error names the last fault.
func (e *AwayError) Error() string { return "it cannot be reached: " + e.Err.Error() }

// Unwrap gives the last fault.
func (e *AwayError) Unwrap() error { return e.Err }

// Status returns the status by which a service refused a call; 0 if it was none.
func Status(err error) int {
	if refused, ok := errors.AsType[*StatusError](err); ok {
		return refused.Status
	}
	return 0
}

// Call is one call.
type Call struct {
	Method string // GET and HEAD are repeated while the service is away
	Path   string // from /api on, escaped; see Path
	Query  url.Values
	Body   any    // becomes JSON, []byte is JSON already; nil for none
	Lease  string // the token of an update, in place of the user's
	Again  bool   // it may be repeated, too: doing it twice is as good as once
	Packed bool   // a large body may be packed
	State  bool   // the answer is a state, which may be larger than other answers
	Tag    string // of the Text that the call replaces; empty for any
	// Patient lets pauses between attempts be four times as long, for a call that others depend on.
	Patient bool
}

// largeError is returned for an answer that exceeds the limits.
type largeError struct{ limit string }

func (e *largeError) Error() string { return "its answer is larger than " + e.limit }

// Text is an answer that is no JSON, and the name of its version.
type Text struct {
	Bytes []byte
	Tag   string
}

// Path joins parts of a path, each of which is escaped.
func Path(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("/" + url.PathEscape(p))
	}
	return b.String()
}

// Do makes a call and reads the answer's JSON into answer unless that is nil. Errors are a *StatusError, an *AwayError,
// ErrNoToken, what Options.Token returns, or a malformed or oversized answer.
func (c *Client) Do(ctx context.Context, call Call, answer any) error {
	if c.o.Opening != nil && !c.answered.Load() {
		opening, done := c.o.Opening(ctx)
		defer done()
		ctx = opening
	}
	authorization := "update-token " + call.Lease
	if call.Lease == "" {
		token, err := c.userToken()
		if err != nil {
			return err
		}
		authorization = "token " + token
	}
	body, isJSON := call.Body.([]byte)
	if call.Body != nil && !isJSON {
		var err error
		if body, err = json.Marshal(call.Body); err != nil {
			return err
		}
	}
	header := http.Header{"Accept": {"application/vnd.pulumi+9"}, "Authorization": {authorization},
		"User-Agent": {c.o.Agent}, "Accept-Encoding": {"gzip"}}
	if body != nil {
		header.Set("Content-Type", "application/json")
	}
	if call.Tag != "" {
		header.Set("ETag", call.Tag)
	}
	if call.Packed && len(body) >= packed {
		var out bytes.Buffer
		w, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed) // the level exists
		_, err := w.Write(body)
		if err = errors.Join(err, w.Close()); err != nil {
			return err
		}
		body = out.Bytes()
		header.Set("Content-Encoding", "gzip")
	}
	var got Text
	var refused *StatusError
	var large *largeError
	began := time.Now()
	attempt := func() (err error) {
		got, refused, err = c.once(ctx, call, header, body)
		if refused != nil {
			return &httpget.FinalError{Problem: refused.Error()}
		}
		if errors.As(err, &large) {
			return &httpget.FinalError{Problem: large.Error()}
		}
		if nohost.In(err) != "" && !c.answered.Load() && time.Since(began) > namePatience {
			return &httpget.FinalError{Problem: err.Error()}
		}
		return err
	}
	var err error
	if call.Again || call.Method == http.MethodGet || call.Method == http.MethodHead {
		pause := c.o.Pause
		if call.Patient {
			pause *= 4
		}
		err = httpget.Repeat(ctx, pause, attempt)
	} else {
		err = attempt()
	}
	c.answered.CompareAndSwap(false, err == nil || refused != nil)
	if refused != nil {
		return refused
	}
	if large != nil {
		return large
	}
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &AwayError{err}
	}
	if whole, ok := answer.(*Text); ok {
		*whole = got
		return nil
	}
	if answer == nil || len(got.Bytes) == 0 {
		return nil
	}
	valid := false
	if raw, ok := answer.(*json.RawMessage); ok { // kept byte by byte
		*raw, valid = got.Bytes, json.Valid(got.Bytes)
	} else {
		valid = json.Unmarshal(got.Bytes, answer) == nil
	}
	if !valid {
		return errors.New("its answer is malformed")
	}
	return nil
}

func (c *Client) userToken() (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token != "" {
		return c.token, nil
	}
	token, err := c.o.Token()
	if err != nil {
		return "", err
	}
	if token == "" {
		return "", fmt.Errorf("%w: log in with `yamlhost login %s`, or set PULUMI_ACCESS_TOKEN", ErrNoToken, c.url)
	}
	c.token = token
	return token, nil
}

// once makes one attempt. refused is an answer that another attempt would get again, err any other fault.
func (c *Client) once(ctx context.Context, call Call, header http.Header, body []byte) (got Text,
	refused *StatusError, err error) {
	address := c.url + "/api" + call.Path
	if len(call.Query) > 0 {
		address += "?" + call.Query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, call.Method, address, bytes.NewReader(body))
	if err != nil {
		return got, nil, err
	}
	request.Header = header
	response, err := c.client.Do(request)
	if err != nil {
		return got, nil, httpget.Plain(err)
	}
	defer response.Body.Close()
	text, err := c.most.read(response, call.State)
	if err != nil {
		return got, nil, err
	}
	if response.StatusCode >= 200 && response.StatusCode < 300 {
		return Text{text, response.Header.Get("ETag")}, nil, nil
	}
	var said struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(text, &said) // without a message the status has to do
	problem := &StatusError{response.StatusCode, printable.Short(said.Message, longestMessage), text, len(body),
		c.url}
	if problem.Status == http.StatusTooManyRequests || problem.Status >= http.StatusInternalServerError {
		return got, nil, problem
	}
	return got, problem, nil
}

// read reads the body of an answer, and unpacks it while it arrives. Only a state may be larger than other answers, and
// then not more than mostRatio times what arrived.
func (most sizes) read(response *http.Response, isState bool) ([]byte, error) {
	received := &counter{r: response.Body}
	var unpacked io.Reader = received
	if response.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(received)
		switch {
		case err == io.EOF && received.n == 0:
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("unpack its answer: %w", err)
		}
		unpacked = z
	}
	var text bytes.Buffer
	for {
		_, err := io.CopyN(&text, unpacked, 64<<10)
		size := int64(text.Len())
		switch {
		case size > most.state:
			return nil, &largeError{fmt.Sprintf("%d MiB", most.state>>20)}
		case size > most.answer && !isState:
			return nil, &largeError{fmt.Sprintf("%d MiB", most.answer>>20)}
		case size > most.answer && size > mostRatio*received.n:
			return nil, &largeError{fmt.Sprintf("%d MiB and over %d times what was sent: no state is", most.answer>>20,
				mostRatio)}
		case err == io.EOF:
			return text.Bytes(), nil
		case err != nil:
			return nil, err
		}
	}
}

// counter counts the bytes that are read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
