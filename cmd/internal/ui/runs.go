package ui

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/cmd/internal/output/runlog"
)

// liveRecord is an operation of this machine, with the state of its process.
type liveRecord struct {
	runlog.Record
	Running bool `json:"running"`
}

// records returns the operations of this machine on the backend, newest first.
func (s *Server) records() ([]runlog.Record, error) {
	all, err := runlog.List(s.o.Runs)
	where := runlog.Where(s.o.Backend)
	var own []runlog.Record
	for _, r := range all {
		if r.Where == where {
			own = append(own, r)
		}
	}
	return own, err
}

// alive reports whether an operation may still be running.
func (s *Server) alive(r runlog.Record) bool {
	p := s.o.Process
	return r.End == nil && r.Host == p.Host && (r.PID == p.PID || p.Alive == nil || p.Alive(r.PID, r.Started))
}

func (s *Server) runs(_ context.Context, q query) (any, error) {
	records, err := s.records()
	if err != nil {
		return nil, err
	}
	list := []liveRecord{}
	for _, r := range records {
		if stack := q.Get("stack"); stack == "" || stack == r.Project+"/"+r.Stack {
			list = append(list, liveRecord{r, s.alive(r)})
		}
	}
	return map[string]any{"now": now(), "runs": list}, nil
}

// run returns the lines of one operation from a byte offset on.
func (s *Server) run(_ context.Context, q query) (any, error) {
	records, err := s.records()
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if r.ID != q.Get("id") {
			continue
		}
		lines, next, err := runlog.Read(s.o.Runs, r.ID, q.number("from"))
		return map[string]any{"now": now(), "run": liveRecord{r, s.alive(r)}, "lines": lines, "next": next}, err
	}
	return nil, &httpError{http.StatusNotFound, "there is no record of this operation any more"}
}

// leg is a resource on the critical path: the chain of resources that waited for each other and took longest.
type leg struct {
	URN   string `json:"urn"`
	Took  int64  `json:"took"` // milliseconds
	Start int64  `json:"start"`
}

type criticalPath struct {
	Run  string `json:"run,omitempty"`
	Took int64  `json:"took"` // of all legs
	Legs []leg  `json:"legs"`
	Why  string `json:"why,omitempty"` // the reason why there is none
}

// critical returns the critical path of the last run that changed a stack.
func (s *Server) critical(_ context.Context, k *kept, _ query) (any, error) {
	records, err := s.records()
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if r.Planning || r.End == nil || r.Project != k.ref.Project || r.Stack != k.ref.Stack {
			continue
		}
		var lines []runlog.Line
		for next := int64(0); ; {
			part, after, err := runlog.Read(s.o.Runs, r.ID, next)
			if err != nil {
				return nil, err
			}
			if after == next {
				break
			}
			lines, next = append(lines, part...), after
		}
		if out := criticalOf(k, lines); len(out.Legs) > 0 { // otherwise the run changed no resource that still exists
			out.Run = r.ID
			return out, nil
		}
	}
	return &criticalPath{Legs: []leg{}, Why: "no run that changed this stack has been recorded on this machine: " +
		"runs are recorded while the folder of records exists, which yamlhost ui makes"}, nil
}

// criticalOf finds the path: for each resource the longest chain that ends with it, in the order of the state, in which
// each resource follows its dependencies.
func criticalOf(k *kept, lines []runlog.Line) *criticalPath {
	begun, took := map[string]int64{}, map[string]int64{}
	for _, l := range lines {
		switch l.Kind {
		case runlog.Start:
			begun[l.URN] = l.At
		case runlog.Done, runlog.Fail:
			if start, known := begun[l.URN]; known && l.Op != "same" && l.Op != "read" {
				took[l.URN] += l.At - start
			}
		}
	}
	rows := k.snapshot.Resources
	length, before := make([]int64, len(rows)), make([]int, len(rows))
	last := -1
	for i, r := range rows {
		before[i] = -1
		for _, u := range needs(r) {
			pos, found := k.index[u]
			if found && pos < i && (before[i] < 0 || length[pos] > length[before[i]]) {
				before[i] = pos
			}
		}
		if before[i] >= 0 {
			length[i] = length[before[i]]
		}
		if r.Custom {
			length[i] += took[string(r.URN)]
		}
		if last < 0 || length[i] > length[last] {
			last = i
		}
	}
	out := &criticalPath{Legs: []leg{}}
	for i := last; i >= 0; i = before[i] {
		u := string(rows[i].URN)
		if _, ran := took[u]; ran && rows[i].Custom {
			out.Legs = append([]leg{{u, took[u], begun[u]}}, out.Legs...)
			out.Took += took[u]
		}
	}
	return out
}

// preview is the preview that the page has started; there is one at a time.
type preview struct {
	mu      sync.Mutex // guards the fields below
	stack   string
	running bool
	output  string
	failed  bool

	under sync.WaitGroup
}

// startPreview begins a preview of a stack, like `yamlhost preview` in the folder of the project.
func (s *Server) startPreview(_ context.Context, req struct{ Stack string }) (any, error) {
	ref, err := refOf(req.Stack)
	if err != nil {
		return nil, err
	}
	if s.o.Preview == nil || ref.Project != s.o.Project {
		return nil, &httpError{http.StatusConflict, "the program of this stack is not in the folder that yamlhost ui was started for"}
	}
	p := &s.preview
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running {
		return nil, &httpError{http.StatusConflict, "a preview is running"}
	}
	p.stack, p.running, p.output, p.failed = req.Stack, true, "", false
	p.under.Go(func() {
		text, err := s.o.Preview(ref.Stack)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.running, p.output, p.failed = false, strings.TrimSpace(text), err != nil
	})
	return map[string]bool{"running": true}, nil
}

// previewed returns the state of the preview.
func (s *Server) previewed(context.Context, query) (any, error) {
	p := &s.preview
	p.mu.Lock()
	defer p.mu.Unlock()
	return map[string]any{"stack": p.stack, "running": p.running, "output": p.output, "failed": p.failed}, nil
}
