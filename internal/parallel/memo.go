package parallel

import "sync"

// Memo computes a result once for each key: a value, and an error or another fault. The zero Memo is empty. It is safe
// for concurrent use.
type Memo[K comparable, V, E any] struct{ made sync.Map }

// Get returns the result for a key. The first call for a key computes it, and the others wait for that.
func (m *Memo[K, V, E]) Get(key K, compute func() (V, E)) (V, E) {
	made, known := m.made.Load(key)
	if !known {
		made, _ = m.made.LoadOrStore(key, sync.OnceValues(compute))
	}
	return made.(func() (V, E))()
}
