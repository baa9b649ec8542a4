package drawing

import (
	"bufio"
	_ "embed" // styles
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Write writes a picture as an SVG document. Its colours follow the viewer's preference, light or dark; viewers without
// support for variables draw it light.
func Write(w io.Writer, p *Picture) error {
	s := layOut(p)
	x := &writer{bufio.NewWriter(w)}
	x.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" role="img">`+"\n",
		num(s.w), num(s.h))
	x.title(p.Title)
	x.printf("%s", styles)
	x.printf(`<rect class="paper" width="%s" height="%s"/>`+"\n", num(s.w), num(s.h))
	x.head(p)
	// The order is: frames, lines, boxes.
	frames := slices.DeleteFunc(slices.Clone(s.items), func(it *item) bool { return it.group == nil })
	slices.SortStableFunc(frames, func(a, b *item) int { return a.depth - b.depth })
	for _, it := range frames {
		x.frame(it)
	}
	x.links(s.links)
	for _, it := range s.items {
		if it.node != nil {
			x.box(it)
		}
	}
	for _, l := range s.links {
		if l.labelled {
			x.printf(`<text class="label" x="%s" y="%s">%s</text>`+"\n", num(l.labelAt.x), num(l.labelAt.y), escape(l.label))
		}
	}
	x.legend(p, s)
	x.printf("</svg>\n")
	return x.w.Flush()
}

// writer writes the parts of a document. Flush returns a failed write.
type writer struct{ w *bufio.Writer }

func (x *writer) printf(format string, args ...any) { fmt.Fprintf(x.w, format, args...) }

func (x *writer) title(text string) {
	if text != "" {
		x.printf("<title>%s</title>", escape(text))
	}
}

// num returns a number with at most one decimal place.
func num(f float64) string {
	return strconv.FormatFloat(math.Round(f*10)/10+0, 'f', -1, 64)
}

// escape returns a text escaped for XML. U+FFFD replaces characters that XML cannot hold.
func escape(s string) string {
	return entities.Replace(strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\t' || r == 0xFFFE || r == 0xFFFF {
			return '\uFFFD'
		}
		return r
	}, s))
}

var entities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// hues is the number of colours of lines. A line has the colour of its first box; boxes get the colours in turn.
const hues = 6

// styles are the style sheet, with a light and a dark shade of each colour, and the heads of arrows. Viewers without
// support for variables ignore the second of each pair. The sizes of texts, the kinds of boxes and the hues are those
// of this package.
//
//go:embed styles.svg
var styles string

func headHeight(p *Picture) float64 {
	switch {
	case p.Title == "" && p.Subtitle == "":
		return 0
	case p.Subtitle == "":
		return 34
	}
	return 52
}

func (x *writer) head(p *Picture) {
	y := margin + 12.0
	if p.Title != "" {
		x.printf(`<text class="head" x="%s" y="%s">%s</text>`+"\n", num(margin), num(y), escape(p.Title))
		y += 20
	}
	if p.Subtitle != "" {
		x.printf(`<text class="small" x="%s" y="%s">%s</text>`+"\n", num(margin), num(y), escape(p.Subtitle))
	}
}

func (x *writer) frame(it *item) {
	x.printf(`<g class="group">`)
	x.title(it.group.Tip)
	x.printf(`<rect x="%s" y="%s" width="%s" height="%s" rx="12"/>`, num(it.x), num(it.y), num(it.w), num(it.h))
	x.printf(`<text x="%s" y="%s">%s</text></g>`+"\n", num(it.x+groupPadding), num(it.y+groupHead-3),
		escape(shorten(it.group.Label, nameLetters+detailLetters)))
}

func (x *writer) box(it *item) {
	n := it.node
	x.printf(`<g class="node %s">`, kindNames[n.Kind])
	x.title(n.Tip)
	x.shape(n.Kind, rect{it.x, it.y, it.w, it.h})
	middle, base := num(it.x+it.w/2), it.y+it.h/2+4.5
	if n.Detail != "" {
		base = it.y + 18
		x.printf(`<text class="detail" x="%s" y="%s">%s</text>`, middle, num(it.y+33),
			escape(shorten(n.Detail, detailLetters)))
	}
	x.printf(`<text class="name" x="%s" y="%s">%s</text></g>`+"\n", middle, num(base),
		escape(shorten(n.Name, nameLetters)))
}

// shape draws the outline of a kind of box. All outlines touch the middles of the four sides, where arrows end.
func (x *writer) shape(kind Kind, r rect) {
	box := func(r rect, radius float64) {
		x.printf(`<rect x="%s" y="%s" width="%s" height="%s" rx="%s"/>`, num(r.x), num(r.y), num(r.w), num(r.h), num(radius))
	}
	left, top, right, bottom, middle := num(r.x), num(r.y), num(r.x+r.w), num(r.y+r.h), num(r.y+r.h/2)
	switch kind {
	case Component: // two frames
		box(r, 8)
		box(rect{r.x + 3, r.y + 3, r.w - 6, r.h - 6}, 6)
	case Variable: // a pill
		box(r, r.h/2)
	case Config: // a note with a corner folded in
		fold := 9.0
		x.printf(`<path d="M%s %sH%sL%s %sV%sH%sz"/>`, left, top, num(r.x+r.w-fold), right, num(r.y+fold), bottom, left)
	case Function: // six corners
		x.printf(`<path d="M%s %sL%s %sH%sL%s %sL%s %sH%sz"/>`, left, middle, num(r.x+slant), top, num(r.x+r.w-slant), right,
			middle, num(r.x+r.w-slant), bottom, num(r.x+slant))
	case Output: // a sign that points on
		x.printf(`<path d="M%s %sH%sL%s %sL%s %sH%sz"/>`, left, top, num(r.x+r.w-slant), right, middle, num(r.x+r.w-slant),
			bottom, left)
	default:
		box(r, 7)
	}
}

