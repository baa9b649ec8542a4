package backend

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"path/filepath"

	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/journal"
)

// mirror returns the folder of this machine that has the copy of a stack of a service. There is one for each
// organization, in the layout of a backend. While an operation runs, the copy of its stack has the state that it began
// with and its journal. It stays when the service does not have everything: the process was killed, or the service was
// away. Then the copy is right, as long as nobody has begun an operation since.
func (h hosted) mirror(r Ref) *Backend {
	b := h.b
	sum := sha256.Sum256([]byte(b.url))
	name := hex.EncodeToString(sum[:6])
	if u, err := url.Parse(b.url); err == nil {
		name = u.Hostname() + "-" + name
	}
	root := filepath.Join(b.o.Copies, name, r.Organization(), ".pulumi")
	o := b.o
	o.Compression, o.RetainCheckpoints = Plain, false
	return &Backend{files: &files{url: b.url, root: root, o: o, disk: b.disk, probed: &probed{}}, schedule: b.schedule}
}

// keptUpdate names the operation that a copy belongs to. It has the operation's token in it, and is for its user to
// read.
type keptUpdate struct {
	Version int             `json:"version"` // of the state that the operation makes
	Ticket  json.RawMessage `json:"ticket"`  // for Service.Resume
}

func (b stackState) keptPath() string {
	return filepath.Join(b.root, "stacks", b.ref.Project, b.ref.Stack+".yamlhost-update")
}

// keptOf returns the operation whose results are in a copy; nil if there is none.
func (h hosted) keptOf(r Ref) (*keptUpdate, error) {
	if h.b.o.Copies == "" {
		return nil, nil
	}
	k := &keptUpdate{}
	path := h.mirror(r).stateOf(r).keptPath()
	if found, err := h.b.readJSON("read which operation was under way from", path, k); !found {
		return nil, err
	}
	return k, nil
}

// keep notes which operation a copy belongs to. It is on the disk before the operation begins anything.
func (b stackState) keep(u Update) error {
	return b.writeJSON("write which operation is under way to", b.keptPath(), keptUpdate{u.Facts().Version, u.Ticket()})
}

// copyDown makes what a service has exported the state of a copy.
func (b stackState) copyDown(exported []byte) error {
	d, err := deploymentOf(exported)
	if err != nil {
		return err
	}
	type check struct {
		Stack  string          `json:"stack"`
		Latest json.RawMessage `json:"latest,omitempty"`
	}
	file := struct {
		Version    json.RawMessage `json:"version"`
		Features   json.RawMessage `json:"features,omitempty"`
		Checkpoint check           `json:"checkpoint"`
	}{d.Version, d.Features, check{b.ref.QualifiedName(), d.Deployment}}
	if d.empty() {
		file.Version, file.Checkpoint.Latest = json.RawMessage("3"), nil
	}
	if string(d.Features) == "null" {
		file.Features = nil
	}
	text, err := compactJSON(file)
	if err != nil {
		return err
	}
	p, err := b.pack(text, stored{})
	if err != nil {
		return err
	}
	return fileError("copy the state to", b.file(Plain), disk.WriteWhole(b.disk, b.file(Plain), p.data, false))
}

// forget removes the copy of a stack, once the service has everything. What stays is of no use, and does no harm.
func forget(b *files, r Ref) {
	s := b.stateOf(r)
	for _, path := range []string{b.journalOf(r).journalFile(), s.file(Plain) + ".bak", s.keptPath(), s.file(Plain)} {
		_ = b.disk.Remove(path)
	}
}

// local is the journal of an operation on the disk of this machine, and on its way to the service: Sync returns when
// the service has everything, or else when the disk has.
type local struct {
	journal.File
	remote *remote
}

func (l local) Write(p []byte) (int, error) {
	n, err := l.File.Write(p)
	if err == nil {
		err = l.remote.take(p)
	}
	return n, err
}

func (l local) Sync() error {
	if l.remote.flush() == nil {
		return nil
	}
	return l.File.Sync()
}
