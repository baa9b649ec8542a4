package embedded

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/yamlhost/yamlhost/value"
)

// stdPatterns are functions of regular expressions, in the syntax of RE2.
func stdPatterns() map[string]formula {
	return map[string]formula{
		"regex": func(args value.Value) (value.Value, error) {
			pattern, err := compile(textArg(args, "pattern"))
			if err != nil {
				return value.Null, err
			}
			match := pattern.FindStringSubmatch(textArg(args, "string"))
			if match == nil {
				return value.Null, errors.New("the pattern matches nowhere in the string")
			}
			return captures(pattern, match), nil
		},
		"regexall": func(args value.Value) (value.Value, error) {
			pattern, err := compile(textArg(args, "pattern"))
			if err != nil {
				return value.Null, err
			}
			var list []value.Value
			for _, match := range pattern.FindAllStringSubmatch(textArg(args, "string"), -1) {
				list = append(list, captures(pattern, match))
			}
			return value.List(list...), nil
		},
		// A search between slashes is a pattern, whose groups the replacement may name as $1 or ${name}.
		"replace": func(args value.Value) (value.Value, error) {
			text, search, by := textArg(args, "text"), textArg(args, "search"), textArg(args, "replace")
			if len(search) < 2 || !strings.HasPrefix(search, "/") || !strings.HasSuffix(search, "/") {
				return value.String(strings.ReplaceAll(text, search, by)), nil
			}
			pattern, err := regexp.Compile(search[1 : len(search)-1])
			if err != nil {
				return value.Null, fmt.Errorf("search is no regular expression: %w", err)
			}
			return value.String(pattern.ReplaceAllString(text, by)), nil
		},
	}
}

// compile reads a pattern whose groups have all names or none.
func compile(text string) (*regexp.Regexp, error) {
	pattern, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("pattern is no regular expression: %w", err)
	}
	named := 0
	for _, name := range pattern.SubexpNames() {
		if name != "" {
			named++
		}
	}
	if named > 0 && named < pattern.NumSubexp() {
		return nil, errors.New("pattern has groups with names and groups without: give all of them a name, or none")
	}
	return pattern, nil
}

// captures are a match's groups, by name or in order; without groups, all that was matched.
func captures(pattern *regexp.Regexp, match []string) value.Value {
	names := pattern.SubexpNames()
	switch {
	case len(match) == 1:
		return value.String(match[0])
	case names[1] == "":
		return textList(match[1:])
	}
	groups := value.EmptyMap()
	for i, text := range match[1:] {
		groups = groups.With(names[i+1], value.String(text))
	}
	return groups
}
