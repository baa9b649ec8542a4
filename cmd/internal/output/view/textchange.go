package view

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser"
)

const (
	contextLines = 2        // around a changed line
	foldedSize   = 40       // lines of one text's diff without --diff
	mostText     = 64 << 10 // largest text in bytes that is compared by lines or as a structure
)

// structured parses a text as JSON or YAML. ok is true for a map or a list, in YAML on more than one line.
func structured(text string) (kind string, v value.Value, ok bool) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || len(text) > mostText {
		return "", value.Null, false
	}
	if trimmed[0] == '{' || trimmed[0] == '[' {
		if v, err := value.FromJSON(trimmed); err == nil {
			return "json", v, true
		}
	}
	if !strings.Contains(trimmed, "\n") || !strings.Contains(trimmed, ":") {
		return "", value.Null, false
	}
	e, faults := parser.Data(diag.NewSource("text", []byte(text)))
	if len(faults) > 0 {
		return "", value.Null, false
	}
	v, err := program.Literal(e)
	return "yaml", v, err == nil && (v.Is(value.KindMap) || v.Is(value.KindList))
}

// opaque returns the summary of an unreadable text: keys and certificates in PEM, and base64 of more than a line.
func opaque(text string) (summary string, ok bool) {
	sum := sha256.Sum256([]byte(text))
	digest := "sha256 " + hex.EncodeToString(sum[:4])
	if block, _ := pem.Decode([]byte(text)); block != nil {
		return fmt.Sprintf("(%s, %s, %s)", strings.ToLower(block.Type), diag.Count(len(block.Bytes), "byte"), digest), true
	}
	if len(text) < 80 || strings.ContainsAny(text, " \t:.") {
		return "", false
	}
	data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(strings.TrimSpace(text), "\n", ""))
	if err != nil {
		return "", false
	}
	return fmt.Sprintf("(base64, %s, %s)", diag.Count(len(data), "byte"), digest), true
}

// textChange shows the change of a text on several lines; nil if one line is better.
func (c changeWriter) textChange(path, before, after string) []string {
	if from, was := opaque(before); was {
		if to, is := opaque(after); is {
			return c.both(path, from, to)
		}
	}
	before, after = c.mask.Hide(before), c.mask.Hide(after)
	if before == after {
		return nil
	}
	if lines := c.structuredChange(path, before, after); lines != nil {
		return lines
	}
	if !strings.Contains(strings.TrimRight(before, "\n"), "\n") && !strings.Contains(strings.TrimRight(after, "\n"),
		"\n") {
		return nil
	}
	if len(before)+len(after) > 2*mostText {
		return c.both(path, "(text, "+diag.Count(len(before), "byte")+")", "(text, "+diag.Count(len(after), "byte")+")")
	}
	return c.lines(path, c.unified(before, after))
}

// lines shows a change of a text by lines. There are none if all differences are hidden.
func (c changeWriter) lines(path string, lines []string) []string {
	if len(lines) == 0 {
		return []string{c.p.paint(yellow, "~ "+path+":") + c.p.paint(dim, hiddenChange)}
	}
	return append([]string{c.p.paint(yellow, "~ "+path+":")}, lines...)
}

// structuredChange compares two texts as JSON or YAML; nil if they are not, or differ in form only.
func (c changeWriter) structuredChange(path, before, after string) []string {
	kind, old, was := structured(before)
	other, new, is := structured(after)
	if !was || !is || kind != other || old.Kind() != new.Kind() {
		return nil
	}
	lines := []string{c.p.paint(yellow, "~ "+path+" ("+kind+"):")}
	change.Between(old, new, func(l change.Property) {
		for _, line := range c.change(&l) {
			lines = append(lines, "    "+line)
		}
	})
	if len(lines) == 1 {
		return nil // white space or the order of keys: a diff by lines shows it
	}
	return c.folded(lines)
}

// folded omits the end of a long text, unless the view shows everything.
func (c changeWriter) folded(lines []string) []string {
	if c.o.Diff || len(lines) <= foldedSize {
		return lines
	}
	rest := len(lines) - foldedSize
	return append(lines[:foldedSize:foldedSize], c.p.paint(dim, fmt.Sprintf("    … and %s more; --diff shows all",
		diag.Count(rest, "line"))))
}

