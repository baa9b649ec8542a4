package yamlnode

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
)

// The YAML parser stops at the first error. The line that it reports may be that of the error, the one before, or the
// first line of the collection around it. Suspicious tokens usually reveal the exact position and often the cause.

var yamlError = lazyregexp.New(`^yaml: (?:line (\d+): )?((?s:.*))$`)

// syntaxCause is a group of messages of the YAML parser with their usual causes, the most likely one first.
type syntaxCause struct {
	message string
	causes  []suspect
}

var syntaxCauses = []syntaxCause{
	{"unknown anchor", []suspect{suspectAlias}},
	{"did not find expected alphabetic or numeric character", []suspect{suspectAlias}},
	{"mapping values are not allowed", []suspect{suspectKey, suspectTail, suspectColon, suspectTab, suspectQuoteTail,
		suspectItem, suspectIndent}},
	{"block sequence entries are not allowed", []suspect{suspectDash, suspectTab, suspectItem, suspectIndent}},
	{"found character that cannot start any token", []suspect{suspectTab, suspectReserved, suspectFlowOpen}},
	{"found a tab character", []suspect{suspectTab}},
	{"found unknown escape character", []suspect{suspectEscape}},
	{"did not find expected hexdecimal number", []suspect{suspectEscape}},
	{"found invalid Unicode character escape code", []suspect{suspectEscape}},
	{"found unexpected end of stream", []suspect{suspectQuoteOpen}},
	{"found unexpected document indicator", []suspect{suspectQuoteOpen}},
	{"did not find expected comment or line break", []suspect{suspectHeader}},
	{"could not find expected ':'", []suspect{suspectKey, suspectTail, suspectFlowOpen, suspectComma, suspectQuoteTail,
		suspectTab, suspectItem, suspectIndent}},
	{"did not find expected ',' or", []suspect{suspectInterpolation, suspectQuoteTail, suspectTail, suspectCloser,
		suspectFlowOpen, suspectComma}},
	{"did not find expected node content", []suspect{suspectInterpolation, suspectTail, suspectCloser, suspectFlowOpen,
		suspectComma, suspectTab}},
	{"did not find expected key", []suspect{suspectQuoteTail, suspectTail, suspectCloser, suspectTab, suspectItem,
		suspectIndent, suspectDash, suspectKey}},
	{"did not find expected '-' indicator", []suspect{suspectQuoteTail, suspectTail, suspectCloser, suspectTab,
		suspectItem, suspectIndent, suspectKey}},
	{"", []suspect{suspectTail, suspectCloser, suspectQuoteTail, suspectTab, suspectItem, suspectIndent,
		suspectFlowOpen, suspectQuoteOpen, suspectReserved}},
}

// syntaxFault describes a syntax error that has been reported.
type syntaxFault struct {
	sure  bool // the cause is certainly in the reported line
	vague bool // no cause was found, and the place is that of the YAML parser
	comma int  // offset at which a missing comma can be inserted; 0 if unknown
	// indent reports whether the line is indented unlike those around it.
	indent bool
}

// Explain returns the finding about an error of the YAML parser.
func (t *Tree) Explain(err error) diag.Diagnostic {
	found, _ := explain(&t.Text, t.Tokens, err)
	return found
}

// explanation looks for the cause of one syntax error among the suspicious tokens.
type explanation struct {
	of     *Text
	text   []byte
	tokens *Tokens
	found  diag.Diagnostic // result
	fault  syntaxFault
}

// at returns a range of the text.
func (e *explanation) at(start, end int) diag.Range { return e.of.At(start, end) }

// explain returns the finding about an error of the YAML parser.
func explain(text *Text, tokens *Tokens, err error) (diag.Diagnostic, syntaxFault) {
	e := explanation{of: text, text: text.Bytes, tokens: tokens}
	e.explain(err)
	return e.found, e.fault
}

// say sets the finding. The caller may add to the result.
func (e *explanation) say(rng diag.Range, detail, format string, args ...any) *diag.Diagnostic {
	e.found = diag.Diagnostic{Code: diag.Syntax, Subject: rng, Detail: detail, Summary: fmt.Sprintf(format, args...)}
	return &e.found
}

