package backend

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Service keeps stacks behind calls instead of in files: Pulumi Cloud, or a copy of it. Each Ref has its owner. Calls
// that may be repeated are repeated while the service is away; then the error is an *AwayError. An operation that holds
// the stack gives a *LockedError, a stack that is not there a *NotFoundError. Implementations are safe for concurrent
// use.
type Service interface {
	// User returns the user of the token, which shows that the service accepts it.
	User(ctx context.Context) (User, error)
	// Organization returns the owner of stacks whose names have none.
	Organization(ctx context.Context) (string, error)
	// Stacks lists stacks; an empty owner or project means all that the user can see.
	Stacks(ctx context.Context, owner, project string) ([]Hosted, error)
	Stack(ctx context.Context, r Ref) (Hosted, error)
	Create(ctx context.Context, r Ref) error
	// Remove removes a stack; one with resources gives a *NotEmptyError unless force is set.
	Remove(ctx context.Context, r Ref, force bool) error
	Rename(ctx context.Context, from, to Ref) error
	SetTags(ctx context.Context, r Ref, tags map[string]string) error
	// Export returns a state in the form of stack export, with the bytes that the service keeps; version 0 is the
	// present one.
	Export(ctx context.Context, r Ref, version int) ([]byte, error)
	// Import replaces the state by what Export returns.
	Import(ctx context.Context, r Ref, deployment []byte) error
	// History returns records, newest first; limit 0 means all.
	History(ctx context.Context, r Ref, limit int) ([]Record, error)
	// Cancel ends the operation that holds a stack, and returns it; nil if there was none.
	Cancel(ctx context.Context, r Ref) (*Lock, error)
	// Begin starts an operation, or with dryRun a preview, which locks nothing. about has the known parts of its
	// record.
	Begin(ctx context.Context, r Ref, about *Record, dryRun bool) (Update, error)
	// Page returns the URL of a stack's page.
	Page(r Ref) string
	// Resume returns an operation that an earlier process has begun, by its Ticket.
	Resume(r Ref, ticket json.RawMessage) (Update, error)
}

// Update is an operation in a service. Once its token is refused, calls return a *LockLostError.
type Update interface {
	Facts() UpdateFacts
	// Ticket returns the argument for Resume. It contains the token of the operation.
	Ticket() json.RawMessage
	// Append makes journal entries durable, in this order. The service ignores sequence numbers that it has already.
	Append(ctx context.Context, entries []json.RawMessage) error
	// Checkpoint makes a whole state durable, in the form of Service.Export.
	Checkpoint(ctx context.Context, deployment []byte) error
	// Renew extends the lease on the stack, and returns after which time to call it again.
	Renew(ctx context.Context) (time.Duration, error)
	// Events sends events of the engine, each as a line of JSON.
	Events(ctx context.Context, lines []json.RawMessage) error
	// Complete ends the operation: succeeded, failed or cancelled.
	Complete(ctx context.Context, status string) error
}

// UpdateFacts are a service's answer to the beginning of an operation.
type UpdateFacts struct {
	Version  int           // of the state that it makes; of a preview, the present one
	Skipped  int           // the number of versions just before it that Begin used up without a change
	Journal  bool          // Append is possible, else Checkpoint
	Renewal  time.Duration // after which time to call Renew
	Page     string        // the URL of its page
	Policies []Policy      // that the organization requires
	Messages []string      // for the user
}

// Policy is a policy pack that an organization requires.
type Policy struct {
	Owner, Name, Version string
	Location             string                     // URL for downloading it without a token; may be empty
	Config               map[string]json.RawMessage // by policy
	Environments         []string                   // of the service, with more of the configuration
	Exceptions           []PolicyException
}

// PolicyException lets resources violate policies.
type PolicyException struct {
	Match []struct{ Policies, Targets []string } // names, and URNs
}

// Hosted is a stack in a service. In a list it has no Tags and no Lock.
type Hosted struct {
	Ref       Ref
	Tags      map[string]string
	Version   int       // of its state
	Resources int       // -1 if the service does not report it
	Updated   time.Time // zero before there was any operation
	Lock      *Lock     // the operation that holds it; nil if none does
}

