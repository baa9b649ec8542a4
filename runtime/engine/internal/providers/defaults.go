package providers

import (
	"fmt"

	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// defaultProvider is a default provider of this operation, or one on its way (E3.28).
type defaultProvider struct {
	done chan struct{}
	ref  string
	err  error
}

// Default returns the reference of a package's default provider. The first one who asks registers it; the others wait
// for that, with wait.
func (r *Registry) Default(p monitor.Package, register func() (string, error), wait func(done <-chan struct{}) error) (
	string, error) {
	key := fmt.Sprintf("%q %q %q %q", PackageName(p), p.Name, VersionOf(p), p.DownloadURL)
	r.mu.Lock()
	known := r.defaults[key]
	if known == nil {
		known = &defaultProvider{done: make(chan struct{})}
		r.defaults[key] = known
		r.mu.Unlock()
		known.ref, known.err = register()
		close(known.done)
		return known.ref, known.err
	}
	r.mu.Unlock()
	if err := wait(known.done); err != nil {
		select {
		case <-known.done:
		default:
			return "", err
		}
	}
	return known.ref, known.err
}
