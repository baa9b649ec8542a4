package diag

import (
	"bytes"
	"cmp"
	"io"
	"strconv"
	"strings"
)

// TextOptions configures WriteText.
type TextOptions struct {
	Color bool // use ANSI colours
	Width int  // width of the terminal in columns; 0 means 120
	Hints int  // maximum number of lines of advice; 0 means three (Appendix A)
	// Hide returns a source line with its secrets masked. If it is nil, lines are shown unchanged.
	Hide func(string) string
}

// The bounds of an excerpt.
const (
	defaultWidth   = 120
	minimumWidth   = 40
	excerptLines   = 6 // the middle of a range with more lines is left out
	hintLines      = 3 // Appendix A
	relatedPlaces  = 5
	cutMark        = "…"
	leastCutMargin = 12 // minimum number of columns shown before the subject of a cut line
	mostOfFile     = 100
)

// WriteText writes findings for people to read, in the order of Sorted:
//
//	Pulumi.yaml:7:5: error[Y210]: unknown property lenght; did you mean length?
//	  |
//	7 |     lenght: 3
//	  |     ^^^^^^
//	  = random:RandomPet takes keepers, length, prefix and separator
//
// A finding consists of a headline, an excerpt of the source, related ranges, and at most o.Hints lines of advice.
// Control characters in the texts are replaced. Of one file it writes at most 100 findings, errors before others, and
// how many more there are. WriteText returns the error of w.
func WriteText(w io.Writer, ds Diagnostics, o TextOptions) error {
	p := textPrinter{out: &bytes.Buffer{}, width: max(cmp.Or(o.Width, defaultWidth), minimumWidth),
		folds: o.Width > 0, hints: cmp.Or(o.Hints, hintLines), hide: o.Hide}
	if o.Color {
		p.palette = colors
	}
	sorted := ds.Sorted()
	for i := 0; i < len(sorted); {
		file := sorted[i:]
		for n, d := range file {
			if d.Subject.name() != file[0].Subject.name() {
				file = file[:n]
				break
			}
		}
		i += len(file)
		for _, d := range p.most(file) {
			if p.out.Len() > 0 {
				p.out.WriteByte('\n')
			}
			p.diagnostic(d)
		}
		if left := file[min(len(file), mostOfFile):]; len(left) > 0 {
			p.out.WriteByte('\n')
			if name := file[0].Subject.name(); name != "" {
				p.out.WriteString(name + ": ")
			}
			p.out.WriteString("and " + Count(len(left), "more finding") + "\n")
		}
	}
	_, err := w.Write(p.out.Bytes())
	return err
}

// most returns the findings of a file that are shown: all errors if there is room for them, and the first others.
func (p *textPrinter) most(file Diagnostics) Diagnostics {
	if len(file) <= mostOfFile {
		return file
	}
	room := mostOfFile
	for _, d := range file {
		if d.Severity == Error {
			room--
		}
	}
	var shown Diagnostics
	for _, d := range file {
		if d.Severity != Error {
			if room--; room < 0 {
				continue
			}
		}
		if shown.Add(d); len(shown) == mostOfFile {
			break
		}
	}
	return shown
}

// palette holds the escape sequence of each role. All are empty if the output has no colours.
type palette struct {
	severity                               [5]string
	headline, gutter, related, hint, reset string
}

var colors = palette{
	severity: [5]string{"\x1b[1;31m", "\x1b[1;33m", "\x1b[1;34m", "\x1b[1;36m", "\x1b[1;35m"},
	headline: "\x1b[1m", gutter: "\x1b[34m", related: "\x1b[36m", hint: "\x1b[32m", reset: "\x1b[0m",
}

type textPrinter struct {
	out     *bytes.Buffer
	palette palette
	width   int
	folds   bool // texts that are wider are broken between words
	hints   int  // maximum number of lines of advice
	gutter  int  // number of digits of the largest line number shown
	hide    func(string) string
}

func (p *textPrinter) paint(color, text string) {
	if text == "" {
		return
	}
	p.out.WriteString(color + text)
	if color != "" {
		p.out.WriteString(p.palette.reset)
	}
}

func (p *textPrinter) diagnostic(d Diagnostic) {
	color := p.palette.severity[min(int(d.Severity), len(p.palette.severity)-1)]
	place := placeOf(d.Subject)
	if place != "" {
		place += ": "
	}
	p.paint(p.palette.headline, place)
	label := d.Severity.String()
	if d.Code != "" {
		label += "[" + string(d.Code) + "]"
	}
	p.paint(color, label)
	p.paint(p.palette.headline, p.fold(": "+oneLine(d.Summary), cells(place+label), 4))
	p.out.WriteByte('\n')

	related := d.Related[:min(len(d.Related), relatedPlaces)]
	p.gutter = gutterDigits(d.Subject)
	for _, r := range related {
		p.gutter = max(p.gutter, gutterDigits(r.Range))
	}
	if !d.Confidential {
		p.excerpt(d.Subject, color, '^')
	}
	for _, r := range related {
		p.margin("-->")
		place := placeOf(r.Range)
		if place != "" && r.Message != "" {
			place += ": "
		}
		p.out.WriteString(p.fold(" "+place+oneLine(r.Message), p.gutter+3, p.gutter+4) + "\n")
		p.excerpt(r.Range, p.palette.related, '-')
	}
	for _, line := range hints(d, p.hints) {
		p.margin(" =")
		p.out.WriteByte(' ')
		p.paint(p.palette.hint, p.fold(line, p.gutter+3, p.gutter+3))
		p.out.WriteByte('\n')
	}
}

