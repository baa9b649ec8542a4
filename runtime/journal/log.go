package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/runtime/state"
)

// File is the file that a Log writes; *os.File implements it.
type File interface {
	io.Writer
	Sync() error
	Close() error
}

// LogOptions configure a Log.
type LogOptions struct {
	Secrets state.Sealer // seals the entries' secrets; nil if there are none
	NoSync  bool         // do not sync: a crash of the machine may lose entries, a crash of the process does not
	// Check is called once for each sync with records that request it, after they are durable and before their callers
	// return. Its error becomes the error of these records; the log remains usable. It may be nil.
	Check func() error
	// Place is called once the header is durable. It closes the file, moves it to its final name and returns it, opened
	// anew to write at its end. nil leaves the file where it is.
	Place func(File) (File, error)
	// Deferral is the maximum delay of the sync for a record that no caller awaits; 0 means 10 milliseconds.
	Deferral time.Duration
}

const defaultDeferral = 10 * time.Millisecond

// Log appends entries to a file. It is safe for concurrent use: records that arrive while the disk is busy share the
// next write and sync. After a failed write or sync the log stays failed, because it is unknown what reached the disk.
//
// A record is written at once, or after the current write or sync. It is synced when a caller awaits it or a later
// record, and in any case soon. Once a record is durable, all earlier ones are too.
type Log struct {
	file File
	o    LogOptions

	mu      sync.Mutex
	queue   [][]byte  // framed records to be written, several in one piece
	batch   *batch    // of the records without a sync so far, written or not; nil if there are none
	busy    bool      // a caller is writing or syncing
	size    int64     // number of bytes accepted, in the file or in queue
	sealing []byte    // the secrets settings last written, as JSON
	failed  error     // permanent
	closed  bool      // Close was called
	idle    sync.Cond // signalled when busy ends
}

// batch holds the records that share a sync.
type batch struct {
	awaited bool          // a caller waits for it, and will sync it
	check   bool          // a record requests LogOptions.Check
	told    []func(error) // called with err before done is closed
	timer   *time.Timer   // syncs a batch that no caller awaits; nil until needed
	done    chan struct{}
	err     error // valid after done is closed
}

// Create writes the header of a new journal to an empty file, which it takes over. It returns when that is durable.
// After an error it has closed the file.
func Create(file File, h Header, o LogOptions) (*Log, error) {
	l := &Log{file: file, o: o}
	l.idle.L = &l.mu
	if l.o.Deferral <= 0 {
		l.o.Deferral = defaultDeferral
	}
	if o.Secrets != nil && o.Secrets.Type() != "" {
		h.Secrets = &state.SecretsProvider{Type: o.Secrets.Type(), State: o.Secrets.State()}
	}
	if h.Secrets != nil {
		l.sealing, _ = json.Marshal(h.Secrets)
	}
	text, err := json.Marshal(h)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("begin the journal: %w", err), file.Close())
	}
	err = l.await(l.enqueue(appendRecord([]byte(signature), kindHeader, text))) // no other goroutine uses it yet
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if o.Place != nil {
		if l.file, err = o.Place(file); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Append makes an entry durable. It ignores a cancelled ctx, because the entry describes what has happened already. An
// entry that cannot be encoded, for example because a passphrase is missing, is an error, and the log remains usable.
func (l *Log) Append(_ context.Context, e Entry) error {
	record, err := Encode(e, l.o.Secrets)
	if err != nil {
		return err
	}
	return l.Put(record, false)()
}

// Defer writes an entry; see Journal.
func (l *Log) Defer(_ context.Context, e Entry) error {
	record, err := Encode(e, l.o.Secrets)
	if err != nil {
		return err
	}
	return l.PutDeferred(record, false, func(error) {})()
}

// Record is an encoded entry. It can be put once; the Log takes over its bytes.
type Record []byte

// Encode encodes an entry, with its secrets sealed by m, so that Put has little left to do. It returns an error for a
// record that the reader would reject, because such a record would make all later ones unreadable.
func Encode(e Entry, m state.Sealer) (Record, error) {
	const head = frameSize + 1
	r, err := appendEntry(append(records.get()[:frameSize], byte(kindEntry)), e, m)
	if err == nil {
		err = readable(r[head:])
	}
	if err != nil {
		return nil, fmt.Errorf("journal a step: %w", err)
	}
	return seal(r, 0), nil
}

// Put adds the record to the log and returns a function that waits until it is durable. check requests
// LogOptions.Check.
func (l *Log) Put(r Record, check bool) (wait func() error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.accept(r, check)
	return func() error { return l.await(b) }
}

// PutDeferred adds the record to the log and returns a function that writes it, or leaves that to a caller that is
// writing already. The record is durable before any later one. told is called once with the result. The function
// returns an error if the log has failed.
func (l *Log) PutDeferred(r Record, check bool, told func(error)) (write func() error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.accept(r, check)
	b.told = append(b.told, told)
	return func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.busy && l.batch == b {
			l.busy = true
			l.release()
		}
		return l.failed
	}
}

// accept queues an entry. The caller holds mu.
func (l *Log) accept(r Record, check bool) *batch {
	if settings := l.newSealing(); settings != nil {
		l.enqueue(appendRecord(nil, kindSecrets, settings))
	}
	b := l.enqueue(r)
	b.check = b.check || check
	return b
}

// newSealing returns the secrets settings if they are not in the file yet: a secrets manager may be created with the
// first secret.
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

