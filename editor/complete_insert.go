package editor

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/parser"
)

// Completions must fit the text around them: open quotes, a colon that is already there, JSON.

// surroundings describes the text around the completed word.
type surroundings struct {
	json   bool
	quote  string // the quote before the word; empty if there is none
	closed bool   // reports whether the quote also follows the word
	colon  bool   // reports whether a colon follows the word
	brace  bool   // reports whether the word needs a closing brace behind it
}

// surroundingsOf describes the text around the word of c.
func surroundingsOf(text []byte, c parser.Context) surroundings {
	s := surroundings{json: bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{"))}
	if c.Start > 0 && (text[c.Start-1] == '"' || text[c.Start-1] == '\'') {
		s.quote = string(text[c.Start-1])
	}
	s.brace = c.Kind == parser.NameCursor && unclosed(text, c)
	behind := text[c.End:]
	if s.quote != "" && bytes.HasPrefix(behind, []byte(s.quote)) {
		s.closed, behind = true, behind[1:]
	}
	behind = bytes.TrimLeft(behind, " \t")
	s.colon = len(behind) > 0 && behind[0] == ':' && (len(behind) == 1 || white(behind[1]) || s.closed)
	return s
}

// unclosed reports whether the word in `${…}` may end the expression and no brace closes it. A second brace would be a
// fault that people notice only in a run. Whether one is there depends on quotes, brackets and the lines that continue
// the value.
func unclosed(text []byte, c parser.Context) bool {
	start := bytes.LastIndexByte(text[:c.Start], '\n') + 1
	begin := start + max(bytes.LastIndex(text[start:c.Start], []byte("${")), 0)
	e := expressionScan{quote: openQuote(text[start:begin])}
	// What is open at the word decides whether the expression may end there.
	for i := begin + 2; i < c.Start; {
		i += e.step(text, i)
	}
	// The word is in an argument or an index, so the expression goes on behind it.
	if e.inText || len(e.open) > 0 {
		return false
	}
	// The value goes on in lines that are as deep as this one, or deeper if this one has its key or dash.
	least := len(indentOf(text, start)) // indentation of lines that continue the value
	if parser.BeginsValue(text, start) {
		least++
	}
	for i := c.End; i < len(text) && !e.ended; {
		if text[i] == '\n' && !deepEnough(text[i+1:], least) {
			return true
		}
		i += e.step(text, i)
	}
	return !e.closed
}

// deepEnough reports whether the next non-empty line is indented by at least least blanks.
func deepEnough(text []byte, least int) bool {
	for line := range bytes.Lines(text) {
		if rest := bytes.TrimLeft(line, " "); len(bytes.TrimSpace(rest)) > 0 {
			return len(line)-len(rest) >= least
		}
	}
	return false
}

// openQuote returns the quote that is open at the end of line, the first part of a line; 0 if there is none. A quote
// within a word, as in don't, opens nothing.
func openQuote(line []byte) (quote byte) {
	for i := 0; i < len(line); i++ {
		switch ch := line[i]; {
		case quote == '"' && ch == '\\':
			i++
		case ch == quote:
			quote = 0
		case quote == 0 && (ch == '"' || ch == '\'') && (i == 0 || bytes.IndexByte([]byte(" [{,"), line[i-1]) >= 0):
			quote = ch
		}
	}
	return quote
}

// expressionScan reads an expression up to its closing brace or the end of the surrounding value. It recognizes only
// brackets and quoted texts.
type expressionScan struct {
	quote         byte   // quote around the value; 0 if there is none
	open          []byte // open brackets
	inText        bool   // reports whether the scan is inside a quoted text of the expression
	closed, ended bool   // closed by its brace; ended by the brace or otherwise
}

// step reads the character or escape at an offset and returns its length in bytes. In a double-quoted YAML value, the
// quotes of the expression's own texts are escaped, which is why \" begins and ends one.
func (e *expressionScan) step(text []byte, i int) int {
	ch, next := text[i], byte(0)
	if i+1 < len(text) {
		next = text[i+1]
	}
	switch {
	case e.quote == '"' && ch == '\\':
		e.inText = e.inText != (next == '"')
		return 2
	case e.quote == '\'' && ch == '\'' && next == '\'':
		return 2
	case ch == e.quote:
		e.ended = true
	case ch == '\\' && e.inText:
		return 2
	case ch == '"':
		e.inText = !e.inText
	case e.inText:
	case ch == '$' && next == '{':
		e.ended = true // another expression begins
	case ch == '(' || ch == '[' || ch == '{':
		e.open = append(e.open, ch)
	case (ch == ')' || ch == ']' || ch == '}') && len(e.open) > 0:
		e.open = e.open[:len(e.open)-1]
	case ch == '}':
		e.closed, e.ended = true, true
	}
	return 1
}

// fit adapts the inserted texts to the surroundings. closing reports whether they also replace the quote behind the
// word. Items are made for plain YAML, without regard to what stands around them.
func (s surroundings) fit(items []Item, c parser.Context) (closing bool) {
	if c.Kind == parser.NameCursor {
		for i := range items {
			if s.brace && items[i].Kind != FunctionItem { // the arguments of a function follow
				items[i].Insert += "}"
			}
		}
		return false
	}
	key := c.Kind == parser.KeyCursor
	closing = key && s.closed && !s.colon
	for i := range items {
		item := &items[i]
		name, isKey := strings.CutSuffix(strings.TrimSuffix(item.Insert, " "), ":")
		// The colon of a package is part of a token that is being typed, as in random:.
		isKey = isKey && item.Kind != PackageItem
		switch {
		case isKey && s.colon:
			item.Insert = name
		case isKey && s.quote != "":
			item.Insert = name + s.quote + ": "
		case isKey && s.json:
			item.Insert = strconv.Quote(name) + ": "
		case isKey:
		case s.quote != "":
			item.Insert = strings.Trim(item.Insert, `"`)
			if closing {
				item.Insert += s.quote
			}
		case s.json && !plainJSON(item.Insert):
			item.Insert = strconv.Quote(strings.Trim(item.Insert, `"`))
		}
	}
	return closing
}

// plainJSON reports whether JSON writes a value without quotes.
func plainJSON(text string) bool {
	if text == "true" || text == "false" || text == "null" {
		return true
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}
