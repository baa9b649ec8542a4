package pcl

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Every comment of a program in PCL is in the program in YAML: above the entry that it is above, behind or inside of.
// If that has no entry, it is above the next one.

// remark is a comment of a file in PCL.
type remark struct {
	first, last int // 1-based lines
	lines       []string
}

// remarks returns the comments of a file.
func remarks(text []byte, name string) []remark {
	var all []remark
	tokens, _ := hclsyntax.LexConfig(text, name, hcl.InitialPos) // which has been parsed
	for _, token := range tokens {
		if token.Type != hclsyntax.TokenComment {
			continue
		}
		comment := strings.TrimSpace(string(token.Bytes))
		r := remark{first: token.Range.Start.Line, last: token.Range.Start.Line + strings.Count(comment, "\n")}
		if inner, long := strings.CutPrefix(comment, "/*"); long {
			for line := range strings.SplitSeq(strings.TrimSuffix(inner, "*/"), "\n") {
				if line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "*")); line != "" {
					r.lines = append(r.lines, line)
				}
			}
		} else {
			r.lines = []string{strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(comment, "#"), "//"))}
		}
		all = append(all, r)
	}
	return all
}

// take returns the lines of the comments that begin between two lines of a file, and marks them as taken.
func (m *module) take(file string, first, last int) []string {
	var lines []string
	m.remarks[file] = slices.DeleteFunc(m.remarks[file], func(r remark) bool {
		inside := first <= r.first && r.first <= last
		if inside {
			lines = append(lines, r.lines...)
		}
		return inside
	})
	return lines
}

// about returns the comments on a block or an attribute of a file, which are not in the program yet.
func (m *module) about(whole hcl.Range) []string { return m.take(whole.Filename, 1, whole.End.Line) }

// inside returns the comments on an attribute of a block. Those on the line of the block's name are about the block.
func (m *module) inside(b *hclsyntax.Block, a *hclsyntax.Attribute) []string {
	return m.take(a.SrcRange.Filename, b.OpenBraceRange.Start.Line+1, a.SrcRange.End.Line)
}

// rest returns the comments that are not in the program yet.
func (m *module) rest() []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(m.remarks)) {
		for _, r := range m.remarks[name] {
			lines = append(lines, r.lines...)
		}
	}
	return lines
}

// header takes the comments at the beginning of the files that a blank line follows: they describe the whole file.
func (m *module) header() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(m.remarks)) {
		end := 0
		for _, r := range m.remarks[name] {
			if r.first != end+1 {
				break
			}
			end = r.last
		}
		if source := m.sources[name]; end < source.Lines() && strings.TrimSpace(string(source.Line(end+1))) == "" {
			all = append(all, m.take(name, 1, end)...)
		}
	}
	return all
}
