package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/yamlhost/yamlhost/runtime/state"
)

// File is what a Log needs of the file that it writes; *os.File is one.
type File interface {
	io.Writer
	Sync() error
	Close() error
}

// LogOptions say how a Log works.
type LogOptions struct {
	Secrets state.Sealer // seals the entries' secrets; nil when there cannot be any
	NoSync  bool         // do not wait for the disk: a crash of the machine may lose entries, one of the process does not
}

// Log appends entries to a file. It is safe for concurrent use: calls that come while the disk is busy share the next
// write and sync. After a failed write or sync it stays failed, because nobody can say what of it is on the disk.
type Log struct {
	file File
	o    LogOptions

	mu      sync.Mutex
	queue   []byte    // framed records not yet written
	batch   *batch    // of those in queue
	busy    bool      // somebody is writing
	size    int64     // bytes accepted, in the file or in queue
	sealing []byte    // the secrets settings last written, as JSON
	failed  error     // stays
	idle    sync.Cond // signalled when busy ends
}

type batch struct {
	done chan struct{}
	err  error
}

var _ Journal = (*Log)(nil)

// Create begins a journal in an empty file, which the Log owns from now on, and returns once its header is durable.
func Create(file File, h Header, o LogOptions) (*Log, error) {
	l := &Log{file: file, o: o}
	l.idle.L = &l.mu
	if o.Secrets != nil && o.Secrets.Type() != "" {
		h.Secrets = &state.SecretsProvider{Type: o.Secrets.Type(), State: o.Secrets.State()}
	}
	if h.Secrets != nil {
		l.sealing, _ = json.Marshal(h.Secrets)
	}
	text, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("begin the journal: %w", err)
	}
	return l, l.put(appendRecord([]byte(signature), kindHeader, text))
}

// Append makes an entry durable. The entry is a fact, so that a cancelled ctx does not keep it from being written. An
// entry that cannot be encoded, for want of a passphrase say, is an error and leaves the log usable.
func (l *Log) Append(_ context.Context, e Entry) error {
	record, err := Encode(e, l.o.Secrets)
	if err != nil {
		return err
	}
	return l.Put(record)()
}

// Record is an encoded entry.
type Record []byte

// Encode makes an entry ready to be put, with its secrets sealed by m; it is most of the work. A record that nobody could
// read would be in the way of all that follow: it is scanned by the rules of the reader, and one that those refuse is an error.
func Encode(e Entry, m state.Sealer) (Record, error) {
	const head = frameSize + 1
	r, err := appendEntry(append(make([]byte, frameSize, 2048), byte(kindEntry)), e, m)
	if err == nil {
		err = readable(r[head:])
	}
	if err != nil {
		return nil, fmt.Errorf("journal a step: %w", err)
	}
	return seal(r, 0), nil
}

// Put takes its place in the log at once and returns a function that waits until the record is durable.
func (l *Log) Put(r Record) (wait func() error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if settings := l.newSealing(); settings != nil {
		l.enqueue(appendRecord(nil, kindSecrets, settings))
	}
	b := l.enqueue(r)
	return func() error { return l.await(b) }
}

// newSealing is how secrets are sealed if that is not in the file yet: a manager may come to be with the first secret.
func (l *Log) newSealing() []byte {
	if l.o.Secrets == nil || l.o.Secrets.Type() == "" {
		return nil
	}
	settings, err := json.Marshal(state.SecretsProvider{Type: l.o.Secrets.Type(), State: l.o.Secrets.State()})
	if err != nil || string(settings) == string(l.sealing) {
		return nil
	}
	l.sealing = settings
	return settings
}

// Covered notes, durably, that a state file with this identity is about to be written which holds everything up to here;
// o is what Book.Checkpoint says of it, and may be empty if nothing will be put any more. Whether or not the file comes
// to be, what is in the journal can be applied.
func (l *Log) Covered(by Identity, o Origin) error {
	text, err := json.Marshal(cover{Identity: by, Origin: o})
	if err != nil {
		return fmt.Errorf("journal a checkpoint: %w", err)
	}
	return l.put(appendRecord(nil, kindCheckpoint, text))
}

func (l *Log) put(record []byte) error {
	l.mu.Lock()
	b := l.enqueue(record)
	l.mu.Unlock()
	return l.await(b)
}

// enqueue is called with the lock held.
func (l *Log) enqueue(record []byte) *batch {
	if l.batch == nil {
		l.batch = &batch{done: make(chan struct{})}
	}
	l.queue = append(l.queue, record...)
	l.size += int64(len(record))
	return l.batch
}

// await returns once the batch is durable. Whoever finds nobody writing writes what is queued, for everybody.
func (l *Log) await(b *batch) error {
	l.mu.Lock()
	for l.busy && l.batch == b {
		l.idle.Wait()
	}
	if l.batch != b { // somebody has taken it
		l.mu.Unlock()
		<-b.done
		return b.err
	}
	data, failed := l.queue, l.failed
	l.queue, l.batch, l.busy = nil, nil, true
	l.mu.Unlock()

	if failed == nil {
		failed = l.write(data)
	}
	b.err = failed
	close(b.done)

	l.mu.Lock()
	l.failed, l.busy = failed, false
	if l.queue == nil {
		l.queue = data[:0]
	}
	l.idle.Broadcast()
	l.mu.Unlock()
	return b.err
}

func (l *Log) write(data []byte) error {
	if _, err := l.file.Write(data); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	if l.o.NoSync {
		return nil
	}
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("make the journal durable: %w", err)
	}
	return nil
}

// Err is why the log cannot be written any more; nil while it can. What was acknowledged before is in it all the same.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// Size is the journal's length in bytes, with what is about to be written.
func (l *Log) Size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size
}

// Close waits for what is being written and closes the file. Entries put afterwards are refused.
func (l *Log) Close() error {
	l.mu.Lock()
	for l.busy {
		l.idle.Wait()
	}
	if l.failed == nil {
		l.failed = errors.New("the journal is closed")
	}
	l.mu.Unlock()
	return l.file.Close()
}
