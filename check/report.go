package check

import (
	"fmt"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/schema"
)

// findings collects diagnostics.
type findings struct {
	sink  *diag.Diagnostics
	asked *suggestions
}

// suggestions are the answers of suggest: what is asked once more gets the same. They are safe for concurrent use.
type suggestions struct {
	mu   sync.Mutex
	near map[suggestKey][]string
}

// get returns the answer to a question; it calls find for a new question.
func (s *suggestions) get(key suggestKey, find func() []string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	near, known := s.near[key]
	if !known {
		near = find()
		s.near[key] = near
	}
	return near
}

func newFindings() *findings {
	return &findings{sink: new(diag.Diagnostics), asked: &suggestions{near: make(map[suggestKey][]string)}}
}

func (c *findings) report(d diag.Diagnostic) { c.sink.Add(d) }

func (c *findings) errorf(code diag.Code, rng diag.Range, detail, format string, a ...any) {
	c.report(diag.Diagnostic{Code: code, Subject: rng, Summary: fmt.Sprintf(format, a...), Detail: detail})
}

func (c *findings) warnf(code diag.Code, rng diag.Range, detail, format string, a ...any) {
	c.report(diag.Diagnostic{Severity: diag.Warning, Code: code, Subject: rng, Summary: fmt.Sprintf(format, a...),
		Detail: detail})
}

// extension notes something that only yamlhost understands (D6).
func (c *findings) extension(rng diag.Range, what string) {
	c.report(diag.Diagnostic{Severity: diag.Portability, Code: diag.YamlhostOnly, Subject: rng,
		Summary: what + " needs yamlhost", Detail: "other hosts of Pulumi YAML do not understand this"})
}

// attempt runs fn and answers with what it would have reported.
func (c *findings) attempt(fn func()) diag.Diagnostics {
	outer := c.sink
	defer func() { c.sink = outer }()
	c.sink = new(diag.Diagnostics)
	fn()
	return *c.sink
}

// suggestKey is one question to diag.Suggest; a program that makes the same mistake many times asks it once.
type suggestKey struct {
	name, space string
	of          *schema.Package // nil for what no package has
}

// suggest is the sentence that names what name may have been meant to be; empty when nothing is near. space tells apart
// the sets of candidates, and candidates is asked only once for each name.
func (c *findings) suggest(name, space string, candidates func() []string) []string {
	return c.asked.get(suggestKey{name: name, space: space}, func() []string { return diag.Suggest(name, candidates()) })
}

func didYouMean(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return "did you mean " + orList(near) + "?"
}

// rename is the fix that writes the one near name that is surely meant; none where several may be, or where the text at
// the range is not the name as it stands.
func rename(rng diag.Range, wrong string, near []string) []diag.Fix {
	return writing(rng, wrong, diag.Meant(wrong, near))
}

// writing is the fix that writes one name for another; none for an empty one.
func writing(rng diag.Range, wrong, meant string) []diag.Fix {
	rng, written := rng.Word(wrong)
	if meant == "" || !written || !plain(meant) {
		return nil
	}
	return []diag.Fix{{Label: "Write " + quote(meant), Edits: []diag.Edit{{Range: rng, Text: meant}}}}
}

// plain reports whether a name can stand in YAML as it is, whatever is around it.
func plain(name string) bool {
	for i, r := range name {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r != '-' && r != ':' && r != '/' && r != '.' && (r < '0' || r > '9')) {
			return false
		}
	}
	switch strings.ToLower(name) {
	case "", "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return false
	}
	return !strings.HasSuffix(name, ":")
}

// orList is a, b or c, each quoted.
func orList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quote(name)
	}
	if n := len(quoted); n > 1 {
		return strings.Join(quoted[:n-1], ", ") + " or " + quoted[n-1]
	}
	return strings.Join(quoted, "")
}

// listed is at most five names and how many more there are.
func listed(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// sentences joins those parts that are not empty.
func sentences(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "\n")
}

// shown is a text short enough for a headline, quoted.
func shown(text string) string {
	return quote(diag.Shorten(text, 40))
}

// quote marks text of the program in a message.
func quote(text string) string { return "`" + text + "`" }
