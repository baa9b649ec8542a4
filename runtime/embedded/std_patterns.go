package embedded

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/yamlhost/yamlhost/internal/functions"
	"github.com/yamlhost/yamlhost/internal/value"
)

// stdPatterns are functions with regular expressions in RE2 syntax.
func stdPatterns() map[string]formula {
	return map[string]formula{
		"regex": func(args value.Value) (value.Value, error) {
			pattern, err := compile(lookupString(args, "pattern"))
			if err != nil {
				return value.Null, err
			}
			text := lookupString(args, "string")
			match := pattern.FindStringSubmatchIndex(text)
			if match == nil {
				return value.Null, errors.New("the pattern matches nowhere in the string")
			}
			return pattern.Match(text, match, value.String("")), nil
		},
		"regexall": func(args value.Value) (value.Value, error) {
			pattern, err := compile(lookupString(args, "pattern"))
			if err != nil {
				return value.Null, err
			}
			text := lookupString(args, "string")
			var list []value.Value
			for _, match := range pattern.FindAllStringSubmatchIndex(text, -1) {
				list = append(list, pattern.Match(text, match, value.String("")))
			}
			return value.List(list...), nil
		},
		// A search between slashes is a regular expression. The replacement may refer to its groups as $1 or ${name}.
		"replace": func(args value.Value) (value.Value, error) {
			text, search, replacement := lookupString(args, "text"), lookupString(args, "search"), lookupString(args, "replace")
			if len(search) < 2 || !strings.HasPrefix(search, "/") || !strings.HasSuffix(search, "/") {
				return value.String(strings.ReplaceAll(text, search, replacement)), nil
			}
			pattern, err := regexp.Compile(search[1 : len(search)-1])
			if err != nil {
				return value.Null, fmt.Errorf("search is not a regular expression: %w", err)
			}
			return value.String(pattern.ReplaceAllString(text, replacement)), nil
		},
	}
}

func compile(text string) (*functions.Pattern, error) {
	pattern, err := functions.CompilePattern(text)
	switch {
	case errors.Is(err, functions.ErrGroups):
		return nil, errors.New("pattern has groups with names and groups without: give all of them a name, or none")
	case err != nil:
		return nil, fmt.Errorf("pattern is not a regular expression: %w", err)
	}
	return pattern, nil
}
