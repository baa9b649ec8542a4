package editor

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/parser"
)

// How completions fit into the text around them: quotes that are open, a colon that is there already, JSON.

// surroundings is the text around a word that is completed.
type surroundings struct {
	json   bool
	quote  string // that stands in front of the word; empty for none
	closed bool   // it stands behind the word too
	colon  bool   // the word is a key with its colon
}

func surroundingsOf(text []byte, c parser.Context) surroundings {
	s := surroundings{json: bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{"))}
	if c.Start > 0 && (text[c.Start-1] == '"' || text[c.Start-1] == '\'') {
		s.quote = string(text[c.Start-1])
	}
	behind := text[c.End:]
	if s.quote != "" && bytes.HasPrefix(behind, []byte(s.quote)) {
		s.closed, behind = true, behind[1:]
	}
	behind = bytes.TrimLeft(behind, " \t")
	s.colon = len(behind) > 0 && behind[0] == ':' && (len(behind) == 1 || white(behind[1]) || s.closed)
	return s
}

// fit makes items fit where they go. closing says that they take the place of the quote behind the word too.
func (s surroundings) fit(items []Item, c parser.Context) (closing bool) {
	if c.Kind == parser.NameCursor {
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

// plainJSON reports whether a value stands in JSON without quotes.
func plainJSON(text string) bool {
	if text == "true" || text == "false" || text == "null" {
		return true
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}
