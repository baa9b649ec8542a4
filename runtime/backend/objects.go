package backend

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/yamlhost/yamlhost/internal/nohost"
	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/journal"
)

// Objects is a store of objects, such as a bucket, that can hold a backend instead of a folder. Keys are paths with
// slashes. Implementations are safe for concurrent use, and give these guarantees across processes and machines: a Put
// is atomic together with the check of its condition, and a Get or List that begins after a Put has returned sees it.
type Objects interface {
	// Get reads an object. Without one the error is fs.ErrNotExist.
	Get(ctx context.Context, key string) (Object, error)
	// List lists the keys that begin with prefix, in order. Keys that agree up to a further slash are listed as one
	// common prefix, which ends in that slash.
	List(ctx context.Context, prefix string) ([]Listed, error)
	// Put writes an object if the condition holds, and returns the version that it made; else the error is ErrChanged.
	Put(ctx context.Context, key string, data []byte, c Condition) (version string, err error)
	// Delete removes an object. A missing object is no error.
	Delete(ctx context.Context, key string) error
}

// Object is the content of a key.
type Object struct {
	Data     []byte
	Version  string    // identifies this content among all that the key ever has; for Condition
	Modified time.Time // by the clock of the store
}

// Listed is an object or a common prefix in a list.
type Listed struct {
	Key      string // ends in a slash if it is a common prefix of several keys
	Modified time.Time
	Version  string // as that of an Object; empty if the store does not list it
}

// Condition is the condition of a Put. The zero value always holds.
type Condition struct {
	Absent  bool   // there is no object yet
	Version string // the object is still of this version
	// Number is not a condition: a store that implements Fencing keeps it with a lease; 0 if nobody holds the lease.
	// Other stores ignore it.
	Number int64
}

// Remover is a store that can remove many objects in few requests.
type Remover interface {
	Objects
	// DeleteAll removes objects in any order. Missing ones are no error. After an error some may be gone. It gives
	// errors.ErrUnsupported if the server does not offer this.
	DeleteAll(ctx context.Context, keys []string) error
}

// Fencing is a store that can check atomically with a write whether a lease is still held.
type Fencing interface {
	Objects
	// Hold returns the store for the holder of a lease, which is the object under key with this number. It shuts out
	// earlier holders.
	Hold(ctx context.Context, key string, number int64) (Held, error)
}

// Held is a store under a lease. Each Put and Delete, except of the lease itself, returns ErrFenced and changes
// nothing unless the lease still has its number at the instant of the change.
type Held interface {
	Objects
	// Release is called once, before the lease is given back. The lease itself can still be written.
	Release()
}

// ErrFenced is returned when a lease was lost before a write. It is an ErrChanged, too.
var ErrFenced = fmt.Errorf("the lease is no longer held: %w", ErrChanged)

// ErrChanged is returned when the condition of a Put did not hold: somebody else has written the object.
var ErrChanged = errors.New("another writer has changed the object meanwhile")

// ErrRefused is returned when a store has understood a request and will not do it, now or later, for example because a
// permission is missing or there is no such bucket. Any other error that is not of this package counts as transient.
var ErrRefused = errors.New("the store refuses")

// ErrUnprepared is returned when a store cannot be asked: the address of its host is not found, or there are no
// credentials for it. A later request may succeed.
var ErrUnprepared = errors.New("the store cannot be asked")

// NoHost returns an ErrUnprepared that names the host whose address was not found; nil for another error.
func NoHost(err error) error {
	host := nohost.In(err)
	if host == "" {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrUnprepared, &nohost.Error{Host: host})
}

// awayError is returned when a store could not be asked, or has not answered, for as long as requests are repeated.
type awayError struct {
	store string
	cause error
}

func (e *awayError) Error() string { return e.store + ": " + e.cause.Error() }

func (e *awayError) Unwrap() error { return e.cause }

// Waking is a store that can notify waiting processes when a lease may have been released.
type Waking interface {
	Objects
	// Wakes returns a channel that receives a value when the lease under key has been released. The caller calls stop
	// once to end it. Releases that nobody has received yet count as one.
	Wakes(ctx context.Context, key string) (wakes <-chan struct{}, stop func(), err error)
}

