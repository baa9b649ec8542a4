package view

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// codeMarker is the input of a resource that says which code made it.
const codeMarker = "__provider"

// codeChange shows how the code of a dynamic provider changes: of each of its files, the lines. It is nil for every
// other property. The code is sealed in the state although it is a file of the project, like the program itself: its
// lines are shown, with the secrets in them hidden as they are in the program's.
func (c changeWriter) codeChange(typ string, l leafChange) []string {
	if typ != urn.ProviderType("dynamic") || l.before == nil || l.after == nil {
		return nil
	}
	before, was := l.before.Public().AsString()
	after, is := l.after.Public().AsString()
	if !was || !is {
		return nil
	}
	switch l.path {
	case "digest":
		return []string{c.p.paint(yellow, "~ digest: ") + shortDigest(before) + c.p.paint(dim, " => ") + shortDigest(after)}
	case "code":
		return c.folded(append([]string{c.p.paint(yellow, "~ code:")}, c.fileChanges(codeFiles(before), codeFiles(after))...))
	}
	return nil
}

// fileChanges compares files by name, line by line.
func (c changeWriter) fileChanges(old, new map[string]string) []string {
	var names []string
	for name := range old {
		names = append(names, name)
	}
	for name := range new {
		if _, had := old[name]; !had {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var lines []string
	all := c
	all.o.Diff = true // what is folded is the whole
	for _, name := range names {
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
// Of Pulumi's dynamic providers, which keep a text of the code with the resource, it shows the lines.
func (c changeWriter) madeByOtherCode(old, new value.Value) []string {
	before, had := old.Lookup(codeMarker)
	after, has := new.Lookup(codeMarker)
	if !had || !has || value.SameContent(before, after) {
		return nil
	}
	from, wasText := before.AsString()
	to, isText := after.AsString()
	if before.IsSecret() || after.IsSecret() || !wasText || !isText {
		return []string{c.p.paint(yellow, "~ code of its provider: ") + hiddenSecret + c.p.paint(dim, " (changed)")}
	}
	if strings.HasPrefix(from, "sha256:") && strings.HasPrefix(to, "sha256:") {
		return []string{c.p.paint(yellow, "~ code of its provider: ") + shortDigest(from) + c.p.paint(dim, " => ") +
			shortDigest(to)}
	}
	return append([]string{c.p.paint(yellow, "~ code of its provider:")}, c.unified(c.mask.Hide(from), c.mask.Hide(to))...)
}

// shortDigest is enough of a digest to tell two apart.
func shortDigest(text string) string {
	const enough = len("sha256:") + 8
	return text[:min(len(text), enough)]
}
