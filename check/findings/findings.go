// Package findings collects what a check finds, and holds the words of its messages.
package findings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/parallel"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Reporter collects the findings about one declaration, or about the program as a whole. A pass receives it as an
// argument. One goroutine uses it at a time. A declaration has its own, because several are checked at the same time
// and each outcome is kept with its findings. The memo is the only part that goroutines share, and locks itself.
type Reporter struct {
	list  diag.Diagnostics
	asked *parallel.Memo[Question, []string, error] // shared by all reporters of a check
}

// NewReporter returns the reporter of a check, for findings about the program as a whole.
func NewReporter() *Reporter {
	return &Reporter{asked: new(parallel.Memo[Question, []string, error])}
}

// Fork returns a reporter with a list of its own.
func (r *Reporter) Fork() *Reporter { return &Reporter{asked: r.asked} }

// All returns what has been reported.
func (r *Reporter) All() diag.Diagnostics { return r.list }

// Take returns what has been reported, and begins anew.
func (r *Reporter) Take() diag.Diagnostics {
	taken := r.list
	r.list = nil
	return taken
}

// Add reports findings.
func (r *Reporter) Add(ds ...diag.Diagnostic) { r.list.Add(ds...) }

// Errorf reports an error. detail is the way out.
func (r *Reporter) Errorf(code diag.Code, rng diag.Range, detail, format string, a ...any) {
	r.Add(diag.Diagnostic{Code: code, Subject: rng, Summary: fmt.Sprintf(format, a...), Detail: detail})
}

// Warnf reports a warning.
func (r *Reporter) Warnf(code diag.Code, rng diag.Range, detail, format string, a ...any) {
	r.Add(diag.Diagnostic{Severity: diag.Warning, Code: code, Subject: rng, Summary: fmt.Sprintf(format, a...),
		Detail: detail})
}

// Extension records the use of a feature that only yamlhost has (D6).
func (r *Reporter) Extension(rng diag.Range, what string) {
	r.Add(diag.Diagnostic{Severity: diag.Portability, Code: diag.YamlhostOnly, Subject: rng,
		Summary: what + " needs yamlhost", Detail: "other hosts of Pulumi YAML do not understand this"})
}

// Attempt runs fn and returns its findings without reporting them. Calls may be nested.
func (r *Reporter) Attempt(fn func()) diag.Diagnostics {
	outer := r.Take()
	// Deferred, so that a panic of fn leaves the findings of the caller in place.
	defer func() { r.list = outer }()
	fn()
	return r.Take()
}

// Tolerating runs fn and drops the errors with some codes that it reports. Only errors are dropped: a warning is as
// true in a branch as elsewhere.
func (r *Reporter) Tolerating(codes []diag.Code, fn func()) {
	if len(codes) == 0 {
		fn()
		return
	}
	for _, d := range r.Attempt(fn) {
		if d.Severity != diag.Error || !slices.Contains(codes, d.Code) {
			r.Add(d)
		}
	}
}

// Question identifies a call of diag.Suggest, which is memoized for programs that repeat a mistake.
type Question struct {
	Name, Space string
	Of          *schema.Package // nil outside of packages
}

// Near returns the memoized suggestions for a key; it calls find for a new key.
func (r *Reporter) Near(key Question, find func() []string) []string {
	near, _ := r.asked.Get(key, func() ([]string, error) { return find(), nil })
	return near
}

// Suggest returns the candidates that name may mean. space identifies the set of candidates; candidates is called once
// for each name. Comparing a name with thousands of tokens takes longer than the rest of the check, and a mistake is
// often repeated.
func (r *Reporter) Suggest(name, space string, candidates func() []string) []string {
	return r.Near(Question{Name: name, Space: space}, func() []string { return diag.Suggest(name, candidates()) })
}

// NearOrAll returns a hint with the near names, or else with all names after the word has, or else none.
func NearOrAll(near, names []string, has, none string) string {
	switch {
	case len(near) > 0:
		return DidYouMean(near)
	case len(names) == 0:
		return none
	}
	return has + Listed(names)
}

