package host

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Exchange is a call and its answer.
type Exchange struct {
	Method string          `json:"method"`
	Path   string          `json:"path"`            // with the query
	Lease  string          `json:"lease,omitempty"` // the token of an update
	Body   json.RawMessage `json:"body,omitempty"`
	Status int             `json:"status"`
	Answer json.RawMessage `json:"answer,omitempty"`
}

// Record serves a handler, and gives each exchange to a function, one at a time, in the order of the answers.
func Record(h http.Handler, take func(Exchange)) http.Handler {
	var mu sync.Mutex
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, plain, err := unpacked(r)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		lease, _ := strings.CutPrefix(r.Header.Get("Authorization"), "update-token ")
		if lease == r.Header.Get("Authorization") {
			lease = ""
		}
		mu.Lock()
		defer mu.Unlock()
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		take(Exchange{Method: r.Method, Path: r.URL.RequestURI(), Lease: lease, Body: plain, Status: answer.Code,
			Answer: answer.Body.Bytes()})
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()) // the caller has gone
	})
}
