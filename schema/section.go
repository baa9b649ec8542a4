package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// section looks up the definitions of one kind by token, in one index or in several; the first index that has the
// token wins. It is safe for concurrent use.
type section struct {
	parts []*indexedSection
	// list returns all tokens in schema order, each once, which the caller must not modify.
	list func() []string
}

func newSection(parts ...*indexedSection) section {
	if len(parts) == 1 {
		return section{parts: parts, list: parts[0].tokens}
	}
	return section{parts: parts, list: sync.OnceValue(func() (all []string) {
		seen := make(map[string]bool)
		for _, part := range parts {
			for _, token := range part.tokens() {
				if !seen[token] {
					seen[token] = true
					all = append(all, token)
				}
			}
		}
		return all
	})}
}

// has reports whether there is a definition of exactly that token.
func (s section) has(token string) bool {
	return slices.ContainsFunc(s.parts, func(part *indexedSection) bool {
		_, found := part.table.exact(token)
		return found
	})
}

// definition returns the text of a definition. The error wraps ErrNoSuchToken if there is none.
func (s section) definition(token string) ([]byte, error) {
	for _, part := range s.parts {
		if r, found := part.table.exact(token); found {
			raw, err := part.read(r)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", token, err)
			}
			return raw, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", token, ErrNoSuchToken)
}

// fold finds a token by its text in lower case, the first in schema order where several differ in case only.
func (s section) fold(lower string) (string, bool) {
	for _, part := range s.parts {
		if i, found := part.table.find(lower); found {
			return part.table.at(i).text, true
		}
	}
	return "", false
}

// byModule finds a token by package:module:name in lower case, where the package's module format gives the module
// (step 5 of L7.1).
func (s section) byModule(key string) (string, bool) {
	for _, part := range s.parts {
		if i, found := part.modules.find(key); found {
			if token, ok := part.token(part.modules.at(i)); ok {
				return token, true
			}
		}
	}
	return "", false
}

// resolve is L7.1: the first of its steps that hits.
func resolve(s section, written string) (string, bool) {
	if s.has(written) {
		return written, true
	}
	parts := strings.Split(written, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return "", false
	}
	if token, ok := s.fold(strings.ToLower(written)); ok {
		return token, true
	}
	pkg, module, name := parts[0], "index", parts[len(parts)-1]
	if len(parts) == 3 {
		module = parts[1]
	} else if token := pkg + ":index:" + name; s.has(token) {
		return token, true
	} else if token, ok := s.fold(strings.ToLower(token)); ok {
		return token, true
	}
	name = strings.ToLower(name)
	pkg, module = strings.ToLower(pkg), strings.ToLower(module)
	if token, ok := s.fold(pkg + ":" + module + "/" + name + ":" + name); ok {
		return token, true
	}
	return s.byModule(pkg + ":" + module + ":" + name)
}

// moduleKey returns the key of a token for byModule; ok is false for a token without three parts.
func moduleKey(token string, format *regexp.Regexp) (key string, ok bool) {
	parts := strings.SplitN(token, ":", 3)
	if len(parts) != 3 {
		return "", false
	}
	module := parts[1]
	if match := format.FindStringSubmatch(module); len(match) >= 2 {
		module = match[1]
	}
	if module == "" {
		module = "index"
	}
	return strings.ToLower(parts[0] + ":" + module + ":" + parts[2]), true
}
