package engine

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value/urn"
)

// scope is what an operation is confined to by targets and excludes (4.13). The fields actual and left grow with the
// operation, under the deployment's mutex.
type scope struct {
	targets, excludes, replaces patterns
	targetDependents            bool
	excludeDependents           bool

	actual map[urn.URN]bool // in scope, because targeted or because they depend on something that is (E4.99)
	left   map[urn.URN]bool // out of scope, because excluded or because they depend on something that is (E4.106)
	// skipped are resources that would have been created, were they not out of scope (E4.29).
	skipped map[urn.URN]bool
	// dependents are the targets, and what the state says to depend on them, where those are in scope too.
	dependents map[urn.URN]bool
}

// newScope reads the options. Protected resources of the base are excluded where that is asked for (E4.78).
func newScope(o *Options) (*scope, error) {
	s := &scope{targetDependents: o.TargetDependents, excludeDependents: o.ExcludeDependents,
		actual: map[urn.URN]bool{}, left: map[urn.URN]bool{}, skipped: map[urn.URN]bool{}}
	excludes := o.Excludes
	if o.ExcludeProtected && o.Base != nil {
		excludes = slices.Clone(excludes)
		for _, r := range o.Base.Resources {
			if r.Protect {
				excludes = append(excludes, string(r.URN))
			}
		}
	}
	for _, list := range []struct {
		texts []string
		to    *patterns
	}{{o.Targets, &s.targets}, {excludes, &s.excludes}, {o.Replace, &s.replaces}} {
		var err error
		if *list.to, err = newPatterns(list.texts); err != nil {
			return nil, err
		}
	}
	if s.targetDependents && o.Base != nil {
		s.dependents = closure(o.Base.Resources, s.targets.match, true)
	}
	return s, nil
}

// restricts reports whether anything is out of scope at all.
func (s *scope) restricts() bool { return !s.targets.empty() || !s.excludes.empty() }

// names reports whether one of the URNs is among what the user named to be in scope, or, with excludes only, is not among
// what the user named to be out of it (E4.107).
func (s *scope) names(urns ...urn.URN) bool {
	if !s.targets.empty() {
		return slices.ContainsFunc(urns, s.targets.match)
	}
	return !slices.ContainsFunc(urns, s.excludes.match)
}

// admits decides whether a resource that is registered is in scope (E4.99–E4.101, E4.106). known are its URN and, if it had
// another, the one before. The caller holds the deployment's mutex.
func (s *scope) admits(r *state.Resource, known ...urn.URN) bool {
	if !s.restricts() {
		return true
	}
	in := s.names(known...)
	switch {
	case !s.targets.empty() && !in && s.targetDependents:
		in = dependsOnAny(r, s.actual) || slices.ContainsFunc(known, func(u urn.URN) bool { return s.dependents[u] })
	case s.targets.empty() && in && s.excludeDependents:
		in = !dependsOnAny(r, s.left)
	}
	if in {
		s.actual[r.URN] = true
	} else {
		s.left[r.URN] = true
	}
	return in || r.IsProvider() || r.Type == urn.RootStackType
}

// refreshes says which of the resources, given in the order of the state, a refresh without a program reads (E7.25).
func (s *scope) refreshes(resources []*state.Resource) func(*state.Resource) bool {
	if !s.restricts() {
		return func(*state.Resource) bool { return true }
	}
	chosen := map[urn.URN]bool{}
	for _, r := range resources {
		if !s.targets.empty() {
			chosen[r.URN] = chosen[r.URN] || s.names(r.URN) || s.targetDependents && dependsOnAny(r, chosen)
		} else if !s.names(r.URN) || s.excludeDependents && dependsOnAny(r, s.left) {
			s.left[r.URN] = true
		}
	}
	if s.targets.empty() {
		return func(r *state.Resource) bool { return !s.left[r.URN] }
	}
	return func(r *state.Resource) bool { return chosen[r.URN] }
}

// deletes says which of the resources, given in the order of the state, may be deleted: with targets, those and everything
// that depends on them; with excludes, everything but those and what they need (E4.105, E4.106).
func (s *scope) deletes(resources []*state.Resource) func(*state.Resource) bool {
	switch {
	case !s.restricts():
		return func(*state.Resource) bool { return true }
	case !s.targets.empty():
		condemned := closure(resources, s.targets.match, true)
		return func(r *state.Resource) bool { return condemned[r.URN] }
	}
	excluded, keep := closure(resources, s.excludes.match, s.excludeDependents), newNeeded(resources)
	for _, r := range resources {
		if excluded[r.URN] {
			keep.add(r)
		}
	}
	return func(r *state.Resource) bool { return !excluded[r.URN] && !keep.kept[r.URN] }
}

