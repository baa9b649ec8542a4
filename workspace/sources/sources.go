// Package sources bundles the source files that programs name: the code of dynamic types (D15). It starts no process and
// follows no import out of the project, unless a folder node_modules has it. It refuses to know what the code is for.
package sources

import (
	"context"
	_ "embed"
	"errors"
	"path/filepath"
	"sync"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/runtime/dynamic/bundle"
)

// stub stands in for the npm package of Pulumi's SDK where a project has not installed it: sources written for that SDK
// import it for its types and its base classes.
//
//go:embed stub.cjs
var stub string

// Sources bundles files and remembers the source maps, by which errors of running code find their line. The zero Sources
// is ready to use and safe for concurrent use.
type Sources struct {
	mu   sync.Mutex
	maps map[string]*bundle.Map // by digest; guarded by mu
}

// Bundle is a check.Bundler.
func (s *Sources) Bundle(_ context.Context, dir, source string) (*check.Bundle, []check.BundleFault, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, nil, err
	}
	b, err := bundle.Make(bundle.Options{Dir: dir, Source: source, Stubs: map[string]string{"@pulumi/pulumi": stub}})
	var faulty *bundle.Error
	if errors.As(err, &faulty) {
		faults := make([]check.BundleFault, len(faulty.Faults))
		for i, f := range faulty.Faults {
			place := f.Place()
			if place == "" {
				place = source
			}
			faults[i] = check.BundleFault{Place: place, Message: f.Message}
		}
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

// Map finds the source map of a bundle that was made here; nil for others.
func (s *Sources) Map(digest string) *bundle.Map {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.maps[digest]
}