// Covered durably records that a state file with the given identity is about to be written, which holds all records up
// to a size of the log. o comes from Replayer.Checkpoint, and may be empty if no records follow. The journal can be
// applied whether or not the file is then written.
func (l *Log) Covered(id Identity, o Origin, size int64) error {
	note := cover{Identity: id, Origin: o}
	l.mu.Lock()
	k := kindCheckpoint
	if size < l.size {
		k, note.Size = kindCovered, size
	}
	text, err := json.Marshal(note)
	if err != nil {
		l.mu.Unlock()
		return fmt.Errorf("journal a checkpoint: %w", err)
	}
	b := l.enqueue(appendRecord(nil, k, text))
	l.mu.Unlock()
	return l.await(b)
}

// enqueue adds a framed record to the queue. The caller holds mu.
func (l *Log) enqueue(record []byte) *batch {
	if l.batch == nil {
		l.batch = &batch{done: make(chan struct{})}
	}
	l.size += int64(len(record))
	last := len(l.queue) - 1
	switch {
	case last >= 0 && cap(l.queue[last])-len(l.queue[last]) >= len(record):
		l.queue[last] = append(l.queue[last], record...)
		records.put(record)
	case len(record) > pieceSize/2: // the record's bytes may be kept
		l.queue = append(l.queue, record)
	default:
		l.queue = append(l.queue, append(pieces.get(), record...))
		records.put(record)
	}
	return l.batch
}

// await returns when the batch is durable. The first caller that finds no write in progress syncs for all others.
func (l *Log) await(b *batch) error {
	l.mu.Lock()
	b.awaited = true
	for l.busy && l.batch == b {
		l.idle.Wait()
	}
	if l.batch != b { // another caller has taken it
		l.mu.Unlock()
		<-b.done
		return b.err
	}
	l.busy = true
	l.gather()
	data, failed := l.queue, l.failed
	l.queue, l.batch = nil, nil
	l.mu.Unlock()

	if failed == nil {
		failed = l.write(data, true)
	}
	if b.err = failed; failed == nil && b.check && l.o.Check != nil {
		b.err = l.o.Check()
	}
	if b.timer != nil {
		b.timer.Stop()
	}
	for _, told := range b.told {
		told(b.err)
	}
	close(b.done)

	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = failed
	l.release()
	return b.err
}

// gather yields to other goroutines that can add records to the batch before its sync, as long as that brings more. It
// does not wait for time to pass: if no other goroutine can run, it returns at once. It terminates because callers that
// wait for the batch add nothing. The caller holds mu and has set busy.
func (l *Log) gather() {
	for prior := int64(-1); prior != l.size && !l.o.NoSync; {
		prior = l.size
		l.mu.Unlock()
		runtime.Gosched()
		l.mu.Lock()
	}
}

// release clears busy. Before that it writes the records that no caller awaits, so that the end of the process does not
// lose them. The caller holds mu and has set busy.
func (l *Log) release() {
	for b := l.batch; b != nil && !b.awaited && len(l.queue) > 0 && l.failed == nil; b = l.batch {
		data := l.queue
		l.queue = nil
		l.mu.Unlock()
		failed := l.write(data, false)
		l.mu.Lock()
		l.failed = failed
		if b.timer == nil {
			b.timer = time.AfterFunc(l.o.Deferral, func() { _ = l.await(b) }) // the told functions get the error
		}
	}
	l.busy = false
	l.idle.Broadcast()
}

// write writes pieces, which it takes over, and syncs them if sync is set.
func (l *Log) write(data [][]byte, sync bool) error {
	for _, piece := range data {
		if _, err := l.file.Write(piece); err != nil {
			return fmt.Errorf("write the journal: %w", err)
		}
		if cap(piece) == pieceSize {
			pieces.put(piece)
		} else { // a large record
			records.put(piece)
		}
	}
	if l.o.NoSync || !sync {
		return nil
	}
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("make the journal durable: %w", err)
	}
	return nil
}

// Err returns the reason why the log has failed, or nil. Acknowledged records are durable in either case.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// Size returns the length of the journal in bytes, including queued records.
func (l *Log) Size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size
}

// Close waits for the current write, syncs the records that no caller has awaited, and closes the file. Later entries
// are refused. A second call does nothing.
func (l *Log) Close() error {
	l.mu.Lock()
	for l.batch != nil && l.failed == nil {
		b := l.batch
		l.mu.Unlock()
		_ = l.await(b) // the told functions get the error
		l.mu.Lock()
	}
	for l.busy {
		l.idle.Wait()
	}
	if l.failed == nil {
		l.failed = errors.New("the journal is closed")
	}
	again := l.closed
	l.closed = true
	l.mu.Unlock()
	if again {
		return nil
	}
	return l.file.Close()
}

// The buffers of a journal are reused: a run encodes and writes two records for each step.
const (
	recordSize = 4 << 10  // minimum capacity of a buffer for one record
	mostRecord = 16 << 20 // maximum capacity of a buffer that is reused
	pieceSize  = 64 << 10 // for records that are written together
)

var (
	records = buffers{least: recordSize, most: mostRecord}
	pieces  = buffers{least: pieceSize, most: pieceSize}
)

// buffers pools buffers with a capacity from least to most. It is safe for concurrent use.
type buffers struct {
	pool        sync.Pool
	least, most int
}

// get returns an empty buffer.
func (b *buffers) get() []byte {
	if kept, ok := b.pool.Get().(*[]byte); ok {
		return (*kept)[:0]
	}
	return make([]byte, 0, b.least)
}

// put returns a buffer to the pool, or drops it if its capacity is out of range.
func (b *buffers) put(buffer []byte) {
	if cap(buffer) >= b.least && cap(buffer) <= b.most {
		b.pool.Put(&buffer)
	}
}
