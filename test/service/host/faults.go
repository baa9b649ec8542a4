package host

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Behaviour configures the faults and the capabilities of a Host.
type Behaviour struct {
	Delay time.Duration `json:"delay,omitempty"` // before each answer
	// Forget lists missing capabilities: journal, delta, batch-encrypt, batch-decrypt, schema, environments, or
	// capabilities, which makes the request for capabilities fail.
	Forget []string `json:"forget,omitempty"`
	// Limit is the maximum size of a body as sent, in bytes; 0 for any size.
	Limit int `json:"limit,omitempty"`
	// Version is the version of the protocol; 0 for the newest. Below 8, the list of stacks has no pages.
	Version int `json:"version,omitempty"`
	// Policies are the policy packs that every run requires.
	Policies []Policy      `json:"policies,omitempty"`
	Lease    time.Duration `json:"lease,omitempty"` // the longest; 0 for 5 minutes
	Faults   []Fault       `json:"faults,omitempty"`
}

// Policy is a policy pack that every run requires.
type Policy struct {
	Name         string         `json:"name"`
	Version      string         `json:"version"`
	Dir          string         `json:"dir,omitempty"`      // the pack, which is served; empty for one without a place
	Archive      []byte         `json:"archive,omitempty"`  // is served in place of Dir
	Location     string         `json:"location,omitempty"` // in place of what is served
	Config       map[string]any `json:"config,omitempty"`
	Environments []string       `json:"environments,omitempty"`
	Exceptions   map[string]any `json:"exceptions,omitempty"`
}

// Fault is a fault of some calls.
type Fault struct {
	Call  string `json:"call"`            // a part of "METHOD path"; empty for all
	After int    `json:"after,omitempty"` // how many such calls go well first
	Times int    `json:"times,omitempty"` // how many then do not; 0 for all
	// Kind is lose (the call never arrives), lose-answer (it is processed, but its response is lost), twice (it arrives
	// twice), late (its response is lost, and it arrives after the next call), die, die-after, or a status.
	Kind   string `json:"kind"`
	Status int    `json:"status,omitempty"`
}

// faults counts the calls that faults are about.
type faults struct {
	mu    sync.Mutex
	b     Behaviour
	seen  []int
	calls map[string]int
	bytes int
	late  []func(http.ResponseWriter) // calls that have yet to arrive
}

// Set sets the behaviour of the server and resets the counts of calls.
func (h *Host) Set(b Behaviour) {
	h.faults.mu.Lock()
	defer h.faults.mu.Unlock()
	h.faults.b, h.faults.seen, h.faults.calls = b, make([]int, len(b.Faults)), map[string]int{}
	h.faults.bytes = 0
}

// Calls returns the number of calls since Set, by the last part of their paths.
func (h *Host) Calls() map[string]int {
	h.faults.mu.Lock()
	defer h.faults.mu.Unlock()
	out := map[string]int{}
	for k, n := range h.faults.calls {
		out[k] = n
	}
	return out
}

// Bytes returns the total size of the bodies of these calls as sent, in bytes.
func (h *Host) Bytes() int {
	h.faults.mu.Lock()
	defer h.faults.mu.Unlock()
	return h.faults.bytes
}

func (h *Host) behaviour() Behaviour {
	h.faults.mu.Lock()
	defer h.faults.mu.Unlock()
	return h.faults.b
}

func (h *Host) forgets(capability string) bool {
	for _, name := range h.behaviour().Forget {
		if name == capability {
			return true
		}
	}
	return false
}

// due counts a call and returns its fault; nil if it has none.
func (f *faults) due(call string, size int) *Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bytes += size
	if f.calls != nil {
		f.calls[call[strings.LastIndex(call, "/")+1:]]++
	}
	var due *Fault
	for i := range f.b.Faults {
		fault := &f.b.Faults[i]
		if !strings.Contains(call, fault.Call) {
			continue
		}
		f.seen[i]++
		if n := f.seen[i] - fault.After; n > 0 && (fault.Times == 0 || n <= fault.Times) && due == nil {
			due = fault
		}
	}
	return due
}

// behave processes a call with its fault, if it has one.
func (h *Host) behave(w http.ResponseWriter, r *http.Request, size int, call func(http.ResponseWriter)) {
	if strings.HasPrefix(r.URL.Path, "/test/") {
		call(w)
		return
	}
	b := h.behaviour()
	time.Sleep(b.Delay)
	if b.Limit > 0 && size > b.Limit {
		answer(w, nil, fail(http.StatusRequestEntityTooLarge, "Request Entity Too Large"))
		return
	}
	fault := h.faults.due(r.Method+" "+r.URL.Path, size)
	if fault == nil {
		call(w)
		h.faults.mu.Lock()
		late := h.faults.late
		h.faults.late = nil
		h.faults.mu.Unlock()
		for _, call := range late {
			call(httptest.NewRecorder())
		}
		return
	}
	switch fault.Kind {
	case "lose":
		panic(http.ErrAbortHandler)
	case "lose-answer":
		call(httptest.NewRecorder())
		panic(http.ErrAbortHandler)
	case "late":
		h.faults.mu.Lock()
		h.faults.late = append(h.faults.late, call)
		h.faults.mu.Unlock()
		panic(http.ErrAbortHandler)
	case "twice":
		call(httptest.NewRecorder())
		call(w)
	case "die", "die-after":
		if fault.Kind == "die-after" {
			call(httptest.NewRecorder())
		}
		if h.Die != nil {
			h.Die()
		}
		panic(http.ErrAbortHandler)
	default:
		answer(w, nil, fail(fault.Status, "%s", http.StatusText(fault.Status)))
	}
}

// capabilities lists what the server can do beyond the oldest protocol.
func (h *Host) capabilities() (any, error) {
	if h.forgets("capabilities") {
		return nil, fail(http.StatusNotFound, "Not Found")
	}
	type capability struct {
		Capability    string `json:"capability"`
		Version       int    `json:"version,omitempty"`
		Configuration any    `json:"configuration,omitempty"`
	}
	list := []capability{}
	if !h.forgets("delta") {
		list = append(list, capability{"delta-checkpoint-uploads-v2", 2, map[string]int{"checkpointCutoffSizeBytes": 1 << 12}})
	}
	if !h.forgets("batch-encrypt") {
		list = append(list, capability{Capability: "batch-encrypt"})
	}
	if !h.forgets("schema") {
		list = append(list, capability{"deployment-schema-version", 1, map[string]int{"version": 4}})
	}
	return map[string]any{"capabilities": list}, nil
}