// Wakes returns a channel that receives a value when the lock of a stack is released. If the store cannot notify, or
// that fails, the channel is nil and the caller has to poll. The caller calls stop once.
func (b *Backend) Wakes(ctx context.Context, r Ref) (wakes <-chan struct{}, stop func()) {
	if b.files.objects != nil {
		if store, ok := b.files.objects.objects.(Waking); ok {
			if wakes, stop, err := store.Wakes(ctx, b.files.leaseOf(r).key()); err == nil {
				return wakes, stop
			}
		}
	}
	return nil, func() {}
}

const (
	// storePatience is how long requests are repeated while a store cannot be reached: a server that is restarted is
	// back in that time.
	storePatience = 30 * time.Second
	// namePatience is the same for a store that has never answered and whose host is not found: its name is
	// probably wrong.
	namePatience = 3 * time.Second
	// storeAnswer is how long one request may take.
	storeAnswer = 60 * time.Second
)

// objectDisk is a disk over a store of objects. It has no folders, and every write is durable. A created file stays in
// memory until it gets its final name.
type objectDisk struct {
	objects  Objects
	name     string // of the store, for messages
	patience time.Duration
	brief    time.Duration // the patience with ErrUnprepared before the first answer
	// parent is the context of requests: that of Options.Opening until the store has answered, then one that is never
	// cancelled, because results must be recorded.
	parent context.Context

	answered atomic.Bool // since the disk was opened

	states sync.Map // Ref: a seenState, where the state was when it was last looked for

	mu     sync.Mutex // guards the fields below
	staged map[string]*bytes.Buffer
}

// newObjectDisk returns a disk over a store. name is the store's name in errors.
func newObjectDisk(objects Objects, name string) *objectDisk {
	return &objectDisk{objects: objects, name: name, patience: storePatience, brief: namePatience,
		parent: context.Background(), staged: map[string]*bytes.Buffer{}}
}

// try repeats a request while the store cannot be reached. ErrChanged, fs.ErrNotExist and ErrRefused are answers.
func (d *objectDisk) try(act func(ctx context.Context) error) error {
	var waited time.Duration
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		ctx, cancel := context.WithTimeout(d.parent, storeAnswer)
		err := act(ctx)
		cancel()
		switch {
		case err == nil || errors.Is(err, ErrChanged) || errors.Is(err, fs.ErrNotExist):
			d.answered.Store(true)
			return err
		case errors.Is(err, ErrRefused):
			return fmt.Errorf("%s: %w", d.name, err)
		case waited >= d.patience || waited >= d.brief && errors.Is(err, ErrUnprepared) && !d.answered.Load():
			return &awayError{d.name, err}
		case d.parent.Err() != nil:
			return d.parent.Err()
		}
		select {
		case <-time.After(pause):
		case <-d.parent.Done():
		}
		waited += pause
	}
}

// ask is try for a request with a result.
func ask[T any](d *objectDisk, request func(context.Context) (T, error)) (answer T, err error) {
	err = d.try(func(ctx context.Context) error {
		answer, err = request(ctx)
		return err
	})
	return answer, err
}

// get reads an object. A missing one gives fs.ErrNotExist.
func (d *objectDisk) get(key string) (Object, error) {
	return ask(d, func(ctx context.Context) (Object, error) { return d.objects.Get(ctx, key) })
}

// list lists keys; see Objects.List.
func (d *objectDisk) list(prefix string) ([]Listed, error) {
	return ask(d, func(ctx context.Context) ([]Listed, error) { return d.objects.List(ctx, prefix) })
}

// put writes an object under a condition. A lost reply does no harm: if the object has the content, the write
// succeeded. Content that is written under a condition must therefore differ from every other writer's.
func (d *objectDisk) put(key string, data []byte, c Condition) (version string, err error) {
	err = d.try(func(ctx context.Context) error {
		if version, err = d.objects.Put(ctx, key, data, c); !errors.Is(err, ErrChanged) {
			return err
		}
		now, failed := d.objects.Get(ctx, key)
		switch {
		case errors.Is(failed, fs.ErrNotExist):
			return err
		case failed != nil:
			return failed
		case bytes.Equal(now.Data, data):
			version = now.Version
			return nil
		}
		return err
	})
	return version, err
}

// delete removes an object, which need not be there.
func (d *objectDisk) delete(key string) error {
	return d.try(func(ctx context.Context) error { return d.objects.Delete(ctx, key) })
}

// deleters is the number of objects that are removed concurrently in a store that cannot remove many at once.
const deleters = 32

