package parser

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// sectionOrder is the order in which Arrange puts the keys at the top of a program. Keys in neither list follow these,
// in their original order, before lastSections.
var sectionOrder = []string{"name", "runtime", "description", "author", "website", "license", "version", "namespace",
	"main", "backend", "template", "plugins", "policyPacks", "crds",
	"packages", "options", "pulumi", "include", "config", "configuration", "dynamic", "hooks", "components", "variables",
	"enforcement", "policies"}

var lastSections = []string{"resources", "outputs"}

// Arrange puts the sections of a program into the usual order. The comments directly above a section move with it; a
// comment at the top of the text that is followed by an empty line stays there. Arrange returns the text unchanged if
// the move could change its meaning, such as when an anchor would come after its alias, and for JSON. It returns syntax
// errors as findings.
func Arrange(src *diag.Source) ([]byte, diag.Diagnostics) {
	text := src.Text()
	root, diags := formattable(src)
	if root == nil {
		return text, diags
	}
	f := newFormatter(text)
	var starts []int // first line of each section, including the comments above it
	for i := 0; i < len(root.Content); i += 2 {
		line := f.lineOf(root.Content[i].Start)
		if f.lines[line].indent != 0 || !f.begins(root.Content[i].Start) {
			return text, nil
		}
		starts = append(starts, f.aboveComments(line))
	}
	if len(starts) < 2 {
		return text, nil
	}
	type section struct {
		rank int
		text []byte
	}
	offsetOf := func(line int) int {
		if line >= len(f.lines) {
			return len(text)
		}
		return f.lines[line].start
	}
	var sections []section
	for i, start := range starts {
		end := len(f.lines)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		body := text[offsetOf(start):offsetOf(end)]
		if len(body) > 0 && body[len(body)-1] != '\n' {
			body = append(slices.Clip(body), '\n')
		}
		sections = append(sections, section{rankOf(root.Content[2*i].Value), body})
	}
	slices.SortStableFunc(sections, func(a, b section) int { return a.rank - b.rank })
	out := bytes.Clone(text[:offsetOf(starts[0])])
	for _, s := range sections {
		out = append(out, s.text...)
	}
	if text[len(text)-1] != '\n' {
		out = bytes.TrimSuffix(out, []byte("\n"))
	}
	if !sameEntries(text, out) {
		return text, nil
	}
	return out, nil
}

func rankOf(key string) int {
	place := func(sections []string) int {
		return slices.IndexFunc(sections, func(name string) bool { return strings.EqualFold(name, key) })
	}
	if i := place(sectionOrder); i >= 0 {
		return i
	}
	return len(sectionOrder) + 1 + place(lastSections) // all other keys come right before lastSections
}

// aboveComments returns the first line of the comments directly above a line, or the line itself if there are none.
func (f *formatter) aboveComments(line int) int {
	for line > 0 {
		prev := f.lines[line-1]
		if prev.start+prev.indent >= prev.end || f.text[prev.start+prev.indent] != '#' || prev.indent != 0 {
			break
		}
		line--
	}
	return line
}

// sameEntries reports whether two texts have the same entries at the top level, in any order.
func sameEntries(a, b []byte) bool {
	first, _ := yamlnode.Parse(a)
	second, _ := yamlnode.Parse(b)
	if first == nil || second == nil || len(first.Content) != len(second.Content) {
		return false
	}
	found := map[string]*yamlnode.Node{}
	for i := 0; i+1 < len(second.Content); i += 2 {
		found[second.Content[i].Value] = second.Content[i+1]
	}
	for i := 0; i+1 < len(first.Content); i += 2 {
		value := found[first.Content[i].Value]
		if value == nil || !sameNode(first.Content[i+1], value, 0) {
			return false
		}
	}
	return len(found) == len(first.Content)/2
}