// explain reports an error of the YAML parser.
func (e *explanation) explain(err error) {
	line, message := 0, err.Error()
	if m := yamlError().FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = m[2]
	}
	if s := e.tokens.first(suspectQuoteFar, suspectFlowFar); s != nil {
		known := line
		if s.kind == suspectFlowFar {
			known++ // the YAML parser may report the line before the opening bracket
		}
		if LineOf(e.text, s.at) <= known {
			e.suspect(s)
			return
		}
	}
	for _, group := range syntaxCauses {
		if !strings.Contains(message, group.message) {
			continue
		}
		for _, cause := range group.causes {
			if s := e.tokens.first(cause); s != nil {
				e.suspect(s)
				return
			}
		}
		if group.message != "" {
			break
		}
	}
	if strings.HasPrefix(message, "did not find expected") && line > 0 {
		line++ // the library counts lines from 0 in errors of its parser, and from 1 in those of its scanner
	}
	start, end := LineAt(e.text, max(line, 1))
	e.fault.vague = true
	e.say(e.at(start, end), "the cause may be on the line before", "the YAML syntax is broken here: %s",
		ownWords(message))
}

// plainSuspects holds the messages for causes that only need a position.
var plainSuspects = map[suspect]struct{ detail, summary string }{
	suspectQuoteOpen: {"add the missing quote at the end of the text", "the text that begins here is never closed"},
	suspectQuoteFar:  {"add the missing quote at the end of the text", "the text that begins here is never closed"},
	suspectTab:       {"indent with spaces", "a tab cannot be used for indentation"},
	suspectInterpolation: {"inside of brackets, put it in quotes: '${…}'",
		"`${…}` needs quotes in a list or map that is written in brackets"},
	suspectDash:   {"begin the list on the next line", "a list item cannot follow a key on the same line"},
	suspectItem:   {"remove the dash, or indent the item below its key", "a list item stands between the keys of a map"},
	suspectHeader: {"begin the text on the next line", "nothing may follow `|` or `>` on its line"},
}

// accuse reports a suspicion as the cause of the error.
func (e *explanation) suspect(s *suspicion) {
	switch s.kind {
	case suspectInterpolation, suspectColon, suspectReserved, suspectComma, suspectTail, suspectDash, suspectItem,
		suspectHeader, suspectEscape:
		e.fault.sure = true
	}
	e.fault.indent = s.kind == suspectIndent || s.kind == suspectColon || s.kind == suspectItem
	rng := e.at(s.at, min(s.end, len(e.text)))
	if (s.kind == suspectInterpolation || s.kind == suspectQuoteTail) && outgrown(e.text, s.from, s.at) {
		// The scalar contains lines that look like entries of the surrounding map and were intended as such: the
		// closing quote or bracket is missing before them.
		kind := suspectQuoteOpen
		if s.kind == suspectInterpolation {
			kind = suspectFlowOpen
		}
		s = &suspicion{kind: kind, at: s.from, end: s.from + 1}
		rng = e.at(s.at, s.end)
	}
	if words, known := plainSuspects[s.kind]; known {
		e.say(rng, words.detail, "%s", words.summary)
		return
	}
	switch s.kind {
	case suspectQuoteTail:
		start, end := e.of.ShownLine(e.at(s.from, s.from)), e.of.ShownLine(rng)
		detail := "a quoted text is a whole value: quote all of it, and write a quote inside of it twice ('') or escaped " +
			"(\\\")"
		if end != start {
			detail = "the quote on line " + strconv.Itoa(start) + " seems to have no end; the next quote has closed it"
		}
		d := e.say(rng, detail, "nothing may follow a quoted text")
		d.Related = []diag.Related{{Range: e.at(s.from, s.from+1), Message: "the quoted text begins here"}}
	case suspectFlowOpen, suspectFlowFar:
		open := string(e.text[s.at])
		e.say(rng, "add the missing `"+string(Closer(e.text[s.at]))+"`", "`%s` is never closed", open)
	case suspectComma:
		start := s.at - 1
		d := e.say(e.at(start, s.at), "", "a comma is missing after this")
		d.Fixes = []diag.Fix{{Label: "Add a comma", Edits: []diag.Edit{{Range: e.at(s.at, s.at), Text: ","}}}}
		e.fault.comma = s.end - 1
	case suspectTail:
		open := e.text[s.from]
		e.say(e.at(s.from, s.end), "put a text that begins with `"+string(open)+
			"` in quotes; a reference is written `${name}`",
			"nothing may follow `%c`", Closer(open))
	case suspectCloser:
		if s.from < 0 {
			e.say(rng, "remove it, or put the text in quotes", "`%s` closes nothing", e.text[s.at:s.end])
			return
		}
		d := e.say(rng, "", "`%s` cannot close `%c`", e.text[s.at:s.end], e.text[s.from])
		d.Related = []diag.Related{{Range: e.at(s.from, s.from+1), Message: "opened here"}}
	case suspectColon:
		e.colon(s, rng)
	case suspectAlias:
		if s.end < len(e.text) && !BlankAt(e.text, s.end) {
			e.say(e.at(s.at, s.at+1), "put the text in quotes",
				"text without quotes cannot begin with `*`, which begins an alias")
			return
		}
		name := diag.Excerpt(string(e.text[s.at+1 : s.end]))
		e.say(rng, "an anchor is written `&"+name+"`, before the alias; quote a text that begins with `*`",
			"there is no anchor called `%s`", name)
	case suspectReserved:
		e.say(rng, "put the text in quotes", "a text without quotes cannot begin with `%s`", e.text[s.at:s.end])
	case suspectKey:
		_, detail := Unseparated(e.text[s.at:s.end])
		e.say(rng, detail, "`:` is missing after a key")
	case suspectIndent:
		if key, ok := e.fieldAt(s.at); ok && s.from == 1 {
			e.say(rng, "write the name of the entry in the line above, as deep as the other entries",
				"`%s` belongs to an entry whose name is missing", diag.Excerpt(key)).Code = diag.Nameless
			return
		}
		e.misaligned(s.at)
	case suspectEscape:
		e.escape(s)
	}
}

