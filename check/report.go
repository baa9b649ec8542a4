package check

import (
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/parallel"
	"github.com/yamlhost/yamlhost/schema"
)

// findings collects diagnostics. asked has the answers of near: what is asked once more gets the same.
type findings struct {
	sink  *diag.Diagnostics
	asked *parallel.Memo[suggestKey, []string, error]
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

// near returns the answer to a question; it calls find for a new question.
func (c *findings) near(key suggestKey, find func() []string) []string {
	near, _ := c.asked.Get(key, func() ([]string, error) { return find(), nil })
	return near
}

// suggest returns the candidates that name may have been meant to be. space tells apart the sets of candidates, and
// candidates is asked only once for each name.
func (c *findings) suggest(name, space string, candidates func() []string) []string {
	return c.near(suggestKey{name: name, space: space}, func() []string { return diag.Suggest(name, candidates()) })
}

// nearOrAll is a hint with the near names, or else with what there is: has stands before all names, and none is the
// hint where there are none.
func nearOrAll(near, names []string, has, none string) string {
	switch {
	case len(near) > 0:
		return didYouMean(near)
	case len(names) == 0:
		return none
	}
	return has + listed(names)
}

// warnOldSpelling warns of a name that is written with other capitals, or in an older way.
func (c *findings) warnOldSpelling(rng diag.Range, written, name string) {
	if name != written {
		c.report(diag.Diagnostic{Severity: diag.Warning, Code: diag.Capitalisation, Subject: rng,
			Summary: "write `" + written + "` as `" + name + "`", Fixes: writing(rng, written, name)})
	}
}

// spelling is a token as it is written, with the capitals of the canonical token. Other tools that compare tokens, such
// as policies, do not find one with other capitals (L7.1, L1.20).
func spelling(written, canonical string) string {
	have, want := strings.Split(written, ":"), strings.Split(canonical, ":")
	if len(have) < 2 || len(want) != 3 || !strings.EqualFold(have[len(have)-1], want[2]) {
		return written // by an older name, or of an unusual form
	}
	have[len(have)-1] = want[2]
	if len(have) == 3 {
		module := want[1]
		for _, form := range []string{module, module[:max(0, strings.LastIndexByte(module, '/'))]} {
			if strings.EqualFold(have[1], form) {
				have[1] = form
			}
		}
	}
	return strings.Join(have, ":")
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
