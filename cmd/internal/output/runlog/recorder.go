package runlog

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/fileurl"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// Head describes an operation. It is the first line of its file.
type Head struct {
	Where    string    `json:"where"` // the backend, see Where
	Project  string    `json:"project"`
	Stack    string    `json:"stack"`
	Command  string    `json:"command"` // as users call it, such as up
	Planning bool      `json:"planning,omitempty"`
	Began    time.Time `json:"began"`
	PID      int       `json:"pid"`
	Started  string    `json:"started,omitempty"` // of the process, see backend.Process
	User     string    `json:"user,omitempty"`
	Host     string    `json:"host,omitempty"`
}

// Line is one event. Times are in milliseconds since the operation began.
type Line struct {
	At   int64  `json:"t"`
	Kind Kind   `json:"k"`
	URN  string `json:"u,omitempty"`
	Op   string `json:"o,omitempty"`
	// Parent is that of the resource of a Start.
	Parent string `json:"a,omitempty"`
	Text   string `json:"x,omitempty"`
	// Severity is that of a message, the level of a policy, or the result of the operation.
	Severity string         `json:"s,omitempty"`
	Policy   string         `json:"p,omitempty"` // pack and name
	Changes  map[string]int `json:"c,omitempty"`
	Policies int            `json:"n,omitempty"` // the number of findings of policies
	Drift    int            `json:"d,omitempty"` // the number of resources that a refresh found changed or deleted
}

// Kind is the kind of a line.
type Kind string

// The kinds.
const (
	Start   Kind = "start"
	Done    Kind = "done"
	Outputs Kind = "outputs" // of a component or the stack, after which it is complete
	Fail    Kind = "fail"
	Message Kind = "log"
	Policy  Kind = "policy"
	End     Kind = "end"
)

const (
	kept    = 200     // how many records stay
	longest = 4 << 10 // of a message, in bytes
)

// Where names a backend in records.
func Where(b *backend.Backend) string {
	if strings.HasPrefix(b.URL(), "file://") {
		return fileurl.Of(b.Folder())
	}
	return b.PublicURL()
}

// Folder returns the folder of records below Pulumi's home folder.
func Folder(home string) string { return filepath.Join(home, "yamlhost", "runs") }

// Recorder writes the record of one operation. It is not safe for concurrent use. A nil Recorder does nothing. A record
// that cannot be written ends without an error, since the operation is more important.
type Recorder struct {
	file     *os.File
	began    time.Time
	mask     *mask.Masker
	changes  *change.Book
	policies int
	drift    int
	ended    bool
	replaced engine.Replacements
	changed  map[urn.URN]engine.Op // what was done last
}

// Begin starts a record in a folder. It returns nil if there is no such folder. m masks secrets; changes may be nil.
func Begin(dir string, h Head, m *mask.Masker, changes *change.Book) *Recorder {
	if _, err := os.Stat(dir); dir == "" || err != nil {
		return nil
	}
	forget(dir)
	h.Began = time.Now()
	name := filepath.Join(dir, fmt.Sprintf("%d-%d%s", h.Began.UnixNano(), h.PID, extension))
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil
	}
	r := &Recorder{file: file, began: h.Began, mask: m, changes: changes, changed: map[urn.URN]engine.Op{}}
	r.write(h)
	return r
}

func (r *Recorder) write(line any) {
	if text, err := json.Marshal(line); err == nil {
		_, _ = r.file.Write(append(text, '\n')) // see Recorder
	}
}

func (r *Recorder) line(l Line) {
	l.At = time.Since(r.began).Milliseconds()
	r.write(l)
}

// Event records an event. Events of default providers are omitted.
func (r *Recorder) Event(e engine.Event) {
	if r == nil {
		return
	}
	r.replaced.Take(e)
	switch e := e.(type) {
	case *engine.StepStarted:
		if !e.Internal {
			r.start(e.Step)
		}
	case *engine.StepFinished:
		if e.Internal {
			return
		}
		if e.Outputs {
			r.line(Line{Kind: Outputs, URN: string(e.Step.URN)})
			return
		}
		if e.Step.Op == engine.OpRefresh {
			if paths, _ := r.changes.Of(e.Step).Paths(); e.Step.New == nil || len(paths) > 0 {
				r.drift++
			}
		}
		r.line(Line{Kind: Done, URN: string(e.Step.URN), Op: string(r.done(e))})
	case *engine.StepFailed:
		r.line(Line{Kind: Fail, URN: string(e.Step.URN), Op: string(e.Step.Op)})
	case *engine.ResourceFailed:
		if e.Step.Op == engine.OpSame {
			r.start(e.Step)
		}
		r.line(Line{Kind: Fail, URN: string(e.Step.URN), Op: string(e.Step.Op)})
	case *engine.Message:
		r.message(e)
	case *engine.Summary:
		changes := map[string]int{}
		for op, n := range e.Changes {
			changes[string(op)] = n
		}
		r.end(e.Ended(), changes)
	}
}

func (r *Recorder) start(s *engine.Step) {
	l := Line{Kind: Start, URN: string(s.URN), Op: string(s.Op)}
	if about := s.About(); about != nil {
		l.Parent = string(about.Parent)
	}
	r.line(l)
}

// done returns what was done to the resource of a step so far. A replacement is done once there is a new object; until
// then the old one is deleted, if it was deleted first.
func (r *Recorder) done(e *engine.StepFinished) engine.Op {
	op, old := e.Op, e.Step.Old
	if e.Step.Op == engine.OpDelete && !e.Step.Logical() {
		op = engine.OpDeleteReplaced
	}
	switch {
	case e.Step.Op == engine.OpRefresh && old.Delete: // what remains of an earlier replacement
		return engine.OpSame
	case old != nil && r.replaced.Replaced(old.URN):
		op = engine.OpReplace
	case old != nil && r.replaced.Deleted(old.URN), op == engine.OpReplace:
		op = engine.OpDelete
	case op == engine.OpDeleteReplaced && r.changed[e.Step.URN] != "": // the remainder of an earlier replacement
		op = r.changed[e.Step.URN]
	}
	if op != engine.OpSame {
		r.changed[e.Step.URN] = op
	}
	return op
}

func (r *Recorder) message(m *engine.Message) {
	if m.Debug {
		return
	}
	l := Line{Kind: Message, URN: string(m.URN), Text: r.hide(m.Text), Severity: m.Severity.String()}
	if m.Severity == diag.Info {
		l.Severity = "info"
	}
	if p := m.Policy; p != nil {
		r.policies++
		l.Kind, l.Policy, l.Severity, l.Text = Policy, p.Pack+"/"+p.Policy, p.Level.String(), r.hide(p.Message)
	}
	r.line(l)
}

func (r *Recorder) hide(text string) string {
	text = r.mask.Hide(text)
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}

func (r *Recorder) end(result string, changes map[string]int) {
	r.ended = true
	r.line(Line{Kind: End, Severity: result, Changes: changes, Policies: r.policies, Drift: r.drift})
}

// Close ends the record.
func (r *Recorder) Close() {
	if r == nil {
		return
	}
	if !r.ended {
		r.end("failed", nil)
	}
	_ = r.file.Close() // see Recorder
}

// Subject returns the head of an operation of this process on a stack.
func Subject(b *backend.Backend, r backend.Ref, p backend.Process) Head {
	return Head{Where: Where(b), Project: r.Project, Stack: r.Stack, PID: p.PID, Started: p.Started, User: p.User,
		Host: p.Host}
}