// OldToken warns of a token with other capitals than the package has.
func (r *Reporter) OldToken(token *ast.Literal, canonical string) {
	if name := Spelling(token.Value, canonical); name != token.Value {
		r.Add(diag.Diagnostic{Severity: diag.Warning, Code: diag.Capitalisation, Subject: token.Range,
			Summary: "write `" + token.Value + "` as `" + name + "`", Fixes: RenameTo(token.Range, token.Value, name)})
	}
}

// OldSpelling warns of a word of the language with other capitals or in an old form.
func (r *Reporter) OldSpelling(rng diag.Range, written, name string) {
	if name != written {
		r.Add(diag.Diagnostic{Severity: diag.Warning, Code: diag.Capitalisation, Subject: rng,
			Summary: "write `" + written + "` as `" + name + "`", Fixes: Replace(rng, written, name)})
	}
}

// Spelling returns a token as written, with the capitals of the canonical token. Other tools that compare tokens, such
// as policies, distinguish capitals (L7.1, L1.20).
func Spelling(written, canonical string) string {
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

// DidYouMean asks whether one of some names was meant; empty for none.
func DidYouMean(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return "did you mean " + OrList(near) + "?"
}

// Rename returns the fix that writes the only near name; none if there are several, or if the text at the range is not
// the name itself.
func Rename(rng diag.Range, wrong string, near []string) []diag.Fix {
	return RenameTo(rng, wrong, diag.Meant(wrong, near))
}

// RenameTo returns the fix that replaces a name of a schema, a stack or a machine by another; none if meant is empty.
// Unless both are spellings of one name it is a guess: the schema may be of another version than the program.
func RenameTo(rng diag.Range, wrong, meant string) []diag.Fix {
	fixes := Replace(rng, wrong, meant)
	if len(fixes) > 0 {
		// A guess is offered in an editor and not applied by check --fix.
		fixes[0].Guess = !sameName(wrong, meant)
	}
	return fixes
}

// sameName reports whether two spellings certainly are of one name. In a token, the package and the module must be the
// same: `cloudrun` and `cloudRun` may be modules of two versions.
func sameName(a, b string) bool {
	i, j := strings.LastIndexByte(a, ':')+1, strings.LastIndexByte(b, ':')+1
	return a[:i] == b[:j] && diag.SameName(a[i:], b[j:])
}

// Replace returns the fix that replaces a word of the language by another; none if meant is empty.
func Replace(rng diag.Range, wrong, meant string) []diag.Fix {
	// The range of a finding may include quotes, which stay.
	rng, written := rng.Word(wrong)
	if meant == "" || !written || !Plain(meant) {
		return nil
	}
	return []diag.Fix{{Label: "Write " + Quote(meant), Edits: []diag.Edit{{Range: rng, Text: meant}}}}
}

// Plain reports whether a name needs no quotes anywhere in YAML.
func Plain(name string) bool {
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

// OrList returns the names as "a, b or c", each quoted.
func OrList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = Quote(name)
	}
	if n := len(quoted); n > 1 {
		return strings.Join(quoted[:n-1], ", ") + " or " + quoted[n-1]
	}
	return strings.Join(quoted, "")
}

// Listed returns at most five names and the number of the others.
func Listed(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// Sentences joins the parts that are not empty.
func Sentences(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "\n")
}

// Shown returns a text, quoted and shortened for a headline.
func Shown(text string) string {
	return Quote(diag.Shorten(text, 40))
}

// Quote marks text of the program in a message.
func Quote(text string) string { return "`" + text + "`" }

// DescribeSteps names the target of some steps in a message.
func DescribeSteps(owner string, steps []ast.Step) string {
	for _, s := range steps {
		if s.IsIndex {
			owner = fmt.Sprintf("%s[%d]", owner, s.Index)
		} else {
			owner += "." + s.Name
		}
	}
	return owner
}
