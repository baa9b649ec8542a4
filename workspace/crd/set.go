package crd

import (
	"context"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/schema"
)

// Set are the kinds of a project's files. It is safe for concurrent use once it is made.
type Set struct {
	Faulty bool // a file could not be read, so that kinds may be missing

	packages []*schema.Package
	defined  map[string]File // tokens with the files that define them

	mu sync.Mutex
	// by the package that the kinds are added to, nil for none; guarded by mu
	joined map[*schema.Package]*schema.Package
}

// add adds the kinds of a file.
func (s *Set) add(f File, pkg *schema.Package) (diags diag.Diagnostics) {
	tokens := pkg.ResourceTokens()
	if len(tokens) == 0 {
		return diag.Diagnostics{{Severity: diag.Warning, Code: diag.BadDefinition,
			Subject: diag.NewRange(diag.NewSource(f.Shown, nil), 0, 0), Summary: f.Shown + " defines no kind",
			Detail: "a definition is an object of the kind CustomResourceDefinition with a schema; name only files that have one " +
				"under `crds`"}}
	}
	if s.defined == nil {
		s.defined = map[string]File{}
	}
	s.packages = append(s.packages, pkg)
	for _, token := range tokens {
		if first, twice := s.defined[token]; twice {
			diags.Add(diag.Diagnostic{Severity: diag.Warning, Code: diag.Duplicate,
				Subject: diag.NewRange(diag.NewSource(f.Shown, nil), 0, 0),
				Summary: token + " is defined by " + first.Shown + " too",
				Detail:  "the definition there counts; remove one of the two"})
			return diags
		}
		s.defined[token] = f
	}
	return nil
}

// Empty reports whether no file defines a kind.
func (s *Set) Empty() bool { return s == nil || len(s.packages) == 0 }

// Damaged reports whether a cached schema of the files has changed unexpectedly. Read reads the files again.
func (s *Set) Damaged() bool {
	return s != nil && slices.ContainsFunc(s.packages, (*schema.Package).Damaged)
}

// Loader returns a loader that adds the kinds to the package kubernetes of another loader. Without that package there
// are the kinds alone.
func (s *Set) Loader(l schema.Loader) schema.Loader {
	if known, again := l.(adding); s.Empty() || l == nil || again && known.set == s {
		return l
	}
	return adding{s, l}
}

type adding struct {
	set  *Set
	next schema.Loader
}

// Load loads a package of the other loader.
func (a adding) Load(ctx context.Context, d schema.Descriptor) (*schema.Package, error) {
	pkg, err := a.next.Load(ctx, d)
	if d.PackageName() != Package || ctx.Err() != nil {
		return pkg, err
	}
	return a.set.extend(pkg, err), nil
}

// extend returns a package with the kinds, always the same for the same package. base is nil if it is missing.
func (s *Set) extend(base *schema.Package, missing error) *schema.Package {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.joined[base]
	if known == nil || base == nil && known.Missing().Error() != missing.Error() {
		if s.joined == nil {
			s.joined = map[*schema.Package]*schema.Package{}
		}
		known = schema.Extended(base, missing, s.packages...)
		s.joined[base] = known
	}
	return known
}
