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

// LogOptions control how a Log works.
type LogOptions struct {
	Secrets state.Sealer // seals the entries' secrets; nil when there cannot be any
	NoSync  bool         // do not wait for the disk: a crash of the machine may lose entries, one of the process does not
	// Check is called after records that ask for it are durable, once for all records of one sync, and before their
	// callers return. Its error becomes the error of these records; the log goes on. It may be nil.
	Check func() error
	// Deferral is the longest time for which a record that nobody waits for may be without a sync; 0 is 10 milliseconds.
	Deferral time.Duration
}

const defaultDeferral = 10 * time.Millisecond

// Log appends entries to a file. It is safe for concurrent use: records that come while the disk is busy share the next
// write and sync. After a failed write or sync it stays failed, because nobody can say what of it is on the disk.
//
// A record is written at once, or as soon as the write or sync under way has ended. It is synced when somebody waits
// for it or for one that was put after it, and in any case soon. So a record that is durable has all that were put
// before it.
type Log struct {
	file File
	o    LogOptions

	mu      sync.Mutex
	queue   [][]byte  // framed records not yet written, several in one piece
	batch   *batch    // of the records that no sync has been begun for, written or not; nil if there are none
	busy    bool      // somebody writes or syncs
	size    int64     // bytes accepted, in the file or in queue
	sealing []byte    // the secrets settings last written, as JSON
	failed  error     // stays
	idle    sync.Cond // signalled when busy ends
}

// batch is of the records that share a sync.
type batch struct {
	awaited bool          // somebody waits for it, and will sync it
	check   bool          // it has a record that asks for LogOptions.Check
	told    []func(error) // called with err, before done is closed
	timer   *time.Timer   // syncs what nobody waits for; nil until that is needed
	done    chan struct{}
	err     error // once done is closed
}

// Create begins a journal in an empty file, which the Log owns from now on, and returns once its header is durable.
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
		return nil, fmt.Errorf("begin the journal: %w", err)
	}
	return l, l.await(l.enqueue(appendRecord([]byte(signature), kindHeader, text))) // nobody else has it yet
}

// Append makes an entry durable. The entry is a fact, so that a cancelled ctx does not keep it from being written. An
// entry that cannot be encoded, for example because a passphrase is missing, is an error and leaves the log usable.
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

// Record is an encoded entry. It is put once, and the Log owns its bytes from then on.
type Record []byte

// Encode makes an entry ready to be put, with its secrets sealed by m; it is most of the work. A record that nobody
// could read would be in the way of all that follow: it is scanned by the rules of the reader, and one that those
// refuse is an error.
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

// Put gives the record its place in the log and returns a function that waits until it is durable. check asks for
// LogOptions.Check.
func (l *Log) Put(r Record, check bool) (wait func() error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.accept(r, check)
	return func() error { return l.await(b) }
}

// PutDeferred gives the record its position in the log and returns a function that writes it, or leaves that to a
// caller who is writing now. The record is durable before any record that is put later. told is called once with the
// result. The function returns the reason if it finds that the log cannot be written any more.
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

// accept queues an entry. The caller holds the lock.
func (l *Log) accept(r Record, check bool) *batch {
	if settings := l.newSealing(); settings != nil {
		l.enqueue(appendRecord(nil, kindSecrets, settings))
	}
	b := l.enqueue(r)
	b.check = b.check || check
	return b
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

// Covered records, durably, that a state file with this identity is about to be written, which holds everything that
// was put up to a size of the log. o comes from Replayer.Checkpoint, and may be empty if nothing will be put any
// more. The journal can be applied whether or not the file is then written.
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

// enqueue is called with the lock held.
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
	case len(record) > pieceSize/2: // a record is put once, so that its bytes may be kept
		l.queue = append(l.queue, record)
	default:
		l.queue = append(l.queue, append(pieces.get(), record...))
		records.put(record)
	}
	return l.batch
}

// await returns once the batch is durable. The first to find nobody writing writes and syncs for everybody.
func (l *Log) await(b *batch) error {
	l.mu.Lock()
	b.awaited = true
	for l.busy && l.batch == b {
		l.idle.Wait()
	}
	if l.batch != b { // somebody has taken it
		l.mu.Unlock()
		<-b.done
		return b.err
	}
	l.busy = true
	l.gather()
	data, failed := l.take(), l.failed
	l.batch = nil
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

// gather lets those who can run now put their records into the batch that is about to be synced, for as long as each
// round of them brings more. Nobody waits for time to pass: where nobody else can run, it returns at once. It comes to
// an end because those who wait for the batch put nothing meanwhile. The caller holds the lock and has set busy.
func (l *Log) gather() {
	for before := int64(-1); before != l.size && !l.o.NoSync; {
		before = l.size
		l.mu.Unlock()
		runtime.Gosched()
		l.mu.Lock()
	}
}

// take takes what is queued. The caller holds the lock.
func (l *Log) take() [][]byte {
	data := l.queue
	l.queue = nil
	return data
}

// release ends busy. Before, it writes what nobody waits for, so that the end of the process does not lose it. The
// caller holds the lock and has set busy.
func (l *Log) release() {
	for b := l.batch; b != nil && !b.awaited && len(l.queue) > 0 && l.failed == nil; b = l.batch {
		data := l.take()
		l.mu.Unlock()
		failed := l.write(data, false)
		l.mu.Lock()
		l.failed = failed
		if b.timer == nil {
			b.timer = time.AfterFunc(l.o.Deferral, func() { _ = l.await(b) }) // each record's told gets the error
		}
	}
	l.busy = false
	l.idle.Broadcast()
}

// write writes pieces, whose bytes nobody may use any more.
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

// Err returns the reason why the log cannot be written any more; nil while it can. Records that were acknowledged
// before are in it all the same.
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

// Close waits for what is being written, syncs what nobody has waited for, and closes the file. Entries put afterwards
// are refused.
func (l *Log) Close() error {
	l.mu.Lock()
	for l.batch != nil && l.failed == nil {
		b := l.batch
		l.mu.Unlock()
		_ = l.await(b) // each record's told gets the error
		l.mu.Lock()
	}
	for l.busy {
		l.idle.Wait()
	}
	if l.failed == nil {
		l.failed = errors.New("the journal is closed")
	}
	l.mu.Unlock()
	return l.file.Close()
}

// The buffers of a journal are used again and again: a run encodes and writes two records for each step.
const (
	recordSize = 4 << 10  // the least that a buffer for one record holds
	mostRecord = 16 << 20 // the most that one holds which is used again
	pieceSize  = 64 << 10 // of records that are written together
)

var (
	records = buffers{least: recordSize, most: mostRecord}
	pieces  = buffers{least: pieceSize, most: pieceSize}
)

// buffers keeps those that hold at least and at most so many bytes. It is safe for concurrent use.
type buffers struct {
	pool        sync.Pool
	least, most int
}

// get is an empty buffer.
func (b *buffers) get() []byte {
	if kept, ok := b.pool.Get().(*[]byte); ok {
		return (*kept)[:0]
	}
	return make([]byte, 0, b.least)
}

// put takes a buffer that nobody uses any more; one of another size is let go.
func (b *buffers) put(buffer []byte) {
	if cap(buffer) >= b.least && cap(buffer) <= b.most {
		b.pool.Put(&buffer)
	}
}
