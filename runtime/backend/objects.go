package backend

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Objects is a store of objects, a bucket say, that a backend can live in instead of a folder. Keys are paths with
// slashes. Implementations are safe for concurrent use, and what they promise holds across processes and machines: a
// Put is whole or not at all, its condition is checked in the same instant, and a Get or List that begins after a Put
// has returned sees it.
type Objects interface {
	// Get reads an object. Without one the error is fs.ErrNotExist.
	Get(ctx context.Context, key string) (Object, error)
	// List names what begins with prefix, in order: objects, and once each what is common up to a further slash.
	List(ctx context.Context, prefix string) ([]Listed, error)
	// Put writes an object if the condition holds, and returns the version that it made; else the error is ErrChanged.
	Put(ctx context.Context, key string, data []byte, c Condition) (version string, err error)
	// Delete removes an object. That there is none is no error.
	Delete(ctx context.Context, key string) error
}

// Object is the content of a key.
type Object struct {
	Data     []byte
	Version  string    // tells this content from what was there before and will be later; for Condition
	Modified time.Time // by the clock of the store
}

// Listed is an object, or what several have in common, in a list.
type Listed struct {
	Key      string // ends in a slash if it is a common prefix of several keys
	Modified time.Time
}

// Condition restricts when a Put takes effect. The zero value is no restriction.
type Condition struct {
	Absent  bool   // there is no object yet
	Version string // the object is still of this version
	// Number is no condition: of a lease, what a store that implements Fencing keeps beside it; 0 when nobody holds it.
	// Other stores have no use for it.
	Number int64
}

// Fencing is a store that can check in the same instant as it writes whether a lease is still held.
type Fencing interface {
	Objects
	// Hold returns the store as the holder of a lease sees it, which is the object under key with this number. Anyone who
	// had it before is shut out.
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
// permission is missing or there is no such bucket. Any other error that is not of this package counts as passing.
var ErrRefused = errors.New("the store refuses")
