// Package httpget reads from web servers, which may be out of reach or overloaded for a moment: it tries again. It knows
// nothing of what is read.
package httpget

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// attempts is how often something is tried (F2.33).
const attempts = 5

// FinalError is a fault that another attempt would meet again.
type FinalError struct{ Problem string }

// Error is the problem.
func (e *FinalError) Error() string { return e.Problem }

// Repeat calls attempt until it succeeds, returns a *FinalError, was called five times, or ctx has ended. It waits in between,
// each time twice as long, at first for pause; 0 stands for 80 ms. It returns the error of the last attempt.
func Repeat(ctx context.Context, pause time.Duration, attempt func() error) error {
	if pause == 0 {
		pause = 80 * time.Millisecond
	}
	for n := 1; ; n++ {
		err := attempt()
		var final *FinalError
		if err == nil || errors.As(err, &final) || n == attempts || ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(pause << (n - 1)):
		case <-ctx.Done():
		}
	}
}

// Open reads what is at an address; the caller closes it. A server that cannot be reached, that has too much to do or that
// has a fault of its own is asked again, after pauses as Repeat has them. client may be nil for the usual one.
func Open(ctx context.Context, client *http.Client, address string, pause time.Duration) (io.ReadCloser, error) {
	if client == nil {
		client = http.DefaultClient
	}
	var body io.ReadCloser
	err := Repeat(ctx, pause, func() error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return &FinalError{"the URL is malformed"}
		}
		response, err := client.Do(request)
		if err != nil {
			var u *url.Error
			if errors.As(err, &u) {
				return u.Err // the address is named already
			}
			return err
		}
		if response.StatusCode == http.StatusOK {
			body = response.Body
			return nil
		}
		_ = response.Body.Close() // nothing of it is wanted
		problem := "the server answered " + response.Status
		if response.StatusCode < 500 && response.StatusCode != http.StatusTooManyRequests && response.StatusCode != http.StatusRequestTimeout {
			return &FinalError{problem}
		}
		return errors.New(problem)
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", address, err)
	}
	return body, nil
}
