package view

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/yamlhost/yamlhost/runtime/engine"
)

// cells are the columns of one row of the tree, without colours.
type cells struct {
	sign, name, typ, status, note string
	short                         string // the essential part of the status, if the whole does not fit
	// the part of name that its siblings do not share; nothing where they are equal
	from, to int
	depth    int
	color    paint // of sign and status
}

// columns are the widths of the columns of a tree, in cells of the terminal.
type columns struct {
	lead, name, typ, status int
	width                   int // of the whole line; 0 for no limit
}

const (
	signWidth = 3 // two characters and a space
	maxName   = 48
	maxType   = 40
	leastNote = 8
)

// arrange chooses widths so that no row is wider than the terminal, with type and status visible. A width of 0 means no
// limit. One cell on the right stays free, since a terminal may wrap after a full line.
func arrange(rows []cells, width int) columns {
	c := columns{lead: 2, width: max(0, width-1)}
	mostName, mostType := maxName, maxType
	if width == 0 { // no limit: nothing is cut
		mostName, mostType = math.MaxInt, math.MaxInt
	}
	for _, r := range rows {
		c.name = max(c.name, min(mostName, 2*r.depth+widthOf(r.name)))
		c.typ = max(c.typ, min(mostType, widthOf(r.typ)))
		c.status = max(c.status, widthOf(r.status))
	}
	if c.width == 0 {
		return c
	}
	const gaps = 3 // two before the type, one before the status
	if c.width < 40 {
		c.lead = 0
	}
	room := max(3, c.width-c.lead-signWidth-gaps)
	if c.name+c.typ+c.status <= room {
		return c
	}
	c.status = min(c.status, max(1, room*2/5))
	c.typ = min(c.typ, max(1, (room-c.status)*2/5))
	c.name = min(c.name, max(1, room-c.status-c.typ))
	return c
}

// line renders a row.
func (c columns) line(r cells, p palette) string {
	indent := 2 * r.depth
	if c.width > 0 {
		indent = min(indent, c.name/2) // a deep row keeps half of its column for its name
	}
	name := strings.Repeat(" ", indent) + cutTelling(r.name, r.from, r.to, c.name-indent)
	status := r.status
	if c.width > 0 {
		if widthOf(status) > c.status {
			status = r.short
		}
		status = cutEnd(status, c.status)
	}
	text := strings.Repeat(" ", c.lead) + p.paint(r.color, fill(r.sign, signWidth)) + fill(name, c.name) + "  " +
		p.paint(dim, fill(cutMiddle(r.typ, c.typ), c.typ)) + " " + p.paint(r.color, status)
	if r.note == "" {
		return text
	}
	if c.width == 0 {
		return text + p.paint(dim, " "+r.note)
	}
	if room := c.width - widthOf(text) - 1; room >= leastNote {
		text += p.paint(dim, " "+cutEnd(r.note, room))
	}
	return text
}

