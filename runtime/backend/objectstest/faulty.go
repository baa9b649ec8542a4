package objectstest

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"sync/atomic"

	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/backend/disk/disktest"
)

// Faulty returns a store that calls f around each Put and Delete, and around each Get of a lease while one is held
// through it. Errors of f are permanent: the caller does not repeat the request.
func Faulty(o backend.Objects, f disktest.Fault) backend.Objects {
	s := &faulty{Objects: o, fault: f, holds: &atomic.Bool{}}
	store, fences := o.(backend.Fencing)
	more, isDatabase := o.(database)
	switch {
	case fences && isDatabase:
		return &faultyDatabase{&faultyFencing{faulty: s, store: store}, more}
	case fences:
		return &faultyFencing{faulty: s, store: store}
	}
	return s
}

type faulty struct {
	backend.Objects
	fault disktest.Fault
	holds *atomic.Bool // set while a lease is held
}

func isLease(key string) bool { return path.Base(key) == "lease.json" }

func (s *faulty) around(do, key string, act func() error) error {
	var answer error
	err := s.fault.Around(do, key, func() error { answer = act(); return answer })
	if err != nil && err != answer {
		return fmt.Errorf("%w: %w", backend.ErrRefused, err)
	}
	return err
}

func (s *faulty) Get(ctx context.Context, key string) (o backend.Object, err error) {
	if !isLease(key) || !s.holds.Load() {
		return s.Objects.Get(ctx, key)
	}
	err = s.around("look", key, func() error { o, err = s.Objects.Get(ctx, key); return err })
	return o, err
}

func (s *faulty) Put(ctx context.Context, key string, data []byte, c backend.Condition) (version string, err error) {
	err = s.around("put", key, func() error { version, err = s.Objects.Put(ctx, key, data, c); return err })
	if err == nil && isLease(key) {
		s.holds.Store(bytes.Contains(data, []byte(`"holder"`)))
	}
	return version, err
}

func (s *faulty) Delete(ctx context.Context, key string) error {
	return s.around("delete", key, func() error { return s.Objects.Delete(ctx, key) })
}

// faultyFencing is a faulty store that implements backend.Fencing.
type faultyFencing struct {
	*faulty
	store backend.Fencing
}

func (s *faultyFencing) Hold(ctx context.Context, key string, number int64) (backend.Held, error) {
	held, err := s.store.Hold(ctx, key, number)
	if err != nil {
		return nil, err
	}
	return faultyHeld{&faulty{Objects: held, fault: s.fault, holds: s.holds}, held}, nil
}

// database has the methods that backend.Bulk and backend.Waking add to backend.Objects.
type database interface {
	ListAll(ctx context.Context, prefix string) ([]backend.Listed, error)
	GetAll(ctx context.Context, keys []string) (map[string]backend.Object, error)
	Wakes(ctx context.Context, key string) (wakes <-chan struct{}, stop func(), err error)
}

// faultyDatabase is a faulty store that implements backend.Fencing, backend.Bulk and backend.Waking. Only the methods
// of faultyFencing have faults.
type faultyDatabase struct {
	*faultyFencing
	database
}

var (
	_ backend.Bulk   = (*faultyDatabase)(nil)
	_ backend.Waking = (*faultyDatabase)(nil)
)

type faultyHeld struct {
	*faulty
	held backend.Held
}

func (s faultyHeld) Release() { s.held.Release() }
