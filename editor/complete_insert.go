package editor

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/parser"
)

// How completions fit into the surrounding text: open quotes, an existing colon, JSON.

// surroundings is the text around a word that is completed.
type surroundings struct {
	json   bool
	quote  string // before the word; empty for none
	closed bool   // it stands behind the word too
	colon  bool   // the word is a key with its colon
	brace  bool   // the word is the last of an expression that no brace closes
}

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

// unclosed reports whether the closing brace is missing after a word in `${…}` that may end the expression.
func unclosed(text []byte, c parser.Context) bool {
	start := bytes.LastIndexByte(text[:c.Start], '\n') + 1
	begin := start + max(bytes.LastIndex(text[start:c.Start], []byte("${")), 0)
	e := expressionScan{quote: openQuote(text[start:begin])}
	for i := begin + 2; i < c.Start; {
		i += e.step(text, i)
	}
	if e.inText || len(e.open) > 0 {
		return false
	}
	indent := start
	for indent < begin && text[indent] == ' ' {
		indent++
	}
	least := indent - start // of the lines that may continue the value
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

// deepEnough reports whether the next non-empty line has at least that indentation.
func deepEnough(text []byte, least int) bool {
	for line := range bytes.Lines(text) {
		if rest := bytes.TrimLeft(line, " "); len(bytes.TrimSpace(rest)) > 0 {
			return len(line)-len(rest) >= least
		}
	}
	return false
}

// openQuote returns the quote that is open at the end of line; 0 for none.
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
	quote         byte   // around the value; 0 for none
	open          []byte // brackets
	inText        bool   // of the expression
	closed, ended bool
}

// step reads the token at an offset, and returns its length in bytes.
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
		e.ended = true // of another one
	case ch == '(' || ch == '[' || ch == '{':
		e.open = append(e.open, ch)
	case (ch == ')' || ch == ']' || ch == '}') && len(e.open) > 0:
		e.open = e.open[:len(e.open)-1]
	case ch == '}':
		e.closed, e.ended = true, true
	}
	return 1
}

// fit adapts items to the surrounding text. closing reports whether they also replace the quote after the word.
func (s surroundings) fit(items []Item, c parser.Context) (closing bool) {
	if c.Kind == parser.NameCursor {
		for i := range items {
			if s.brace && items[i].Kind != FunctionItem { // its arguments follow
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

// plainJSON reports whether a value needs no quotes in JSON.
func plainJSON(text string) bool {
	if text == "true" || text == "false" || text == "null" {
		return true
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}