// widthOf returns the width of a text on a terminal, in cells. Nearly every text is printable ASCII, which the library
// would take apart one allocation per character.
func widthOf(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// fill pads a text with spaces to a width.
func fill(s string, width int) string {
	if n := width - widthOf(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// cutEnd shortens a text to a width, with an ellipsis at its end.
func cutEnd(s string, width int) string { return ansi.Truncate(s, max(0, width), "…") }

// cutTelling shortens a name to a width. It keeps the part between from and to, which distinguishes it from its
// siblings, if that fits.
func cutTelling(s string, from, to, width int) string {
	whole := widthOf(s)
	if from >= to || whole <= width {
		return cutMiddle(s, width)
	}
	head, part, tail := s[:from], s[from:to], s[to:]
	room := width - widthOf(part)
	if room < 2 {
		return cutMiddle(s, width)
	}
	// The head is cut at its end and the tail at its beginning; each may use the room that the other does not need.
	tailRoom := min(widthOf(tail), max(room/2, room-widthOf(head)))
	return cutEnd(head, room-tailRoom) + part + cutFront(tail, tailRoom)
}

// cutFront shortens a text to a width at its beginning.
func cutFront(s string, width int) string {
	whole := widthOf(s)
	if whole <= width {
		return s
	}
	for end := width - 1; end > 0; end-- {
		if tail := ansi.TruncateLeft(s, whole-end, ""); widthOf(tail) < width {
			return "…" + tail
		}
	}
	return cutEnd(s, min(width, 1))
}

// cutMiddle shortens a text to a width in its middle: names of siblings differ at their ends.
func cutMiddle(s string, width int) string {
	switch {
	case widthOf(s) <= width:
		return s
	case width < 4:
		return cutEnd(s, width)
	}
	head := ansi.Truncate(s, (width-1)/2, "")
	return head + cutFront(s, width-widthOf(head))
}

// palette colours text for a terminal, or leaves it unchanged.
type palette struct{ on bool }

type paint string

const (
	bold   paint = "1"
	dim    paint = "2"
	red    paint = "31"
	green  paint = "32"
	yellow paint = "33"
	blue   paint = "34"
	purple paint = "35"
	cyan   paint = "36"
)

func (p palette) paint(style paint, text string) string {
	if !p.on || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// opStyle is the presentation of an operation: its sign (E8.1), colour, and words while it runs, when it is done, and
// as a plan.
type opStyle struct {
	sign                   string
	color                  paint
	running, done, planned string
}

// failedSign is in front of a resource that failed or was interrupted.
const failedSign = "✗"

// opMove is the operation that views show for a resource that only gets another URN.
const opMove engine.Op = "move"

// opGone is the operation that a refresh shows for a deleted resource.
const opGone engine.Op = "gone"

var opStyles = map[engine.Op]opStyle{
	engine.OpSame:                 {" ", dim, "checking", "unchanged", "unchanged"},
	opMove:                        {">", cyan, "moving", "moved", "move"},
	engine.OpCreate:               {"+", green, "creating", "created", "create"},
	engine.OpUpdate:               {"~", yellow, "updating", "updated", "update"},
	engine.OpDelete:               {"-", red, "deleting", "deleted", "delete"},
	engine.OpReplace:              {"+-", purple, "replacing", "replaced", "replace"},
	engine.OpCreateReplacement:    {"++", green, "creating replacement", "created replacement", "create replacement"},
	engine.OpDeleteReplaced:       {"--", red, "deleting original", "deleted original", "delete original"},
	engine.OpRead:                 {">", cyan, "reading", "read", "read"},
	engine.OpReadReplacement:      {">>", cyan, "reading replacement", "read replacement", "read replacement"},
	engine.OpRefresh:              {"~", yellow, "refreshing", "refreshed", "refresh"},
	opGone:                        {"-", red, "refreshing", "is gone", "is gone"},
	engine.OpDiscard:              {"<", dim, "discarding", "discarded", "discard"},
	engine.OpDiscardReplaced:      {"<<", dim, "discarding original", "discarded original", "discard original"},
	engine.OpRemovePendingReplace: {" ", dim, "forgetting", "already deleted, forgotten", "already deleted, forget"},
	engine.OpImport:               {"=", blue, "importing", "imported", "import"},
	engine.OpImportReplacement:    {"=>", blue, "importing replacement", "imported replacement", "import replacement"},
}

// summaryOrder is the order of the counts in the summary.
var summaryOrder = []engine.Op{engine.OpCreate, engine.OpImport, engine.OpUpdate, engine.OpReplace, engine.OpDelete,
	engine.OpDeleteReplaced, opMove, engine.OpDiscard, engine.OpRead, engine.OpSame}

// DoneWords returns the changes of a past operation, by the names that the history has for them, in the order and the
// words of the summary: 2 created, 1 unchanged. Names that the summary does not have come last.
func DoneWords(changes map[string]int) string {
	var words []string
	known := map[string]bool{}
	for _, op := range summaryOrder {
		known[string(op)] = true
		if n := changes[string(op)]; n != 0 {
			words = append(words, fmt.Sprintf("%d %s", n, opStyles[op].done))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		if !known[name] {
			words = append(words, fmt.Sprintf("%d %s", changes[name], cmp.Or(opStyles[engine.Op(name)].done, name)))
		}
	}
	return strings.Join(words, ", ")
}

// Seconds formats a duration; empty if it is negligible. The console formats them alike.
func Seconds(d time.Duration) string {
	switch {
	case d < 100*time.Millisecond:
		return ""
	case d < 9950*time.Millisecond:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	d = d.Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}
