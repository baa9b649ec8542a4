package pcl

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Comments of a program in YAML are read from its text, since the syntax tree has none. In PCL comments are above
// blocks and attributes, where Pulumi's tools read them: comments above, behind or inside an entry move above it.

// textLine is a 1-based line of a text.
type textLine struct {
	source *diag.Source
	line   int
}

var (
	// sectionLine matches the key of a section, alone on its line or with a comment, which belongs to the first entry.
	sectionLine = lazyregexp.New(
		`^\s*(?:config|configuration|components|hooks|inputs|variables|resources|outputs|properties|get|state|options)\s*:\s*(?:#.*)?$`)
	behindKey   = lazyregexp.New(`^["']?\s*:\s+#(.*)$`)
	behindValue = lazyregexp.New(`^["']?[\]},\s]*\s#(.*)$`)
)

// notes returns the comments on an entry: on its key and inside its values. Each comment is returned only once.
func (c *converter) notes(key diag.Range, values ...ast.Expr) []string {
	lines := append(c.above(key), c.behind(key, behindKey())...)
	for _, v := range values {
		ast.Walk(v, func(e ast.Expr) bool {
			lines = append(append(lines, c.above(e.Range())...), c.behind(e.Range(), behindValue())...)
			_, isText := e.(*ast.Template) // `#` in it is text
			return !isText
		})
	}
	return lines
}

// literalNotes returns the comments on a field with a literal. rng is the range of its value.
func (c *converter) literalNotes(rng diag.Range) []string {
	return append(c.above(rng), c.behind(rng, behindValue())...)
}

// resourceNotes returns the comments on a resource and on those of its fields that are not attributes in PCL.
func (c *converter) resourceNotes(r *ast.Resource) []string {
	lines := append(c.notes(r.Name.Range), c.literalNotes(r.Type.Range)...)
	if r.LogicalName != nil {
		lines = append(lines, c.literalNotes(r.LogicalName.Range)...)
	}
	return append(lines, c.notes(diag.Range{}, r.ForEach, r.If)...)
}

// componentNotes returns the comments on a component and its description, which PCL can only keep as a comment.
func (c *converter) componentNotes(component *ast.Component) []string {
	lines := c.notes(component.Name.Range)
	if d := component.Description; d != nil {
		lines = append(append(lines, c.literalNotes(d.Range)...), strings.Split(strings.TrimSpace(d.Value), "\n")...)
	}
	return lines
}

// above returns the comments above the line of a range. Only comments with the indent of that line count: others may be
// text.
func (c *converter) above(rng diag.Range) []string {
	if rng.IsZero() {
		return nil
	}
	line := textLine{rng.Source, rng.StartPosition().Line}
	if c.commented[line] {
		return nil
	}
	c.commented[line] = true
	var lines []string // from bottom to top
	indent := indentOf(line.text())
upwards:
	for line.line--; line.line > 0; line.line-- {
		text := line.text()
		comment, isComment := commentOf(text)
		switch {
		case isComment && c.commented[line]:
			break upwards
		case strings.TrimSpace(text) == "" || strings.HasPrefix(text, "---"):
		case isComment && indentOf(text) == indent:
			lines = append(lines, comment)
		case !isComment && sectionLine().MatchString(text) && indentOf(text) < indent && !c.commented[line]:
			c.commented[line] = true
			if _, comment, found := strings.Cut(text, "#"); found {
				lines = append(lines, strings.TrimSpace(comment))
			}
			indent = indentOf(text)
		default:
			break upwards
		}
	}
	slices.Reverse(lines)
	return lines
}

// behind returns the comment behind a range on one line, if pattern matches the text after the range.
func (c *converter) behind(rng diag.Range, pattern *regexp.Regexp) []string {
	start, end := rng.StartPosition(), rng.EndPosition()
	l := textLine{rng.Source, end.Line}
	if rng.IsZero() || start.Line != end.Line || c.trailed[l] {
		return nil
	}
	line, _, _ := bytes.Cut(rng.Source.Text()[rng.End:], []byte("\n"))
	found := pattern.FindStringSubmatch(strings.TrimRight(string(line), "\r"))
	if found == nil {
		return nil
	}
	c.trailed[l] = true
	return []string{strings.TrimSpace(found[1])}
}

// header returns the comments at the beginning of a text, except those directly above the first section, which belong
// to its first entry.
func (c *converter) header(source *diag.Source) []string {
	if source == nil {
		return nil
	}
	var whole, block []string
	number := 1
	for ; number <= source.Lines(); number++ {
		text := string(source.Line(number))
		if comment, found := commentOf(text); found {
			block = append(block, comment)
			continue
		}
		if strings.TrimSpace(text) != "" && !strings.HasPrefix(text, "---") {
			if !sectionLine().MatchString(text) {
				whole = append(whole, block...)
				block = nil
			}
			break
		}
		whole, block = append(whole, block...), nil
	}
	for line := 1; line < number-len(block); line++ {
		c.commented[textLine{source, line}] = true
	}
	return whole
}

func (l textLine) text() string { return string(l.source.Line(l.line)) }

func indentOf(text string) int { return len(text) - len(strings.TrimLeft(text, " ")) }

// commentOf returns the text of a line that has only a comment, and whether it has.
func commentOf(line string) (string, bool) {
	comment, found := strings.CutPrefix(strings.TrimLeft(line, " \t"), "#")
	return strings.TrimSpace(comment), found
}