// closure are the URNs that match and, if asked for, those of everything that depends on them. Where a replacement has left
// something to be deleted, there are several resources of one URN: what one of them is, all are, so that what stands in
// between is looked at again.
func closure(resources []*state.Resource, match func(urn.URN) bool, dependents bool) map[urn.URN]bool {
	in := map[urn.URN]bool{}
	for more := true; more; {
		more = false
		for _, r := range resources {
			if !in[r.URN] && (match(r.URN) || dependents && dependsOnAny(r, in)) {
				in[r.URN], more = true, dependents
			}
		}
	}
	return in
}

func dependsOnAny(r *state.Resource, set map[urn.URN]bool) bool {
	found := false
	r.AllDependencies(func(u urn.URN) { found = found || set[u] })
	return found
}

// missing are the exact URNs of a list that are nowhere.
func (p patterns) missing(present func(urn.URN) bool) []urn.URN {
	return slices.DeleteFunc(slices.Clone(p.exact), present)
}

// patterns are URNs and globs of URNs: * stands for any run without a colon, ** for anything (E4.98).
type patterns struct {
	exact []urn.URN
	set   map[urn.URN]bool
	globs []*regexp.Regexp
}

func newPatterns(texts []string) (patterns, error) {
	p := patterns{set: map[urn.URN]bool{}}
	for _, text := range texts {
		if !strings.Contains(text, "*") {
			u, err := urn.Parse(text)
			if err != nil {
				return p, fmt.Errorf("%q is neither a URN nor a pattern with * or **; `stack --show-urns` lists the URNs of the stack", text)
			}
			if !p.set[u] {
				p.set[u] = true
				p.exact = append(p.exact, u)
			}
			continue
		}
		var b strings.Builder
		b.WriteString(`\A(?s:`)
		for i, part := range strings.Split(text, "**") {
			if i > 0 {
				b.WriteString(".*")
			}
			for j, piece := range strings.Split(part, "*") {
				if j > 0 {
					b.WriteString("[^:]*")
				}
				b.WriteString(regexp.QuoteMeta(piece))
			}
		}
		b.WriteString(`)\z`)
		glob, err := regexp.Compile(b.String())
		if err != nil {
			return p, fmt.Errorf("%q is not a pattern of URNs", text)
		}
		p.globs = append(p.globs, glob)
	}
	return p, nil
}

func (p patterns) empty() bool { return len(p.exact)+len(p.globs) == 0 }

func (p patterns) match(u urn.URN) bool {
	return p.set[u] || slices.ContainsFunc(p.globs, func(g *regexp.Regexp) bool { return g.MatchString(string(u)) })
}

// requirePresent is the error for targets and excludes that the state does not have, for operations that know everything
// there is from the state (E4.103).
func (s *scope) requirePresent(olds *olds) error {
	for _, u := range slices.Concat(s.targets.exact, s.excludes.exact) {
		if olds.byURN[u] == nil && !slices.ContainsFunc(olds.entries, func(e *entry) bool { return e.resource.URN == u }) {
			return fmt.Errorf("no resource named '%s' found%s", u, nearest(u, olds))
		}
	}
	return nil
}

// nearest is a hint at the URN that was perhaps meant.
func nearest(u urn.URN, olds *olds) string {
	names := make([]string, len(olds.entries))
	for i, e := range olds.entries {
		names[i] = string(e.resource.URN)
	}
	if near := diag.Suggest(string(u), names); len(near) > 0 {
		return fmt.Sprintf("; did you mean '%s'?", near[0])
	}
	return ""
}

// checkTargets reports exact targets that are nowhere, which ends the operation (E4.103).
func (d *Deployment) checkTargets(p patterns) error {
	d.mu.Lock()
	missing := p.missing(func(u urn.URN) bool { return d.resources[u] != nil || d.olds.byURN[u] != nil || d.renamed[u] != "" })
	d.mu.Unlock()
	if len(missing) == 0 {
		return nil
	}
	for _, u := range missing {
		text := fmt.Sprintf("Target '%s' could not be found in the stack.", u)
		if !strings.Contains(string(u), "$") {
			text += " Did you forget to escape $ in your shell?"
		}
		d.report.message(Message{Severity: diag.Error, Code: diag.OperationFailed, Text: text + nearest(u, d.olds)})
	}
	return d.bail()
}
