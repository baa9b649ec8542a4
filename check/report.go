package check

import (
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/parallel"
	"github.com/yamlhost/yamlhost/schema"
)

// findings collects diagnostics. asked memoizes near.
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

// extension records the use of a feature that only yamlhost has (D6).
func (c *findings) extension(rng diag.Range, what string) {
	c.report(diag.Diagnostic{Severity: diag.Portability, Code: diag.YamlhostOnly, Subject: rng,
		Summary: what + " needs yamlhost", Detail: "other hosts of Pulumi YAML do not understand this"})
}

// attempt runs fn and returns its findings without reporting them.
func (c *findings) attempt(fn func()) diag.Diagnostics {
	outer := c.sink
	defer func() { c.sink = outer }()
	c.sink = new(diag.Diagnostics)
	fn()
	return *c.sink
}

// suggestKey identifies a call of diag.Suggest, which is memoized for programs that repeat a mistake.
type suggestKey struct {
	name, space string
	of          *schema.Package // nil outside of packages
}

// near returns the memoized suggestions for a key; it calls find for a new key.
func (c *findings) near(key suggestKey, find func() []string) []string {
	near, _ := c.asked.Get(key, func() ([]string, error) { return find(), nil })
	return near
}

// suggest returns the candidates that name may mean. space identifies the set of candidates; candidates is called once
// for each name.
func (c *findings) suggest(name, space string, candidates func() []string) []string {
	return c.near(suggestKey{name: name, space: space}, func() []string { return diag.Suggest(name, candidates()) })
}

// nearOrAll returns a hint with the near names, or else with all names after the word has, or else none.
func nearOrAll(near, names []string, has, none string) string {
	switch {
	case len(near) > 0:
		return didYouMean(near)
	case len(names) == 0:
		return none
	}
	return has + listed(names)
}

// warnOldSpelling warns of a name with other capitals or in an old form.
func (c *findings) warnOldSpelling(rng diag.Range, written, name string) {
	if name != written {
		c.report(diag.Diagnostic{Severity: diag.Warning, Code: diag.Capitalisation, Subject: rng,
			Summary: "write `" + written + "` as `" + name + "`", Fixes: writing(rng, written, name)})
	}
}

// spelling returns a token as written, with the capitals of the canonical token. Other tools that compare tokens, such
// as policies, distinguish capitals (L7.1, L1.20).
func spelling(written, canonical string) string {
	have, want := strings.Split(written, ":"), strings.Split(canonical, ":")
	if len(have) < 2 || len(want) != 3 || !strings.EqualFold(have[len(have)-1], want[2]) {
		return written // an old name, or an unusual form
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

// rename returns the fix that writes the only near name; none if there are several, or if the text at the range is not
// the name itself.
func rename(rng diag.Range, wrong string, near []string) []diag.Fix {
	return writing(rng, wrong, diag.Meant(wrong, near))
}

// writing returns the fix that replaces a name; none if meant is empty.
func writing(rng diag.Range, wrong, meant string) []diag.Fix {
	rng, written := rng.Word(wrong)
	if meant == "" || !written || !plain(meant) {
		return nil
	}
	return []diag.Fix{{Label: "Write " + quote(meant), Edits: []diag.Edit{{Range: rng, Text: meant}}}}
}

// plain reports whether a name needs no quotes anywhere in YAML.
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

// orList returns the names as "a, b or c", each quoted.
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

// listed returns at most five names and the number of the others.
func listed(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// sentences joins the parts that are not empty.
func sentences(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "\n")
}

// shown returns a text, quoted and shortened for a headline.
func shown(text string) string {
	return quote(diag.Shorten(text, 40))
}

// quote marks text of the program in a message.
func quote(text string) string { return "`" + text + "`" }
