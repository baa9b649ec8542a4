package console

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/printable"
)

// Choose has a person choose one of the items of a menu, and returns its index and name, or -1 and another text if the
// menu takes others. It returns ErrDeclined if the person ends the menu, and io.EOF if there is no answer. A terminal
// whose cursor cannot move gets a numbered list and a question.
func (p Prompt) Choose(m view.Menu) (int, string, error) {
	m.Color = p.color
	if p.streams.Keys == nil || !p.moves {
		return p.chooseByLine(m)
	}
	restore, err := p.streams.Keys()
	if err != nil {
		return p.chooseByLine(m)
	}
	defer restore()
	m.Open(returns{p.screen})
	for {
		width, height := 0, 0
		if p.streams.Size != nil {
			width, height = p.streams.Size()
		}
		m.Draw(width, height)
		key, err := p.key()
		state := view.MenuCancelled
		if err == nil {
			state = m.Press(key)
		}
		switch {
		case state == view.MenuCancelled:
			m.Close("", width)
			if err == nil {
				err = ErrDeclined
			}
			return 0, "", err
		case state == view.MenuChosen && m.At < 0:
			m.Close(m.Text(), width)
			return -1, m.Text(), nil
		case state == view.MenuChosen:
			m.Close(m.Items[m.At].Name, width)
			return m.At, m.Items[m.At].Name, nil
		}
	}
}

// returns is a terminal that does not return to the first column by itself, as while it delivers single keys.
type returns struct{ out io.Writer }

// Write writes text with a carriage return before each line feed.
func (r returns) Write(text []byte) (int, error) {
	_, err := io.WriteString(r.out, strings.ReplaceAll(string(text), "\n", "\r\n"))
	return len(text), err
}

// escapeDelay is how long the rest of a key's sequence may take. Without a rest, it is the key Esc.
const escapeDelay = 100 * time.Millisecond

// key reads one key: a character, or the sequence that a terminal sends. It consumes nothing after the key.
func (p Prompt) key() (string, error) {
	one := func() (string, error) {
		var b [1]byte
		n, err := io.ReadFull(p.streams.In, b[:])
		return string(b[:n]), err
	}
	key, err := p.await(one)
	if err != nil {
		return "", err
	}
	if key == "\x1b" {
		patient := p
		late := make(chan struct{})
		timer := time.AfterFunc(escapeDelay, func() { close(late) })
		defer timer.Stop()
		patient.interrupted = late
		next, err := patient.await(one)
		if key += next; err != nil || next != "[" && next != "O" {
			return key, nil
		}
		for next = ""; next == "" || key[1] == '[' && (next[0] < '@' || next[0] > '~'); key += next {
			if next, err = p.await(one); err != nil {
				return "", err
			}
		}
		return key, nil
	}
	for !utf8.FullRuneInString(key) {
		next, err := p.await(one)
		if err != nil {
			return "", err
		}
		key += next
	}
	return key, nil
}

// chooseByLine is Choose for a terminal without a cursor: the answer is a number, or the beginning of a name.
func (p Prompt) chooseByLine(m view.Menu) (int, string, error) {
	names := 0
	for _, item := range m.Items {
		names = max(names, utf8.RuneCountInString(item.Name))
	}
	for i, item := range m.Items {
		line := fmt.Sprintf("%4d  %-*s  %s", i+1, names, item.Name, item.Note)
		fmt.Fprintln(p.streams.Err, printable.Text(strings.TrimRight(line, " ")))
	}
	usual := "number or name"
	if m.At >= 0 {
		usual = m.Items[m.At].Name
	}
	for {
		fmt.Fprintf(p.streams.Err, "%s (%s): ", m.Question, usual)
		line, err := p.Answer()
		line = strings.TrimSpace(line)
		if err != nil && line == "" {
			return 0, "", err
		}
		if line == "" && m.At >= 0 {
			line = usual
		}
		i, fault := chosen(m.Items, line)
		switch {
		case fault == nil && i >= 0:
			return i, m.Items[i].Name, nil
		case fault == nil && line != "" && m.Other != "":
			return -1, line, nil
		case fault == nil:
			fault = fmt.Errorf("none of them is %q", line)
		}
		fmt.Fprintln(p.streams.Err, fault)
	}
}

// chosen returns the item that an answer names by its number, by its name or by the beginning of that; -1 for none.
func chosen(items []view.MenuItem, answer string) (int, error) {
	if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(items) {
		return n - 1, nil
	}
	var begin []string
	found, whole := -1, 0
	for i, item := range items {
		switch {
		case item.Name == answer:
			found = i
			whole++
		case answer != "" && strings.HasPrefix(item.Name, answer):
			if begin = append(begin, item.Name); whole == 0 {
				found = i
			}
		}
	}
	switch {
	case whole > 1:
		return -1, errors.New("several have that name: which number?")
	case whole == 0 && len(begin) > 1:
		return -1, fmt.Errorf("%s is the beginning of %s: which one?", answer, strings.Join(begin, ", "))
	}
	return found, nil
}