// User is the user of a token.
type User struct {
	Name          string
	Organizations []string
}

// AwayError is returned when a service cannot be reached, or does not accept what it is sent.
type AwayError struct {
	URL  string
	Err  error
	Kept string // path of the results of providers, which the next command sends; empty if there are none
}

func (e *AwayError) Error() string {
	text := fmt.Sprintf("the service %s: %v", e.URL, e.Err)
	if e.Kept != "" {
		return text + fmt.Sprintf("\nNo further step was begun. The results of those under way are kept in %s; the next "+
			"command on this stack sends them first.", e.Kept)
	}
	return text + "\nCheck the network and the URL, and run the command again."
}

// Unwrap gives the cause.
func (e *AwayError) Unwrap() error { return e.Err }

// errHosted is returned when a service does not support an operation.
var errHosted = errors.New("state is kept by a service, which cannot do this")

// named checks the name of a stack and returns it in full: in a service with its owner, which may take a request.
func (b *Backend) named(ctx context.Context, r Ref) (_ Ref, err error) {
	if err = cmp.Or(r.check(), ctx.Err()); err == nil && b.service != nil && r.Owner == "" {
		r.Owner, err = b.service.Organization(ctx)
	}
	return r, err
}

// Page returns the URL of a stack's page; empty if it has none.
func (b *Backend) Page(r Ref) string {
	if b.service == nil {
		return ""
	}
	return b.service.Page(r)
}

// Service returns the service that keeps the stacks; nil if they are files.
func (b *Backend) Service() Service { return b.service }

// Watched sends the events of an operation to a service, which shows them on its pages. Losing events does no other
// harm. A nil *Watched, of backends without pages, does nothing. It is safe for concurrent use.
type Watched struct {
	update  Update
	preview bool

	mu     sync.Mutex // guards the fields below
	lines  []json.RawMessage
	closed bool
	wake   chan struct{} // has a value when there are lines
	ending chan struct{}
	done   chan struct{}
}

// eventPause is how long events are collected before they are sent.
const eventPause = 250 * time.Millisecond

func watch(u Update, preview bool) *Watched {
	w := &Watched{update: u, preview: preview, wake: make(chan struct{}, 1),
		ending: make(chan struct{}), done: make(chan struct{})}
	go w.send()
	return w
}

// Watch starts a preview that a service shows on its pages; nil without a service. The caller ends it with Close.
func (b *Backend) Watch(ctx context.Context, r Ref, about *Record) (*Watched, error) {
	if b.service == nil {
		return nil, nil
	}
	r, err := b.named(ctx, r)
	if err != nil {
		return nil, err
	}
	update, err := b.service.Begin(ctx, r, about, true)
	if err != nil {
		return nil, err
	}
	return watch(update, true), nil
}

// Facts returns the service's answer to the beginning of the operation.
func (w *Watched) Facts() UpdateFacts {
	if w == nil {
		return UpdateFacts{}
	}
	return w.update.Facts()
}

// Event queues the line of an event.
func (w *Watched) Event(line []byte) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.lines = append(w.lines, json.RawMessage(line))
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// send sends lines until the end. A batch that the service does not take is dropped.
func (w *Watched) send() {
	defer close(w.done)
	for ended := false; !ended; {
		select {
		case <-w.wake:
		case <-w.ending:
			ended = true
		}
		w.mu.Lock()
		lines := w.lines
		w.lines = nil
		w.mu.Unlock()
		if len(lines) > 0 {
			_ = w.update.Events(context.Background(), lines)
		}
		select {
		case <-time.After(eventPause):
		case <-w.ending:
		}
	}
}

// flush sends the rest. Later events are dropped.
func (w *Watched) flush() {
	if w == nil {
		return
	}
	w.mu.Lock()
	first := !w.closed
	w.closed = true
	w.mu.Unlock()
	if first {
		close(w.ending)
	}
	<-w.done
}

// Close ends a preview: succeeded, failed or cancelled.
func (w *Watched) Close(status string) {
	if w == nil || !w.preview {
		return
	}
	w.flush()
	_ = w.update.Complete(context.Background(), status) // a preview locks nothing
}
