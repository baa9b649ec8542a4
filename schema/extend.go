package schema

import (
	"slices"
	"sync"
)

// Extended returns base with the definitions of the additions, which are of the same package: where several define a
// token, base and then the earlier addition counts. References in an addition may name definitions of base. A base that
// could not be loaded is nil, and missing says why: the package then has the additions alone.
func Extended(base *Package, missing error, additions ...*Package) *Package {
	all := additions
	if base != nil {
		all = append([]*Package{base}, additions...)
	}
	first := all[0]
	joined := func(part func(p *Package) section) section {
		sections := make([]section, len(all))
		for i, p := range all {
			sections[i] = part(p)
		}
		return &joinedSection{parts: sections}
	}
	p := newPackage(joined(func(p *Package) section { return p.types }),
		joined(func(p *Package) section { return p.resources }), joined(func(p *Package) section { return p.functions }))
	p.Name, p.Version, p.Description, p.DownloadURL = first.Name, first.Version, first.Description, first.DownloadURL
	p.AllowedPackageNames, p.moduleFormat = first.AllowedPackageNames, first.moduleFormat
	p.provider, p.config, p.alias, p.missing = first.provider, first.config, first.alias, missing
	return p
}

// Missing returns why the package has nothing but what was added to it; nil for a whole package.
func (p *Package) Missing() error { return p.missing }

// Added reports whether a resource is of an addition, and not of the package itself.
func (p *Package) Added(token string) bool {
	joined, ok := p.resources.(*joinedSection)
	return ok && (p.missing != nil || !joined.parts[0].has(token))
}

// joinedSection looks in several sections, of which the first that has something counts.
type joinedSection struct {
	parts []section

	once   sync.Once
	tokens []string
}

var _ section = (*joinedSection)(nil)

func (s *joinedSection) has(token string) bool {
	return slices.ContainsFunc(s.parts, func(part section) bool { return part.has(token) })
}

func (s *joinedSection) get(token string) ([]byte, bool, error) {
	for _, part := range s.parts {
		if raw, known, err := part.get(token); known || err != nil {
			return raw, known, err
		}
	}
	return nil, false, nil
}

func (s *joinedSection) list() []string {
	s.once.Do(func() {
		seen := make(map[string]bool)
		for _, part := range s.parts {
			for _, token := range part.list() {
				if !seen[token] {
					seen[token] = true
					s.tokens = append(s.tokens, token)
				}
			}
		}
	})
	return s.tokens
}

func (s *joinedSection) fold(lower string) (string, bool) {
	for _, part := range s.parts {
		if token, ok := part.fold(lower); ok {
			return token, true
		}
	}
	return "", false
}

func (s *joinedSection) byModule(key string) (string, bool) {
	for _, part := range s.parts {
		if token, ok := part.byModule(key); ok {
			return token, true
		}
	}
	return "", false
}
