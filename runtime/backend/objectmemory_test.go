package backend

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// memory is a store of objects in memory. Tests can delay each request or make it fail. Its content outlives the
// backends that use it.
type memory struct {
	mu       sync.Mutex
	objects  map[string]Object
	versions int
	now      func() time.Time

	careless bool // Put ignores conditions
	// before is called before each request, and after once the request has succeeded. The caller gets their errors.
	// After an error of before the request is not made.
	before, after func(do, key string) error
}

func newMemory() *memory { return &memory{objects: map[string]Object{}, now: time.Now} }

func (m *memory) around(do, key string, act func() error) error {
	m.mu.Lock()
	before, after := m.before, m.after
	m.mu.Unlock()
	if before != nil {
		if err := before(do, key); err != nil {
			return err
		}
	}
	m.mu.Lock()
	err := act()
	m.mu.Unlock()
	if after != nil && err == nil {
		err = after(do, key)
	}
	return err
}

// look returns an object without a request. A run that is stopped in one request may still have others under way.
func (m *memory) look(key string) Object {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.objects[key]
}

func (m *memory) Get(_ context.Context, key string) (o Object, err error) {
	err = m.around("get", key, func() error {
		found, ok := m.objects[key]
		if !ok {
			return fs.ErrNotExist
		}
		found.Data = slices.Clone(found.Data)
		o = found
		return nil
	})
	return o, err
}

func (m *memory) List(_ context.Context, prefix string) (found []Listed, err error) {
	err = m.around("list", prefix, func() error {
		for key, o := range m.objects {
			rest, ok := strings.CutPrefix(key, prefix)
			if !ok {
				continue
			}
			if folder, _, deeper := strings.Cut(rest, "/"); deeper {
				key = prefix + folder + "/"
			}
			found = append(found, Listed{key, o.Modified, o.Version})
		}
		slices.SortFunc(found, func(a, b Listed) int { return strings.Compare(a.Key, b.Key) })
		found = slices.CompactFunc(found, func(a, b Listed) bool { return a.Key == b.Key })
		return nil
	})
	return found, err
}

func (m *memory) Put(_ context.Context, key string, data []byte, c Condition) (version string, err error) {
	err = m.around("put", key, func() error {
		old, exists := m.objects[key]
		if !m.careless && (c.Absent && exists || c.Version != "" && (!exists || old.Version != c.Version)) {
			return ErrChanged
		}
		m.versions++
		version = fmt.Sprintf("v%d", m.versions)
		m.objects[key] = Object{slices.Clone(data), version, m.now()}
		return nil
	})
	return version, err
}

func (m *memory) Delete(_ context.Context, key string) error {
	return m.around("delete", key, func() error {
		delete(m.objects, key)
		return nil
	})
}

func (m *memory) keys() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.objects))
}