// deleteAll removes objects in any order. They need not be there.
func (d *objectDisk) deleteAll(keys []string) error {
	if store, ok := d.objects.(Remover); ok && len(keys) > 1 {
		unsupported := false
		err := d.try(func(ctx context.Context) error {
			err := store.DeleteAll(ctx, keys)
			if unsupported = errors.Is(err, errors.ErrUnsupported); unsupported {
				return nil
			}
			return err
		})
		if !unsupported {
			return err
		}
	}
	var group errgroup.Group
	group.SetLimit(deleters)
	for _, key := range keys {
		group.Go(func() error { return d.delete(key) })
	}
	return group.Wait()
}

// now returns the time by the store's clock: the time of an object that it writes into a folder. The object stays
// there, for the next call.
func (d *objectDisk) now(folder string) (time.Time, error) {
	key := folder + "/clock"
	if _, err := d.put(key, []byte(uuid.NewString()), Condition{}); err != nil {
		return time.Time{}, err
	}
	o, err := d.get(key)
	return o.Modified, err
}

// keyOf returns the key of an object for a path.
func keyOf(path string) string { return filepath.ToSlash(path) }

// ReadFile reads an object.
func (d *objectDisk) ReadFile(path string) ([]byte, error) {
	o, err := d.get(keyOf(path))
	return o.Data, err
}

// Open reads all of an object first.
func (d *objectDisk) Open(path string) (io.ReadSeekCloser, error) {
	data, err := d.ReadFile(path)
	return inMemory{bytes.NewReader(data)}, err
}

// ReadDir returns the names in a folder; those of folders end in a slash.
func (d *objectDisk) ReadDir(path string) ([]string, error) {
	prefix := keyOf(path) + "/"
	found, err := d.list(prefix)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(found))
	for i, f := range found {
		names[i] = strings.TrimPrefix(f.Key, prefix)
	}
	return names, nil
}

// ModTime returns when an object was written, by the clock of the store.
func (d *objectDisk) ModTime(path string) (time.Time, error) {
	key := keyOf(path)
	found, err := d.list(key)
	if err != nil {
		return time.Time{}, err
	}
	for _, f := range found {
		if f.Key == key {
			return f.Modified, nil
		}
	}
	return time.Time{}, fs.ErrNotExist
}

// ReadUnless always reads: objects have no stamps.
func (d *objectDisk) ReadUnless(path string, _ disk.Stamp) (text []byte, now disk.Stamp, err error) {
	text, err = d.ReadFile(path)
	return text, disk.Stamp{}, err
}

// Mkdir and SyncDir do nothing: a store has no folders.
func (d *objectDisk) Mkdir(string) error   { return nil }
func (d *objectDisk) SyncDir(string) error { return nil }

// Guard does nothing: conditions of writes take its place.
func (d *objectDisk) Guard(string) (release func(), free bool) { return func() {}, true }

// Guarding returns 0: there are no guards.
func (d *objectDisk) Guarding(string) int { return 0 }

// Append is unsupported: nothing can be added to an object. A journal is a chain of objects.
func (d *objectDisk) Append(string) (journal.File, error) { return nil, errors.ErrUnsupported }

// Create makes a file in memory. It becomes an object when Rename gives it its name, in one request.
func (d *objectDisk) Create(path string) (journal.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := &stagedFile{}
	d.staged[keyOf(path)] = &f.Buffer
	return f, nil
}

// stagedFile is content that has no key yet.
type stagedFile struct{ bytes.Buffer }

// Sync and Close do nothing: there is nothing durable yet.
func (*stagedFile) Sync() error  { return nil }
func (*stagedFile) Close() error { return nil }

// Rename writes a file that Create has made as an object. It cannot rename objects.
func (d *objectDisk) Rename(from, to string) error {
	d.mu.Lock()
	data := d.staged[keyOf(from)]
	delete(d.staged, keyOf(from))
	d.mu.Unlock()
	if data == nil {
		return fs.ErrNotExist
	}
	_, err := d.put(keyOf(to), data.Bytes(), Condition{})
	return err
}

// Link is not supported by stores.
func (d *objectDisk) Link(string, string) error { return errors.ErrUnsupported }

// Remove removes an object, or a file that Create has made.
func (d *objectDisk) Remove(path string) error {
	d.mu.Lock()
	_, staged := d.staged[keyOf(path)]
	delete(d.staged, keyOf(path))
	d.mu.Unlock()
	if staged {
		return nil
	}
	return d.delete(keyOf(path))
}

// inMemory is a file that was read into memory.
type inMemory struct{ *bytes.Reader }

// Close does nothing.
func (inMemory) Close() error { return nil }
