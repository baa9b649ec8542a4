// Package httpget reads from web servers, which may be out of reach or overloaded for a moment: it tries again. It
// does not interpret the data.
package httpget

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/internal/nohost"
)

// attempts is how often something is tried (F2.33).
const attempts = 5

// FinalError is a fault that another attempt would meet again.
type FinalError struct{ Problem string }

// Error returns the problem.
func (e *FinalError) Error() string { return e.Problem }

// Repeat calls attempt until it succeeds, returns a *FinalError, was called five times, or ctx has ended. It waits in
// between, each time twice as long, at first for pause; 0 stands for 80 ms. It returns the error of the last attempt.
func Repeat(ctx context.Context, pause time.Duration, attempt func() error) error {
	pause = cmp.Or(pause, 80*time.Millisecond)
	for n := 1; ; n++ {
		err := attempt()
		if err == nil || errors.As(err, new(*FinalError)) || n == attempts || ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(pause << (n - 1)):
		case <-ctx.Done():
		}
	}
}

// Options are how a server is asked.
type Options struct {
	Header http.Header
	// Silence is how long the server may send nothing, before its answer and in it; 0 for ever.
	Silence time.Duration
	// Redirect returns an error for a redirect that is not allowed; nil allows all.
	Redirect func(address string) error
}

// Get asks a server once; the caller closes the body of the answer, whatever its status. client may be nil for the
// usual one. An error that another attempt would meet again is a *FinalError.
func Get(ctx context.Context, client *http.Client, address string, o Options) (*http.Response, error) {
	asking := http.Client{}
	if client != nil {
		asking = *client
	}
	if o.Redirect != nil {
		before := asking.CheckRedirect
		asking.CheckRedirect = func(r *http.Request, via []*http.Request) error {
			if err := o.Redirect(r.URL.String()); err != nil {
				address, _, _ := strings.Cut(r.URL.Redacted(), "?") // a query may be as good as a password
				return &FinalError{fmt.Sprintf("the server redirects to %s: %s", address, err)}
			}
			switch {
			case before != nil:
				return before(r, via)
			case len(via) >= 10:
				return &FinalError{"the server redirects too many times"}
			}
			return nil
		}
	}
	watched, cancel := context.WithCancelCause(ctx)
	request, err := http.NewRequestWithContext(watched, http.MethodGet, address, nil)
	if err != nil {
		cancel(nil)
		return nil, &FinalError{"the URL is malformed"}
	}
	maps.Copy(request.Header, o.Header)
	silent := fmt.Errorf("the server sent no data for %s", o.Silence)
	var timer *time.Timer
	if o.Silence > 0 {
		timer = time.AfterFunc(o.Silence, func() { cancel(silent) })
	}
	response, err := asking.Do(request)
	if err != nil {
		if timer != nil {
			timer.Stop()
		}
		defer cancel(nil)
		return nil, plainly(watched, err)
	}
	response.Body = &heard{ReadCloser: response.Body, ctx: watched, cancel: cancel, timer: timer, silence: o.Silence}
	return response, nil
}

// heard is the body of an answer, which ends when nothing comes for too long. It is read by one goroutine.
type heard struct {
	io.ReadCloser
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timer   *time.Timer // nil without a limit
	silence time.Duration
}

// Read reads what comes, and gives the server time for more.
func (h *heard) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	if n > 0 && h.timer != nil {
		h.timer.Reset(h.silence)
	}
	if err != nil && err != io.EOF {
		err = plainly(h.ctx, err)
	}
	return n, err
}

// Close ends the answer.
func (h *heard) Close() error {
	if h.timer != nil {
		h.timer.Stop()
	}
	err := h.ReadCloser.Close()
	h.cancel(nil)
	return err
}

// plainly is an error of a request without the address, which is named already, and with the cause of an end that was
// ours.
func plainly(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return Plain(err)
}

// Plain returns an error of a request without its address, which callers name.
func Plain(err error) error {
	if host := nohost.In(err); host != "" {
		return &nohost.Error{Host: host}
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// StatusError returns the error for an unsuccessful response. It is a *FinalError unless another attempt may help: the
// status is 408, 429 or 5xx.
func StatusError(response *http.Response) error {
	problem := "the server answered " + response.Status
	if response.StatusCode < 500 && response.StatusCode != http.StatusTooManyRequests &&
		response.StatusCode != http.StatusRequestTimeout {
		return &FinalError{problem}
	}
	return errors.New(problem)
}

// mostSilence is how long a server may send nothing to Open.
const mostSilence = time.Minute

// Open returns the body of the resource at an address; the caller closes it. If the server is unreachable, overloaded
// or fails, the request is repeated after the pauses of Repeat. A nil client selects the default one.
func Open(ctx context.Context, client *http.Client, address string, pause time.Duration) (io.ReadCloser, error) {
	var body io.ReadCloser
	err := Repeat(ctx, pause, func() error {
		response, err := Get(ctx, client, address, Options{Silence: mostSilence})
		if err != nil {
			return err
		}
		if response.StatusCode == http.StatusOK {
			body = response.Body
			return nil
		}
		_ = response.Body.Close() // nothing of it is wanted
		return StatusError(response)
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", address, err)
	}
	return body, nil
}
