package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// deployment is one operation.
type deployment struct {
	program *program
	state   *checkpoint
	ask     provider
	journal journal
	preview bool
	changed atomic.Bool
}

// layouts are the numbers of fields in requests; 0 for those that a request does not have.
var layouts = map[string]struct{ id, urn, outputs, inputs, news, name, typ, seed, preview int }{
	"Check":  {urn: 1, inputs: 2, news: 3, name: 6, typ: 7, seed: 5},
	"Diff":   {id: 1, urn: 2, outputs: 3, inputs: 6, news: 4, name: 7, typ: 8},
	"Create": {urn: 1, news: 2, name: 5, typ: 6, preview: 4},
	"Update": {id: 1, urn: 2, outputs: 3, inputs: 8, news: 4, name: 9, typ: 10, preview: 7},
	"Read":   {id: 1, urn: 2, outputs: 3, inputs: 4, name: 5, typ: 6},
	"Delete": {id: 1, urn: 2, outputs: 3, inputs: 5, name: 6, typ: 7},
}

// call asks about a resource that was old and shall have new inputs.
func (d *deployment) call(method string, r, old *resource, news message) (message, error) {
	l := layouts[method]
	m := make(message, 0, len(old.inputs)+len(old.outputs)+len(news)+320).text(l.urn, r.urn).text(l.name, r.name).
		text(l.typ, r.typ)
	if l.id > 0 {
		m = m.text(l.id, old.id).bytes(l.outputs, old.outputs)
	}
	if l.inputs > 0 {
		m = m.bytes(l.inputs, old.inputs)
	}
	if l.news > 0 {
		m = m.bytes(l.news, news)
	}
	if l.seed > 0 {
		m = m.bytes(l.seed, make([]byte, 32))
	}
	if l.preview > 0 && d.preview {
		m = m.bool(l.preview, 1)
	}
	return d.ask(method, m)
}

// register checks a resource, and creates or compares it.
func (d *deployment) register(r *resource) error {
	old := d.state.byURN[r.urn]
	if old == nil {
		old = &resource{}
	}
	r.id, r.outputs, r.text = old.id, old.outputs, old.text
	answer, err := d.call("Check", r, old, d.program.fields(make(message, 0, 768), r, r.properties))
	if err != nil {
		return err
	}
	if r.inputs = answer.find(1); r.id == "" {
		return d.change("Create", r, old)
	}
	answer, err = d.call("Diff", r, old, r.inputs)
	if some := answer.find(4); err != nil || some[0] != 2 {
		return err
	}
	return d.change("Update", r, old)
}

// unknown stands for an unknown value in Pulumi's protocol.
const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"

// change makes a change durable in the journal before and after it.
func (d *deployment) change(method string, r, old *resource) error {
	if !d.preview {
		d.changed.Store(true)
		if err := d.journal.begin(method, r); err != nil {
			return err
		}
	}
	answer, err := d.call(method, r, old, r.inputs)
	switch {
	case err != nil:
		return err
	case method == "Delete":
		r.text = nil
	case method == "Update":
		r.outputs = answer.find(1)
	case d.preview:
		r.id, r.outputs = unknown, answer.find(2).with("uid", unknown)
	default:
		r.id, r.outputs = string(answer.find(1)), answer.find(2)
	}
	if !d.preview {
		if method != "Delete" {
			r.text = r.append(nil)
		}
		d.journal.append(append([]byte(`{"done":`), r.text...))
	}
	return nil
}

// refresh reads a resource and compares what was read, as Pulumi's engine does.
func (d *deployment) refresh(r *resource) error {
	answer, err := d.call("Read", r, r, nil)
	if err == nil {
		read := &resource{id: r.id, outputs: answer.find(2), inputs: answer.find(3)}
		_, err = d.call("Diff", r, read, r.inputs)
	}
	return err
}

// each does something with all resources, each behind what it needs, as many at the same time as hosts do by default.
func each(all []*resource, do func(*resource) error) (failed error) {
	var group sync.WaitGroup
	var mu sync.Mutex // guards waits and failed
	slots := make(chan struct{}, 4*runtime.NumCPU())
	var one func(r *resource)
	one = func(r *resource) {
		slots <- struct{}{}
		err := do(r)
		<-slots
		mu.Lock()
		defer mu.Unlock()
		failed = errors.Join(failed, err)
		for _, user := range r.users {
			if user.waits--; user.waits == 0 {
				group.Go(func() { one(user) })
			}
		}
	}
	for _, r := range all {
		r.waits = len(r.needs)
	}
	for _, r := range all {
		if len(r.needs) == 0 {
			group.Go(func() { one(r) })
		}
	}
	group.Wait()
	return failed
}

// journal holds what has begun and what is done. A step begins when the disk knows about it; all who wait at the same
// time share a sync, and results go with the next one.
type journal struct {
	mu      sync.Mutex // guards what follows
	waiting []byte
	round   int // of those who come now

	disk   sync.Mutex // guards what follows
	file   *os.File
	synced int // rounds
	err    error
}

func (j *journal) append(text []byte) (round int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.waiting = append(j.waiting, text...)
	return j.round
}

func (j *journal) begin(operation string, r *resource) error {
	text := fmt.Appendf(make([]byte, 0, 1024), `{"begin":%q,"urn":%q,"id":%q,"inputs":`, operation, r.urn, r.id)
	round := j.append(append(appendStruct(text, r.inputs), "}\n"...))
	j.disk.Lock()
	defer j.disk.Unlock()
	if j.synced > round || j.err != nil { // somebody else's sync had it
		return j.err
	}
	j.mu.Lock()
	text, j.waiting, j.round = j.waiting, nil, j.round+1
	j.synced = j.round
	j.mu.Unlock()
	if _, j.err = j.file.Write(text); j.err == nil {
		j.err = j.file.Sync()
	}
	return j.err
}
