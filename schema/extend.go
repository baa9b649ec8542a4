package schema

// Extended returns base with the definitions of the additions, which are of the same package: where several define a
// token, base and then the earlier addition counts. References in an addition may name definitions of base. A base that
// could not be loaded is nil, and missing says why: the package then has the additions alone.
func Extended(base *Package, missing error, additions ...*Package) *Package {
	all := additions
	if base != nil {
		all = append([]*Package{base}, additions...)
	}
	first := all[0]
	p := &Package{Name: first.Name, Version: first.Version, Description: first.Description,
		DownloadURL: first.DownloadURL, AllowedPackageNames: first.AllowedPackageNames,
		provider: first.provider, config: first.config, aliases: first.aliases, base: base, missing: missing}
	var types, resources, functions []*indexedSection
	for _, part := range all {
		types = append(types, part.types.parts...)
		resources = append(resources, part.resources.parts...)
		functions = append(functions, part.functions.parts...)
	}
	p.types, p.resources, p.functions = newSection(types...), newSection(resources...), newSection(functions...)
	return p
}

// Missing returns why the package has nothing but what was added to it; nil for a whole package.
func (p *Package) Missing() error { return p.missing }

// Added reports whether a resource is of an addition, and not of the package itself.
func (p *Package) Added(token string) bool {
	return p.missing != nil || p.base != nil && !p.base.resources.has(token)
}
