package change

import (
	"sync"

	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Book keeps what the steps of one operation change, so that it is determined once for all that show it, and only if
// something does. It is safe for concurrent use. A nil Book keeps nothing.
type Book struct {
	mu   sync.Mutex
	sets map[entry]Set
}

// entry identifies a step by its operation and its states, which are immutable; the steps of a replacement share them.
type entry struct {
	op       engine.Op
	old, new *state.Resource
}

// Reset forgets everything, before another operation.
func (b *Book) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sets = nil
}

// Of returns what a step changes. Callers must not modify the result.
func (b *Book) Of(s *engine.Step) Set {
	if b == nil {
		return Of(s)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	key := entry{s.Op, s.Old, s.New}
	set, known := b.sets[key]
	if !known {
		set = Of(s)
		if b.sets == nil {
			b.sets = map[entry]Set{}
		}
		b.sets[key] = set
	}
	return set
}
