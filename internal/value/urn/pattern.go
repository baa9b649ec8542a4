package urn

import (
	"fmt"
	"regexp"
	"strings"
)

// Pattern selects resources by a URN, by a name, or by a URN in which * stands for any text without a colon and ** for
// any text (E4.98). Commands take it wherever a user names a resource.
type Pattern struct {
	Text string         // as it was written
	form *regexp.Regexp // nil for a URN or a name
}

// ParsePattern parses a pattern. It returns an error for an empty text and for what begins like a URN and is none.
func ParsePattern(text string) (Pattern, error) {
	if !strings.Contains(text, "*") {
		var err error
		if text == "" {
			err = fmt.Errorf("an empty text names no resource; `yamlhost stack --show-urns` lists the URNs of the stack")
		} else if strings.HasPrefix(text, "urn:") {
			_, err = Parse(text)
		}
		return Pattern{Text: text}, err
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
	form, err := regexp.Compile(b.String())
	if err != nil {
		return Pattern{}, fmt.Errorf("%q is not a pattern of URNs", text)
	}
	return Pattern{text, form}, nil
}

// Exact returns the URN that the pattern is; empty if it is none.
func (p Pattern) Exact() URN {
	if p.form == nil && URN(p.Text).Valid() {
		return URN(p.Text)
	}
	return ""
}

// Glob reports whether the pattern may mean several resources.
func (p Pattern) Glob() bool { return p.form != nil }

// Match reports whether the pattern selects a URN.
func (p Pattern) Match(u URN) bool {
	switch {
	case p.form != nil:
		return p.form.MatchString(string(u))
	case p.Exact() != "":
		return string(u) == p.Text
	}
	return u.Name() == p.Text
}

// Select returns the URNs among all, which may repeat, that the pattern selects, in their order. A name must be that of
// one resource. It returns no error if the pattern selects none.
func (p Pattern) Select(all []URN) ([]URN, error) {
	var found []URN
	seen := map[URN]bool{}
	for _, u := range all {
		if p.Match(u) && !seen[u] {
			seen[u] = true
			found = append(found, u)
		}
	}
	if len(found) > 1 && !p.Glob() {
		text := fmt.Sprintf("%d resources are named %q; name one by its URN:", len(found), p.Text)
		for _, u := range found {
			text += "\n  " + string(u)
		}
		return nil, fmt.Errorf("%s", text)
	}
	return found, nil
}
