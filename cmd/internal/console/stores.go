package console

import (
	"sync"

	"github.com/yamlhost/yamlhost/runtime/backend"
)

// OpenStores are the stores of objects that a command has opened, each once: stacks that one command works on share its
// connections. It is safe for concurrent use; a nil one opens anew each time.
type OpenStores struct {
	mu     sync.Mutex
	opened map[string]backend.Objects // by URL; guarded by mu
}

// open opens a store of objects, or returns the one that is open.
func (s *OpenStores) open(rawURL string, open func(rawURL string) (backend.Objects, error)) (backend.Objects, error) {
	if s == nil {
		return open(rawURL)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.opened[rawURL]; known != nil {
		return known, nil
	}
	objects, err := open(rawURL)
	if err == nil {
		s.opened[rawURL] = objects
	}
	return objects, err
}

// NewOpenStores has opened nothing yet.
func NewOpenStores() *OpenStores { return &OpenStores{opened: map[string]backend.Objects{}} }