const (
	// crowded is the number of arrows from which on the arrows of boxes with very many of them are faint. Bundles of
	// them remain visible.
	crowded = 150
	many    = 24
)

// links draws all arrows. Very many are grouped by style, which halves the text.
func (x *writer) links(list []*link) {
	list = slices.DeleteFunc(slices.Clone(list), func(l *link) bool { return len(l.curve) == 0 })
	look := func(l *link) string {
		hue := l.from.index % hues
		if len(list) >= crowded && len(l.from.next) >= many {
			return fmt.Sprintf(`hue%d many" marker-end="url(#arrow%[1]d)"`, hue)
		}
		return fmt.Sprintf(`hue%d" marker-end="url(#arrow%[1]d)"`, hue)
	}
	if len(list) < huge {
		for _, l := range list {
			x.printf(`<g class="edge %s>`, look(l))
			x.title(strings.Join(l.tips, "\n"))
			d := pathOf(l)
			if len(list) < crowded { // a wider line for the pointer
				x.printf(`<path class="near" d="%s"/>`, d)
			}
			x.printf(`<path d="%s"/></g>`+"\n", d)
		}
		return
	}
	byLook := map[string][]*link{}
	for _, l := range list {
		byLook[look(l)] = append(byLook[look(l)], l)
	}
	for _, look := range slices.Sorted(maps.Keys(byLook)) {
		x.printf(`<g class="edges %s>`+"\n", look)
		for _, l := range byLook[look] {
			x.printf(`<path d="%s">`, pathOf(l))
			x.title(strings.Join(l.tips, "\n"))
			x.printf("</path>\n")
		}
		x.printf("</g>\n")
	}
}

// pathOf returns a link's curve as the data of a path.
func pathOf(l *link) string {
	if l.coarse {
		return linesOf(l.curve)
	}
	curve := l.curve
	var d strings.Builder
	p := curve[0]
	fmt.Fprintf(&d, "M%s %s", num(p.x), num(p.y))
	for i := 1; i+2 < len(curve); i += 3 {
		dst := curve[i+2]
		if p.y == dst.y && curve[i].y == dst.y {
			fmt.Fprintf(&d, "H%s", num(dst.x))
		} else {
			fmt.Fprintf(&d, "C%s %s %s %s %s %s", num(curve[i].x), num(curve[i].y), num(curve[i+1].x), num(curve[i+1].y),
				num(dst.x), num(dst.y))
		}
		p = dst
	}
	return d.String()
}

// linesOf returns a row of straight lines between whole pixels as the data of a path.
func linesOf(points []point) string {
	whole := func(f float64) int64 { return int64(math.Round(f)) }
	x, y := whole(points[0].x), whole(points[0].y)
	d := strconv.AppendInt([]byte("M"), x, 10)
	d = strconv.AppendInt(append(d, ' '), y, 10)
	for _, dst := range points[1:] {
		dx, dy := whole(dst.x)-x, whole(dst.y)-y
		if dy == 0 {
			d = strconv.AppendInt(append(d, 'h'), dx, 10)
		} else {
			d = strconv.AppendInt(append(d, 'l'), dx, 10)
			if dy > 0 {
				d = append(d, ' ')
			}
			d = strconv.AppendInt(d, dy, 10)
		}
		x, y = x+dx, y+dy
	}
	return string(d)
}

// used returns the kinds of the boxes in a picture.
func used(p *Picture) (list []Kind) {
	for kind := range kinds {
		if slices.ContainsFunc(p.Nodes, func(n Node) bool { return n.Kind == kind }) {
			list = append(list, kind)
		}
	}
	return list
}

const legendArrow = "arrows lead from what is needed to what needs it"

// legendWidth returns the width of the legend below a graph, in the units of the drawing.
func legendWidth(p *Picture) float64 {
	w := textWidth(legendArrow, 12)
	for _, kind := range used(p) {
		w += 26 + 6 + textWidth(kindNames[kind], 12) + 18
	}
	return w
}

func (x *writer) legend(p *Picture, s *scene) {
	if len(p.Nodes) == 0 {
		return
	}
	pos, y := margin, s.h-margin-16
	for _, kind := range used(p) {
		x.printf(`<g class="node %s">`, kindNames[kind])
		x.shape(kind, rect{pos, y, 26, 16})
		x.printf(`<text class="small" x="%s" y="%s">%s</text></g>`+"\n", num(pos+32), num(y+12), kindNames[kind])
		pos += 26 + 6 + textWidth(kindNames[kind], 12) + 18
	}
	x.printf(`<text class="small" x="%s" y="%s">%s</text>`+"\n", num(pos), num(y+12), legendArrow)
}