// unified returns a diff by lines. With colours, it marks the changed part of a line.
func (c changeWriter) unified(before, after string) []string {
	if before != "" && !strings.HasSuffix(before, "\n") {
		before += "\n"
	}
	if after != "" && !strings.HasSuffix(after, "\n") {
		after += "\n"
	}
	diff, err := udiff.ToUnifiedDiff("", "", before, udiff.Lines(before, after), contextLines)
	if err != nil {
		return nil
	}
	var lines []string
	for i, hunk := range diff.Hunks {
		if i > 0 {
			lines = append(lines, c.p.paint(dim, "    …"))
		}
		var removed, added []string
		flush := func() {
			for k := range max(len(removed), len(added)) {
				if k < len(removed) && k < len(added) && len(removed) == len(added) {
					removed[k], added[k] = c.markParts(removed[k], added[k])
				}
			}
			for _, line := range removed {
				lines = append(lines, c.p.paint(red, "    - ")+line)
			}
			for _, line := range added {
				lines = append(lines, c.p.paint(green, "    + ")+line)
			}
			removed, added = nil, nil
		}
		for _, line := range hunk.Lines {
			text := strings.TrimSuffix(line.Content, "\n")
			switch line.Kind {
			case udiff.Delete:
				removed = append(removed, text)
			case udiff.Insert:
				added = append(added, text)
			default:
				flush()
				lines = append(lines, "      "+c.p.paint(dim, text))
			}
		}
		flush()
	}
	return c.folded(lines)
}

// markParts marks the difference between two lines, without their common prefix and suffix.
func (c changeWriter) markParts(old, new string) (string, string) {
	head := len(commonPrefix(old, new))
	tail := 0
	for tail < min(len(old), len(new))-head && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
	}
	for tail > 0 && !utf8.RuneStart(old[len(old)-tail]) {
		tail--
	}
	mark := func(s string, color paint) string {
		return s[:head] + c.p.paint(color, s[head:len(s)-tail]) + s[len(s)-tail:]
	}
	return mark(old, red), mark(new, green)
}

// codeMarker is the input of a resource that identifies the code that made it.
const codeMarker = "__provider"

// codeChange shows the changed lines in each file of a dynamic provider's code; nil for every other property. The code
// is sealed in the state although it is a file of the project, like the program itself, so its lines are shown with
// secrets masked.
func (c changeWriter) codeChange(typ string, l *change.Property) []string {
	if typ != urn.ProviderType("dynamic") || l.Kind != change.Updated {
		return nil
	}
	before, oldText := l.Before.Public().AsString()
	after, newText := l.After.Public().AsString()
	if !oldText || !newText {
		return nil
	}
	switch l.Path {
	case "digest":
		return c.both("digest", shortDigest(before), shortDigest(after))
	case "code":
		return c.folded(c.lines("code", c.fileChanges(codeFiles(before), codeFiles(after))))
	}
	return nil
}

// fileChanges compares files by name, line by line.
func (c changeWriter) fileChanges(old, new map[string]string) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(old)), maps.Keys(new))
	slices.Sort(names)
	var lines []string
	all := c
	all.o.Diff = true // the whole is folded below
	for _, name := range slices.Compact(names) {
		before, after := c.mask.Hide(old[name]), c.mask.Hide(new[name])
		if before == after {
			continue
		}
		lines = append(lines, "    "+c.p.paint(bold, name))
		lines = append(lines, all.unified(before, after)...)
	}
	return lines
}

// codeFiles returns the files of a provider's code by name. Python code is a JSON object of files; a JavaScript
// bundle names each file above its part. Code above the first name belongs to no file.
func codeFiles(code string) map[string]string {
	files := make(map[string]string)
	if json.Unmarshal([]byte(code), &files) == nil {
		return files
	}
	clear(files)
	name := "(bundle)"
	for line := range strings.Lines(code) {
		if file, found := strings.CutPrefix(line, "// "); found && !strings.ContainsAny(strings.TrimSpace(file), " \t") {
			name = strings.TrimSpace(file)
			continue
		}
		files[name] += line
	}
	return files
}

// madeByOtherCode describes a change that comes from the code of the resource's provider; nil if the code is unchanged.
// For Pulumi's dynamic providers, which store the code with the resource, it shows the changed lines.
func (c changeWriter) madeByOtherCode(old, new value.Value) []string {
	before, had := old.Lookup(codeMarker)
	after, has := new.Lookup(codeMarker)
	if !had || !has || value.SameContent(before, after) {
		return nil
	}
	from, wasText := before.AsString()
	to, isText := after.AsString()
	if before.IsSecret() || after.IsSecret() || !wasText || !isText {
		return []string{c.p.paint(yellow, "~ code of its provider: ") + hiddenSecret + c.p.paint(dim, hiddenChange)}
	}
	if strings.HasPrefix(from, "sha256:") && strings.HasPrefix(to, "sha256:") {
		return c.both("code of its provider", shortDigest(from), shortDigest(to))
	}
	return c.lines("code of its provider", c.unified(c.mask.Hide(from), c.mask.Hide(to)))
}

// shortDigest returns the beginning of a digest, sufficient to distinguish two.
func shortDigest(text string) string {
	const enough = len("sha256:") + 8
	return text[:min(len(text), enough)]
}
