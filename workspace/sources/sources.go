// Package sources bundles the source files that programs name: the code of dynamic types (D15), and what fn::bundle
// makes archives of. It starts no process and follows no import out of the project, unless a folder node_modules has
// it. It refuses to know what the code is for.
package sources

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/runtime/dynamic/bundle"
)

// stub stands in for the npm package of Pulumi's SDK where a project has not installed it: sources written for that SDK
// import it for its types and its base classes.
//
//go:embed stub.cjs
var stub string

// Sources bundles files and remembers the source maps, by which errors of running code find their line. The zero
// Sources is ready to use and safe for concurrent use.
type Sources struct {
	// Confined reports whether folders node_modules, too, must stay below the program's folder.
	Confined bool

	mu   sync.Mutex
	maps map[string]*bundle.Map // by digest; guarded by mu
}

// Bundle is a check.Bundler.
func (s *Sources) Bundle(_ context.Context, dir, source string) (*check.Bundle, []check.BundleFault, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, nil, err
	}
	b, err := bundle.Make(bundle.Options{Dir: dir, Source: source, Confined: s.Confined,
		Stubs: map[string]string{"@pulumi/pulumi": stub}})
	if faults := faultsOf(err, source); faults != nil {
		return nil, faults, nil
	}
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.maps == nil {
		s.maps = map[string]*bundle.Map{}
	}
	s.maps[b.Digest] = b.Map
	return &check.Bundle{Language: string(b.Language), Code: b.Code, Digest: b.Digest}, nil, nil
}

// Handler looks for faults of a source that fn::bundle makes an archive of (L10.C18).
func (s *Sources) Handler(_ context.Context, dir string, r check.HandlerSource) ([]check.BundleFault, error) {
	_, err := s.handler(dir, r)
	if faults := faultsOf(err, r.Entry); faults != nil {
		return faults, nil
	}
	return nil, err
}

// Texts packs a source and its imports into texts by their names in an archive (L10.C18).
func (s *Sources) Texts(_ context.Context, dir string, r check.HandlerSource) (map[string]string, error) {
	b, err := s.handler(dir, r)
	if err != nil {
		return nil, err
	}
	return b.Texts, nil
}

func (s *Sources) handler(dir string, r check.HandlerSource) (*bundle.Bundle, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	entry := path.Clean(strings.ReplaceAll(r.Entry, "\\", "/"))
	return bundle.Make(bundle.Options{Dir: dir, Source: entry, Confined: s.Confined, External: r.External,
		Minify: r.Minify, Handler: &bundle.Handler{Export: r.Export, Captured: r.Captured}})
}

// faultsOf returns the faults that an error lists, each with a place; nil for another error, and for none.
func faultsOf(err error, source string) []check.BundleFault {
	faulty, ok := errors.AsType[*bundle.Error](err)
	if !ok {
		return nil
	}
	faults := make([]check.BundleFault, len(faulty.Faults))
	for i, f := range faulty.Faults {
		faults[i] = check.BundleFault{Place: cmp.Or(f.Place(), source), Message: f.Message}
	}
	return faults
}

// Map finds the source map of a bundle that was made here; nil for others.
func (s *Sources) Map(digest string) *bundle.Map {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.maps[digest]
}