// fold breaks a text between words where a terminal would break it within one; see Fold.
func (p *textPrinter) fold(text string, taken, indent int) string {
	if !p.folds {
		return text
	}
	return Fold(text, p.width, taken, indent, cells)
}

// cells returns the columns that a text takes.
func cells(text string) int { return layout([]byte(text)).width }

// hints returns at most n lines of advice: first the lines of the detail, then the labels of the certain fixes; the
// detail of a finding says what a guess would write.
func hints(d Diagnostic, n int) []string {
	var lines []string
	for line := range strings.SplitSeq(d.Detail, "\n") {
		if line = strings.TrimRight(oneLine(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	for _, fix := range d.Fixes {
		if !fix.Guess {
			lines = append(lines, "fix: "+oneLine(fix.Label))
		}
	}
	return lines[:min(len(lines), n)]
}

// margin writes the gutter of a line without a number, followed by mark.
func (p *textPrinter) margin(mark string) {
	p.paint(p.palette.gutter, strings.Repeat(" ", p.gutter)+mark)
}

func (p *textPrinter) line(number int, mark string) {
	digits := strconv.Itoa(number)
	p.paint(p.palette.gutter, strings.Repeat(" ", max(p.gutter-len(digits), 0))+digits+" |")
	p.out.WriteString(mark)
}

// excerpt writes the source lines of a range: a single line is underlined, several lines are marked at the left.
func (p *textPrinter) excerpt(r Range, color string, underline byte) {
	if r.IsZero() || r.Source.Len() == 0 {
		return
	}
	start, end := trimmed(r)
	first, last := r.Source.Position(start).Line, r.Source.Position(end).Line
	p.margin(" |")
	p.out.WriteByte('\n')
	if first == last {
		p.underlined(r.Source, first, start, end, color, underline)
		return
	}
	for number := first; number <= last; number++ {
		if last-first >= excerptLines && number == first+excerptLines-2 {
			p.margin(" :")
			p.out.WriteByte('\n')
			number = last
		}
		p.line(number, "")
		p.paint(color, " > ")
		line, _ := p.sourceLine(r.Source, number)
		text := layout(line)
		shown, _, _ := text.window(0, 0, p.width-p.gutter-5)
		p.out.WriteString(strings.TrimRight(shown, " ") + "\n")
	}
}

// underlined writes one line and underlines the bytes in [start, end).
func (p *textPrinter) underlined(s *Source, number, start, end int, color string, underline byte) {
	lineStart, lineEnd := s.lineBounds(number)
	line, hidden := p.sourceLine(s, number)
	text := layout(line)
	if hidden { // masking has changed the columns
		shown, _, _ := text.window(0, 0, p.width-p.gutter-3)
		p.line(number, " "+strings.TrimRight(shown, " ")+"\n")
		return
	}
	from, to := text.column(min(start, lineEnd)-lineStart), text.column(min(end, lineEnd)-lineStart)
	shown, from, to := text.window(from, max(to, from+1), p.width-p.gutter-3)
	p.line(number, "")
	if shown = strings.TrimRight(shown, " "); shown != "" {
		p.out.WriteString(" " + shown)
	}
	p.out.WriteByte('\n')
	p.margin(" |")
	p.out.WriteString(" " + strings.Repeat(" ", from))
	p.paint(color, strings.Repeat(string(underline), max(to-from, 1)))
	p.out.WriteByte('\n')
}

// sourceLine returns a line of a source with its secrets masked, and whether p.hide has changed it.
func (p *textPrinter) sourceLine(s *Source, number int) (text []byte, hidden bool) {
	text = s.shown(s.lineBounds(number))
	if p.hide == nil {
		return text, false
	}
	line := p.hide(string(text))
	return []byte(line), line != string(text)
}

// trimmed returns the byte offsets of a range, limited to the source and without trailing white space: the range of a
// YAML block extends to the beginning of the next line.
func trimmed(r Range) (start, end int) {
	text := r.Source.Text()
	start = min(max(int(r.Start), 0), len(text))
	end = min(max(int(r.End), start), len(text))
	if kept := len(bytes.TrimRight(text[start:end], " \t\r\n")); kept > 0 {
		return start, start + kept
	}
	if line := bytes.IndexByte(text[start:end], '\n'); line >= 0 {
		end = start + line
	}
	return start, end
}

func gutterDigits(r Range) int {
	if r.IsZero() {
		return 0
	}
	_, end := trimmed(r)
	return len(strconv.Itoa(r.Source.Position(end).Line))
}

// placeOf returns file:line:column of the start of a range, or an empty string for a zero range.
func placeOf(r Range) string {
	if r.IsZero() {
		return ""
	}
	pos := r.StartPosition()
	return oneLine(r.Source.Name()) + ":" + strconv.Itoa(pos.Line) + ":" + strconv.Itoa(pos.Column)
}
