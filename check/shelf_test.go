package check_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/schema"
)

// shelf is a directory of gzipped package schemas. It reads each on first use.
type shelf struct {
	mu    sync.Mutex // guards books
	paths map[string]string
	books map[string]*book

	members map[string]*rawMember // results of raw
	wrong   map[string]string     // reasons why errors are correct, by schema and summary; each was examined by hand
}

type book struct {
	once sync.Once
	data []byte
	err  error
}

var versionSuffix = regexp.MustCompile(`-\d+\.\d+\.\d+.*$`)

func openShelf(dir string) (*shelf, error) {
	s := &shelf{paths: make(map[string]string), books: make(map[string]*book), members: make(map[string]*rawMember),
		wrong: make(map[string]string)}
	list, err := os.ReadFile("testdata/corpus/wrong.txt")
	if err != nil {
		return nil, err
	}
	for _, line := range strings.Split(string(list), "\n") {
		if fields := strings.Split(line, "\t"); len(fields) == 3 {
			s.wrong[fields[0]+"\t"+fields[1]] = fields[2]
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json.gz"))
	for _, path := range files {
		name := versionSuffix.ReplaceAllString(strings.TrimSuffix(filepath.Base(path), ".json.gz"), "")
		s.paths[name] = path
		s.books[name] = &book{}
	}
	return s, err
}

func (s *shelf) names() []string {
	var names []string
	for name := range s.paths {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func (s *shelf) text(name string) ([]byte, error) {
	s.mu.Lock()
	b := s.books[name]
	s.mu.Unlock()
	if b == nil {
		return nil, fmt.Errorf("package %s: %w", name, schema.ErrNotFound)
	}
	b.once.Do(func() {
		var f *os.File
		if f, b.err = os.Open(s.paths[name]); b.err != nil {
			return
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			b.err = err
			return
		}
		b.data, b.err = io.ReadAll(z)
	})
	return b.data, b.err
}

// loader loads packages from the shelf; file is the schema for the package of its own name.
func (s *shelf) loader(file string) schema.Loader {
	return schema.NewLoader(func(_ context.Context, d schema.Descriptor) ([]byte, error) {
		name := d.PackageName()
		if name == strings.TrimSuffix(file, "-full") {
			name = file
		}
		return s.text(name)
	})
}

// yamlBlocks returns the fenced YAML blocks of all descriptions in a schema's text, in order, each once. It searches
// for the fences and decodes only the strings around them.
func yamlBlocks(data []byte) []string {
	fence := []byte("```yaml")
	var blocks []string
	seen := make(map[string]bool)
	for pos := 0; ; {
		i := bytes.Index(data[pos:], fence)
		if i < 0 {
			return blocks
		}
		start, end := pos+i, pos+i
		for start > 0 && !(data[start] == '"' && !escaped(data, start)) {
			start--
		}
		for end < len(data) && !(data[end] == '"' && !escaped(data, end)) {
			end++
		}
		pos = end
		var text string
		if json.Unmarshal(data[start:min(end+1, len(data))], &text) != nil {
			continue
		}
		for _, part := range strings.Split(text, "```yaml")[1:] {
			block, _, closed := strings.Cut(part, "```")
			if _, rest, ok := strings.Cut(block, "\n"); ok && closed && !seen[rest] {
				seen[rest] = true
				blocks = append(blocks, rest)
			}
		}
	}
}

func escaped(data []byte, i int) bool {
	n := 0
	for i > 0 && data[i-1] == '\\' {
		i, n = i-1, n+1
	}
	return n%2 == 1
}

// rawMember is a resource or a function decoded by encoding/json.
type rawMember struct {
	InputProperties map[string]json.RawMessage
	RequiredInputs  []string
	Inputs          struct {
		Properties map[string]json.RawMessage
		Required   []string
	}
}

func (m *rawMember) needs(input string) bool {
	return slices.Contains(m.RequiredInputs, input) || slices.Contains(m.Inputs.Required, input)
}

func (m *rawMember) has(input string) bool {
	return m.InputProperties[input] != nil || m.Inputs.Properties[input] != nil
}

// raw finds a definition by searching the schema's text for its token.
func (s *shelf) raw(name, token string) *rawMember {
	key := name + " " + token
	if _, asked := s.members[key]; !asked {
		s.members[key] = s.search(name, token)
	}
	return s.members[key]
}

func (s *shelf) search(name, token string) *rawMember {
	data, err := s.text(name)
	parts := strings.Split(token, ":")
	if err != nil || len(parts) < 2 {
		return nil
	}
	module, last := "index", parts[len(parts)-1]
	if len(parts) == 3 {
		module = parts[1]
	}
	file := strings.ToLower(last[:1]) + last[1:]
	pkg := parts[0] + ":"
	for _, written := range []string{token, pkg + module + ":" + last, pkg + module + "/" + file + ":" + last} {
		for rest := data; ; {
			i := bytes.Index(rest, []byte(`"`+written+`"`))
			if i < 0 {
				break
			}
			rest = rest[i+len(written)+2:]
			value, isKey := bytes.CutPrefix(bytes.TrimLeft(rest, " \n"), []byte(":"))
			var m rawMember
			if isKey && json.NewDecoder(bytes.NewReader(value)).Decode(&m) == nil &&
				len(m.InputProperties)+len(m.Inputs.Properties)+len(m.RequiredInputs) > 0 {
				return &m
			}
		}
	}
	return nil
}
