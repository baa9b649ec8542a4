package schema

import (
	"regexp"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/internal/jsontext"
)

// section is where the definitions of one kind are found by their tokens: in the text of a schema that has been read,
// or by an index in a file. Implementations are safe for concurrent use.
type section interface {
	// has reports whether there is a definition of exactly that token.
	has(token string) bool
	// get returns the definition's text; known is false where there is none. The error comes from reading a file.
	get(token string) (raw []byte, known bool, err error)
	// list is all tokens in schema order, which the caller must not modify.
	list() []string
	// fold finds a token by its text in lower case, the first in schema order where several differ in case only.
	fold(lower string) (token string, ok bool)
	// byModule finds a token by package:module:name in lower case, where the package's module format gives the module
	// (step 5 of L7.1).
	byModule(key string) (token string, ok bool)
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

// textSection is a section of a text that is in memory.
type textSection struct {
	raw    map[string][]byte
	tokens []string       // in schema order
	format *regexp.Regexp // of modules; nil for the default. Set before use.

	once    sync.Once
	folded  map[string]string // token in lower case to token
	modules map[string]string // key of byModule to token
}

var _ section = (*textSection)(nil)

// read indexes the text of the section.
func (s *textSection) read(raw []byte) error {
	s.raw, s.tokens = make(map[string][]byte), nil
	return jsontext.EachMember(raw, func(token string, raw []byte) error {
		if _, twice := s.raw[token]; !twice {
			s.tokens = append(s.tokens, token)
		}
		s.raw[token] = raw
		return nil
	})
}

func (s *textSection) has(token string) bool {
	_, known := s.raw[token]
	return known
}

func (s *textSection) get(token string) ([]byte, bool, error) {
	raw, known := s.raw[token]
	return raw, known, nil
}

func (s *textSection) list() []string { return s.tokens }

func (s *textSection) fold(lower string) (string, bool) {
	s.fill()
	token, ok := s.folded[lower]
	return token, ok
}

func (s *textSection) byModule(key string) (string, bool) {
	s.fill()
	token, ok := s.modules[key]
	return token, ok
}

func (s *textSection) fill() {
	s.once.Do(func() {
		s.folded = make(map[string]string, len(s.tokens))
		if s.format != nil {
			s.modules = make(map[string]string, len(s.tokens))
		}
		for _, token := range s.tokens {
			lower := strings.ToLower(token)
			if _, ok := s.folded[lower]; !ok {
				s.folded[lower] = token
			}
			if s.format == nil {
				continue
			}
			if key, ok := moduleKey(token, s.format); ok {
				if _, taken := s.modules[key]; !taken {
					s.modules[key] = token
				}
			}
		}
	})
}