// fieldAt returns the key at an offset of a block if it is a field of an entry; false otherwise.
func (e *explanation) fieldAt(offset int) (string, bool) {
	if e.of.FieldAt == nil || e.of.Lead == 0 {
		return "", false
	}
	return e.of.FieldAt(e.text[:e.of.Lead], e.text[offset:])
}

// escape reports an invalid escape.
func (e *explanation) escape(s *suspicion) {
	_, size := utf8.DecodeRune(e.text[s.at+1:])
	end := s.at + 1 + size
	detail := "write `\\\\` for a backslash, or use single quotes"
	digits := hexEscapes[e.text[s.at+1]]
	for ; digits > 0 && end < len(e.text) && strings.IndexByte("0123456789abcdefABCDEF", e.text[end]) >= 0; digits-- {
		end++
	}
	rng := e.at(s.at, end)
	if strings.HasPrefix(strings.ToLower(rng.Text()), `\ud`) {
		detail = "write the character itself, or use `\\U` with its eight digits"
	}
	e.say(rng, detail, "there is no escape `%s`", rng.Text())
}

func (e *explanation) colon(s *suspicion, rng diag.Range) {
	line := contentBegin(e.text, s.at)
	if start, end, ok := wordAbove(e.text, line); ok {
		e.say(e.at(start, end), "a line in a map is written `key: value`", "`:` is missing after a key")
		return
	}
	if body := SkipSpaces(e.text, line); LineOf(e.text, s.from) < LineOf(e.text, s.at) &&
		KeyEnd(e.text, Line{Start: body, End: LineEnd(e.text, body)}) == s.at+1 && e.tokens.first(suspectTab) == nil {
		e.misaligned(body)
		return
	}
	prefix := e.text[line:s.at]
	if dollar := bytes.LastIndex(prefix, []byte("${")); dollar >= 0 && !bytes.Contains(prefix[dollar:], []byte("}")) {
		e.say(e.at(line+dollar, LineEnd(e.text, s.at)), tornBy(':'),
			"an expression with `: ` in it needs quotes around the whole text")
		return
	}
	e.say(rng, "put a text that holds `: ` in quotes; a map begins on the next line, indented",
		"a second `: ` in one entry")
}

