package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// resource is a resource of the program, the state, or both.
type resource struct {
	typ             string
	properties      *yamlnode.Node
	name, urn, id   string
	needs, users    []*resource   // by references; users in a state only
	inputs, outputs message       // google.protobuf.Struct
	text            []byte        // of the state; nil for none
	done            chan struct{} // closed when the operation on it is complete
}

// deployment is one operation.
type deployment struct {
	program *program
	state   *checkpoint
	ask     provider
	journal journal
	preview bool
	changed atomic.Bool
}

// layouts holds the field numbers of requests; 0 if a request has no such field.
var layouts = map[string]struct{ id, urn, outputs, inputs, news, name, typ, seed, preview protowire.Number }{
	"Check":  {urn: 1, inputs: 2, news: 3, name: 6, typ: 7, seed: 5},
	"Diff":   {id: 1, urn: 2, outputs: 3, inputs: 6, news: 4, name: 7, typ: 8},
	"Create": {urn: 1, news: 2, name: 5, typ: 6, preview: 4},
	"Update": {id: 1, urn: 2, outputs: 3, inputs: 8, news: 4, name: 9, typ: 10, preview: 7},
	"Read":   {id: 1, urn: 2, outputs: 3, inputs: 4, name: 5, typ: 6},
	"Delete": {id: 1, urn: 2, outputs: 3, inputs: 5, name: 6, typ: 7},
}

// call sends a request about a resource with its old state and its new inputs.
func (d *deployment) call(method string, r, old *resource, news message) message {
	l := layouts[method]
	m := make(message, 0, len(old.inputs)+len(old.outputs)+len(news)+320).text(l.urn, r.urn).text(l.name, r.name).
		text(l.typ, r.typ)
	if l.id > 0 {
		m = m.text(l.id, old.id)
	}
	if l.preview > 0 && d.preview {
		m = m.bool(l.preview, true)
	}
	return d.ask(method, m.bytes(l.outputs, old.outputs).bytes(l.inputs, old.inputs).bytes(l.news, news).
		bytes(l.seed, make([]byte, 32)))
}

// register checks a resource, and creates or compares it.
func (d *deployment) register(r *resource) {
	old := cmp.Or(d.state.byURN[r.urn], &resource{})
	r.id, r.outputs, r.text = old.id, old.outputs, old.text
	r.inputs = d.call("Check", r, old, d.program.fields(make(message, 0, 768), r, r.properties)).find(1)
	if r.id == "" {
		d.change("Create", r, old)
	} else if d.call("Diff", r, old, r.inputs).find(4)[0] == 2 {
		d.change("Update", r, old)
	}
}

// unknown stands for an unknown value in Pulumi's protocol.
const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"

// change makes a change, and writes to the journal before and after it.
func (d *deployment) change(method string, r, old *resource) {
	if !d.preview {
		d.changed.Store(true)
		d.journal.begin(method, r)
	}
	answer := d.call(method, r, old, r.inputs)
	switch {
	case method == "Delete":
		r.text = nil
	case method == "Update":
		r.outputs = answer.find(1)
	case d.preview:
		r.id, r.outputs = unknown, answer.find(2).with("uid", unknown)
	default:
		r.id, r.outputs = string(answer.find(1)), answer.find(2)
	}
	if d.preview {
		return
	}
	if method != "Delete" {
		r.text = r.append(nil)
	}
	d.journal.append(append([]byte(`{"done":`), r.text...))
}

// refresh reads a resource and compares the answer with the state, as Pulumi's engine does.
func (d *deployment) refresh(r *resource) {
	answer := d.call("Read", r, r, nil)
	d.call("Diff", r, &resource{id: r.id, outputs: answer.find(2), inputs: answer.find(3)}, r.inputs)
}

// each calls do for all resources, each after those that before returns, with the default parallelism of hosts.
func each(all []*resource, before func(*resource) []*resource, do func(*resource)) {
	var group sync.WaitGroup
	slots := make(chan struct{}, 4*runtime.NumCPU())
	for _, r := range all {
		r.done = make(chan struct{})
	}
	for _, r := range all {
		group.Go(func() {
			for _, other := range before(r) {
				<-other.done
			}
			slots <- struct{}{}
			do(r)
			<-slots
			close(r.done)
		})
	}
	group.Wait()
}

// journal records the beginning and the end of steps. A step begins once its record is on disk. Concurrent callers
// share a sync, and results are synced with the next one.
type journal struct {
	mu      sync.Mutex // guards the fields below
	waiting []byte
	round   int // of new callers

	disk   sync.Mutex // guards the fields below
	file   *os.File
	synced int // rounds
}

func (j *journal) append(text []byte) (round int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.waiting = append(j.waiting, text...)
	return j.round
}

func (j *journal) begin(operation string, r *resource) {
	text := fmt.Appendf(make([]byte, 0, 1024), `{"begin":%q,"urn":%q,"id":%q,"inputs":`, operation, r.urn, r.id)
	round := j.append(append(appendStruct(text, r.inputs), "}\n"...))
	j.disk.Lock()
	defer j.disk.Unlock()
	if j.synced > round { // another caller has synced it
		return
	}
	j.mu.Lock()
	text, j.waiting, j.round = j.waiting, nil, j.round+1
	j.synced = j.round
	j.mu.Unlock()
	must(j.file.Write(text))
	check(j.file.Sync())
}
