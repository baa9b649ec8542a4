package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/internal/printable"
)

// MenuItem is one line of a menu.
type MenuItem struct {
	Name string
	Note string // what it is; shown dimmed
}

// A Menu is a list on a terminal from which a person chooses by typing a part of a name, by arrows, and by Enter. It
// does not read the terminal: its caller passes the keys on. The zero value has no items.
type Menu struct {
	Question string
	Items    []MenuItem
	// Other names what a text without a matching item stands for, such as "a folder"; empty if only items can be
	// chosen.
	Other string
	// At is the item under the cursor at first, or -1 for none in particular; and then the chosen item, or -1 if the
	// text is none of them.
	At    int
	Color bool

	text    string // typed so far
	matches []int  // the items that match text, the best first
	cursor  int    // of matches
	top     int    // the first match on the screen
	region  region
}

// MenuState is the state of a menu after a key.
type MenuState int

// The states of a menu.
const (
	MenuOpen MenuState = iota
	MenuChosen
	MenuCancelled
)

// Text returns what the person has typed.
func (m *Menu) Text() string { return m.text }

// Open begins with the item At under the cursor.
func (m *Menu) Open(screen io.Writer) {
	m.region.screen = screen
	m.filter()
	m.cursor = max(0, m.At)
}

// mostRows is how many items a menu shows at once on a high terminal.
const mostRows = 20

// Press handles one key: a character, or the sequence that a terminal sends for a key.
func (m *Menu) Press(key string) MenuState {
	switch key {
	case "\r", "\n":
		switch {
		case len(m.matches) > 0:
			m.At = m.matches[m.cursor]
		case m.Other != "":
			m.At = -1
		default:
			return MenuOpen
		}
		return MenuChosen
	case "\x03", "\x04", "\x1b": // Ctrl-C, Ctrl-D, Esc
		return MenuCancelled
	case "\x1b[A", "\x1bOA", "\x10":
		m.move(-1)
	case "\x1b[B", "\x1bOB", "\x0e":
		m.move(1)
	case "\x1b[5~":
		m.move(-mostRows / 2)
	case "\x1b[6~":
		m.move(mostRows / 2)
	case "\x1b[H", "\x1bOH", "\x1b[1~":
		m.move(-len(m.matches))
	case "\x1b[F", "\x1bOF", "\x1b[4~":
		m.move(len(m.matches))
	case "\x7f", "\b":
		_, size := utf8.DecodeLastRuneInString(m.text)
		m.text = m.text[:len(m.text)-size]
		m.filter()
	case "\x15": // Ctrl-U
		m.text = ""
		m.filter()
	default:
		if !strings.ContainsFunc(key, func(r rune) bool { return !unicode.IsPrint(r) }) {
			m.text += key
			m.filter()
		}
	}
	return MenuOpen
}

func (m *Menu) move(by int) {
	m.cursor = max(0, min(m.cursor+by, len(m.matches)-1))
}

// filter finds the items that have all typed words in their name or note: first the one of that name, then those whose
// names begin with the text, then those that have it in their names.
func (m *Menu) filter() {
	text := strings.ToLower(strings.TrimSpace(m.text))
	words := strings.Fields(text)
	rank := make([]int, len(m.Items))
	m.matches, m.cursor, m.top = m.matches[:0], 0, 0
	for i, item := range m.Items {
		name := strings.ToLower(item.Name)
		all := name + " " + strings.ToLower(item.Note)
		if slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(all, word) }) {
			continue
		}
		switch {
		case name == text:
		case strings.HasPrefix(name, text):
			rank[i] = 1
		case strings.Contains(name, text):
			rank[i] = 2
		default:
			rank[i] = 3
		}
		m.matches = append(m.matches, i)
	}
	slices.SortStableFunc(m.matches, func(a, b int) int { return cmp.Compare(rank[a], rank[b]) })
}

// Draw shows the menu, in place of what it showed before, on a terminal of the given size; 0 for an unknown one.
func (m *Menu) Draw(width, height int) {
	m.region.show(m.lines(width, height), width)
}

// Close replaces the menu by the question and its answer; by the question alone without one.
func (m *Menu) Close(answer string, width int) {
	m.region.show(nil, width)
	fmt.Fprintf(m.region.screen, "%s: %s\n", m.Question, printable.Text(answer))
}

// lines returns the menu's lines, fewer than height: the question with what was typed, some items, and how many there
// are.
func (m *Menu) lines(width, height int) []string {
	if height <= 0 {
		height = 24
	}
	p, room := palette{m.Color}, width-1
	if width <= 0 {
		room = 79
	}
	cut := func(style paint, text string) string { return p.paint(style, cutEnd(text, room)) }

	typed := printable.Text(m.text)
	if most := max(1, room-widthOf(m.Question)-4); widthOf(typed) > most { // its end is being edited
		typed = cutFront(typed, most)
	}
	lines := []string{cutEnd(p.paint(bold, m.Question+":")+" "+typed+"_", room)}

	rows := max(1, min(height-3, mostRows))
	m.top = max(0, min(m.top, m.cursor), m.cursor-rows+1)
	shown := m.matches[m.top:min(len(m.matches), m.top+rows)]
	column := 0
	for _, i := range shown {
		column = max(column, widthOf(printable.Text(m.Items[i].Name)))
	}
	column = min(column, max(1, room*3/5))
	for n, i := range shown {
		sign, style := "  ", paint("")
		if m.top+n == m.cursor {
			sign, style = "> ", cyan
		}
		name := fill(cutMiddle(printable.Text(m.Items[i].Name), column), column)
		line := cutEnd(sign+name, room)
		note := cutEnd("  "+printable.Text(m.Items[i].Note), room-widthOf(line))
		if m.Items[i].Note == "" {
			note = ""
		}
		if style == "" {
			lines = append(lines, line+p.paint(dim, note))
		} else {
			lines = append(lines, p.paint(style, line)+p.paint(dim, note))
		}
	}
	return append(lines, cut(dim, "  "+m.advice(len(shown))))
}

func (m *Menu) advice(shown int) string {
	switch {
	case len(m.matches) == 0 && m.Other != "" && m.text != "":
		return "Enter takes it as " + m.Other
	case len(m.matches) == 0:
		return "nothing matches; Backspace goes back, Esc ends"
	case shown < len(m.matches) || len(m.matches) < len(m.Items):
		return fmt.Sprintf("%d to %d of %d; arrows and Enter choose, Esc ends", m.top+1, m.top+shown, len(m.matches))
	}
	return "type to search; arrows and Enter choose, Esc ends"
}