// misaligned reports the indentation of the line whose content begins at an offset, or that of the only entry above it
// in its map, if more lines are indented like this one.
func (e *explanation) misaligned(at int) {
	const words, detail = "this line is indented like none of those around it", "align it with the entries that it belongs to"
	if odd := e.oddAbove(at); odd >= 0 {
		e.say(e.at(odd, odd+1), detail, words)
		return
	}
	e.say(e.at(at, at+1), detail, words)
}

// oddAbove returns the offset of the only entry above the line at an offset that belongs to the same map and is
// indented by one column more or less; -1 if there is none, or if it is not clear which of the two is wrong.
func (e *explanation) oddAbove(at int) int {
	begin := contentBegin(e.text, at)
	indent := at - begin
	above := ContentLines(e.text[:begin])
	var less, more []Line
	for i := len(above) - 1; i >= 0 && above[i].Indent >= indent-1; i-- {
		switch above[i].Indent {
		case indent:
			return -1
		case indent - 1:
			less = append(less, above[i])
		case indent + 1:
			more = append(more, above[i])
		}
	}
	odd := -1
	switch {
	case len(less) == 1 && !BareKey(e.text, less[0]):
		odd = less[0].Start
	case len(less) == 0 && len(more) == 1:
		odd = more[0].Start
	default:
		return -1
	}
	for _, l := range ContentLines(e.text[at:])[1:] {
		if l.Indent < indent-1 {
			break
		}
		if l.Indent == indent {
			return odd
		}
	}
	return -1
}

// wordAbove returns the line above the one that begins at an offset, if it is a single word that is indented less:
// probably a key whose colon is missing, so that both lines form one scalar.
func wordAbove(text []byte, line int) (start, end int, ok bool) {
	end = line - breakBefore(text, line)
	start = contentBegin(text, end)
	indent := SkipSpaces(text, line) - line
	begin := start
	start = SkipSpaces(text[:end], start)
	end = TrimEnd(text, start, end)
	return start, end, end > start && start-begin < indent && isWord(text[start:end]) && text[end-1] != ':'
}

// ownWords returns a message for users in place of one of the YAML parser that has no group.
func ownWords(message string) string {
	for _, w := range []struct{ contains, words string }{
		{"undefined tag handle", "the tag has a prefix that is not declared"},
		{"tag", "a tag is malformed"},
		{"directive", "a line that begins with `%` is malformed"},
		{"anchor", "the name of an anchor or alias is malformed"},
		{"alias", "the name of an anchor or alias is malformed"},
		{"alphabetic or numeric", "the name of an anchor or alias is malformed"},
		{"<document start>", "there is text after the end of the program"},
		{"indentation indicator", "the indentation of a text cannot be 0"},
		{"key", "a key was expected"},
		{"',' or", "a comma or a closing bracket was expected"},
		{"content", "a value was expected"},
		{"':'", "`:` was expected after a key"},
		{"quoted", "a quoted text is malformed"},
	} {
		if strings.Contains(message, w.contains) {
			return w.words
		}
	}
	return "it cannot be read as YAML"
}

// TornAdvice returns advice if YAML seems to have ended an unquoted scalar in the middle of an expression, and an empty
// string otherwise.
func TornAdvice(text []byte, n *Node) string {
	if n.Quoted() || n.Multiline() {
		return ""
	}
	i := SkipBlanks(text, n.End)
	rest := string(text[i:LineEnd(text, i)])
	if rest == "" || !strings.Contains(rest, "}") {
		return ""
	}
	return tornBy(rest[0])
}

// tornBy returns the advice for an expression that was cut off at a character with a meaning in YAML.
func tornBy(c byte) string {
	const advice = "; put the whole text in quotes: '${…}'"
	switch c {
	case '#':
		return "in a text without quotes, ` #` begins a comment" + advice
	case ':':
		return "in a text without quotes, `: ` ends a key" + advice
	}
	return "inside of brackets, a text without quotes ends at `" + string(c) + "`" + advice
}
