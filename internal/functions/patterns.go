package functions

import (
	"errors"
	"regexp"
	"slices"

	"github.com/yamlhost/yamlhost/internal/value"
)

// ErrGroups is returned for a regular expression that has both named and unnamed groups.
var ErrGroups = errors.New("some groups have names, others have none")

// Pattern is a regular expression in RE2 syntax whose groups are either all named or all unnamed. It is safe for
// concurrent use.
type Pattern struct {
	*regexp.Regexp
	names []string // names of the groups; empty for unnamed ones
}

// CompilePattern parses a regular expression. It returns ErrGroups, or the error of package regexp.
func CompilePattern(text string) (*Pattern, error) {
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	p := &Pattern{re, re.SubexpNames()[1:]}
	if slices.Contains(p.names, "") && slices.ContainsFunc(p.names, func(name string) bool { return name != "" }) {
		return nil, ErrGroups
	}
	return p, nil
}

// Match returns the value of a match: the matched text if the pattern has no groups, a map of the groups if they are
// named, and a list of them otherwise. A group that did not participate in the match has the value absent. loc holds
// positions as returned by FindStringSubmatchIndex.
func (p *Pattern) Match(text string, loc []int, absent value.Value) value.Value {
	group := func(i int) value.Value {
		if loc[2*i] < 0 {
			return absent
		}
		return value.String(text[loc[2*i]:loc[2*i+1]])
	}
	if len(p.names) == 0 {
		return group(0)
	}
	groups := make([]value.Value, len(p.names))
	for i := range groups {
		groups[i] = group(i + 1)
	}
	if p.names[0] == "" {
		return value.List(groups...)
	}
	return Zip(p.names, groups)
}
