package backend

import (
	"errors"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/runtime/journal"
)

// losses are the results that providers reported and that the next run may not learn of, because the lock was lost
// before they were known to be journaled. The zero value has none. It is safe for concurrent use.
type losses struct {
	mu  sync.Mutex
	all []Unrecorded
}

// note takes what an entry tells if the lock was lost.
func (l *losses) note(e journal.Entry, err error) {
	if !errors.As(err, new(*LockLostError)) || e.Begin != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range e.Add {
		if a.Resource.Custom && a.Resource.ID != "" && !a.Resource.IsProvider() {
			l.all = append(l.all, Unrecorded{a.Resource.URN, a.Resource.ID})
		}
	}
}

// tell adds to a lost lock what the next run may not learn; other errors it leaves as they are.
func (l *losses) tell(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lost *LockLostError
	if !errors.As(err, &lost) || len(l.all) == 0 {
		return err
	}
	told := *lost
	told.Unrecorded = slices.Clone(l.all)
	return &told
}
