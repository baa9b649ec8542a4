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

// Exchange is a call and its response.
type Exchange struct {
	Method string          `json:"method"`
	Path   string          `json:"path"`            // with the query
	Lease  string          `json:"lease,omitempty"` // the token of an update
	Body   json.RawMessage `json:"body,omitempty"`
	Status int             `json:"status"`
	Answer json.RawMessage `json:"answer,omitempty"`
}

// Record serves a handler and passes each exchange to take, one at a time, in the order of the responses.
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
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		mu.Lock()
		take(Exchange{Method: r.Method, Path: r.URL.RequestURI(), Lease: lease, Body: jsonOf(plain),
			Status: answer.Code, Answer: jsonOf(answer.Body.Bytes())})
		mu.Unlock()
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()) // the caller has gone
	})
}

// jsonOf returns a text as JSON: as it is, or as a string if it is none, such as the document of an environment.
func jsonOf(text []byte) json.RawMessage {
	if len(text) == 0 || json.Valid(text) {
		return text
	}
	quoted, err := json.Marshal(string(text))
	if err != nil {
		panic("host: a text does not encode: " + err.Error())
	}
	return quoted
}
