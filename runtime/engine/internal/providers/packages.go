package providers

import (
	"fmt"
	"sync"

	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// Packages are the packages that programs have registered (E2.67). It is safe for concurrent use.
type Packages struct {
	mu    sync.Mutex // guards the rest
	byRef map[string]monitor.Package
	refs  map[string]string // package key to reference
}

// Register announces a package. Equal packages get the same reference; newID makes one for a new package.
func (k *Packages) Register(p monitor.Package, newID func() string) (string, error) {
	if p.Name == "" {
		return "", fmt.Errorf("a package without a name cannot be registered")
	}
	if p.Extension && p.Parameterization == nil {
		return "", fmt.Errorf("the extension of %s has no name or version", p.Name)
	}
	key := fmt.Sprintf("%q %q %q %v", p.Name, p.Version, p.DownloadURL, p.Checksums)
	if p.Extension {
		key = "extension " + key
	}
	if z := p.Parameterization; z != nil {
		key += fmt.Sprintf(" %q %q %x", z.Name, z.Version, z.Value)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if ref, ok := k.refs[key]; ok {
		return ref, nil
	}
	ref := newID()
	if p.Extension {
		ref = extensionRef(p.Parameterization)
	}
	k.refs[key], k.byRef[ref] = ref, p
	return ref, nil
}

// Request returns the package that a request wants: the package of its reference, else pkg with version, URL and
// checksums of the request itself (E2.20).
func (k *Packages) Request(pkg, ref string, inline monitor.Package) (monitor.Package, error) {
	if ref == "" {
		inline.Name = pkg
		return inline, nil
	}
	p, ok := k.get(ref)
	if !ok {
		return p, fmt.Errorf("unknown provider package '%s'", ref)
	}
	if p.Extension { // its plugin is the one that it extends
		p.Parameterization, p.Extension = nil, false
	}
	return p, nil
}

// get returns the package of a reference.
func (k *Packages) get(ref string) (monitor.Package, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p, ok := k.byRef[ref]
	return p, ok
}

// Extends returns the plugin that a package reference extends, empty when it is no extension's.
func (k *Packages) Extends(ref string) string {
	if p, _ := k.get(ref); p.Extension {
		return p.Name
	}
	return ""
}

// Extension returns a package reference if it is an extension's, else empty.
func (k *Packages) Extension(ref string) string {
	if p, _ := k.get(ref); p.Extension {
		return ref
	}
	return ""
}
