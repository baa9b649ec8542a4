package yamlnode

import (
	"bytes"
	"slices"
	"strings"
)

// The lexer scans the tokens of a YAML text without ever failing or deciding about their meaning. It determines the
// nesting depth of a text before any other code parses it, and collects likely causes of syntax errors, because the
// YAML parser only reports the line at which it failed.

// suspect is a kind of likely error.
type suspect uint8

const (
	suspectQuoteOpen     suspect = iota // a quoted scalar without an end
	suspectQuoteTail                    // text right after a quoted scalar
	suspectFlowOpen                     // a list or map in brackets without an end
	suspectCloser                       // a closing bracket without a matching opening one
	suspectTab                          // a tab in the indentation
	suspectColon                        // a second ": " in one entry
	suspectAlias                        // an alias without an anchor
	suspectReserved                     // a character that cannot begin a plain scalar
	suspectInterpolation                // an unquoted "${" inside of a list or map in brackets
	suspectIndent                       // a line whose indentation matches none of the lines around it
	suspectDash                         // a list item on the line of its key
	suspectItem                         // a list item between the keys of a map
	suspectEscape                       // an invalid escape
	suspectHeader                       // text after "|" or ">"
	suspectKey                          // a line that is neither a key nor a list item
	suspectComma                        // two values in brackets without a comma between them
	suspectTail                         // text right after a closing bracket
	suspectQuoteFar                     // a quoted scalar that contains lines that are not indented deeper
	suspectFlowFar                      // a list or map in brackets that contains such lines
)

// suspicion is a likely error at the offsets [at, end).
type suspicion struct {
	kind    suspect
	at, end int
	// from is the offset of the related element, such as the opening quote or bracket. For suspectIndent it is 1 if the
	// line is indented deeper than a complete value above, and 0 otherwise.
	from int
}

// Tokens is the result of the lexer.
type Tokens struct {
	TooDeep        int // offset at which the text is nested too deeply; -1 if it is not
	SecondDocument int // offset of the second document; -1 without one
	suspicions     []suspicion
	refused        []refused // escapes that the YAML parser rejects, in the order of the text
	Anchors        map[string]bool
	Unanchored     []string // names of aliases without an anchor above them
	Open           bool     // the text ends inside of quotes or brackets
}

// first returns the first suspicion of one of the kinds, in the order of the text, or nil if there is none.
func (l *Tokens) first(kinds ...suspect) *suspicion {
	for i := range l.suspicions {
		if slices.Contains(kinds, l.suspicions[i].kind) {
			return &l.suspicions[i]
		}
	}
	return nil
}

type lexer struct {
	found     Tokens // result
	text      []byte
	i         int
	lineStart int
	fresh     bool // no token yet on this line
	indents   []int
	items     []bool // of indents: the last line that begins there is, or may be, a list item
	flow      []int  // offsets of open brackets
	far       bool   // the outermost of them is under suspicion already
	value     int    // end of the last value in brackets, until another token follows; -1 without one
	line      int    // lineStart of the line in which that value ends
	complete  bool   // a value has ended that deeper lines cannot continue
	keyLine   int    // lineStart of the last line with a key; -1 if another key may follow
	began     bool   // the first document has begun
	ended     bool   // the first document has ended by "..."
}

// newLexer returns a lexer whose first token begins at or after start, which is the start of a line.
func newLexer(text []byte, start int) *lexer {
	return &lexer{text: text, fresh: true, keyLine: -1, value: -1, i: start, lineStart: start,
		found: Tokens{TooDeep: -1, SecondDocument: -1}}
}

func lex(text []byte) *Tokens {
	l := newLexer(text, TextStart(text))
	for l.found.TooDeep < 0 && l.next() {
	}
	l.found.Open = l.found.Open || len(l.flow) > 0
	if len(l.flow) > 0 && l.found.TooDeep < 0 && outgrown(text, l.flow[0], len(text)) {
		l.suspect(suspectFlowOpen, l.flow[0], l.flow[0]+1, 0) // reported before brackets that are open inside of it
	}
	for i := len(l.flow) - 1; i >= 0 && l.found.TooDeep < 0; i-- {
		l.suspect(suspectFlowOpen, l.flow[i], l.flow[i]+1, 0)
	}
	return &l.found
}

// outgrown reports whether a line in the range is indented no deeper than the line that contains from. Inside of quotes
// or brackets that is invalid.
func outgrown(text []byte, from, to int) bool {
	indent := func(i int) int { return SkipSpaces(text, i) - i }
	limit := indent(contentBegin(text, from))
	for i := from; i < to; i++ {
		n := BreakAt(text, i)
		if n == 0 {
			continue
		}
		if i += n - 1; i+1 <= to && BreakAt(text, i+1+indent(i+1)) == 0 && indent(i+1) <= limit {
			return true
		}
	}
	return false
}

func (l *lexer) suspect(kind suspect, i, end, from int) {
	const enough = 100
	if len(l.found.suspicions) < enough {
		l.found.suspicions = append(l.found.suspicions, suspicion{kind, i, end, from})
	}
}

func (l *lexer) newLine(size int) {
	l.i += size
	l.lineStart, l.fresh = l.i, true
}

// skip moves to the next token.
func (l *lexer) skip() {
	for l.i < len(l.text) {
		if n := BreakAt(l.text, l.i); n > 0 {
			l.newLine(n)
			continue
		}
		switch c := l.text[l.i]; {
		case c == '\t' && l.fresh && len(l.flow) == 0:
			if end := LineEnd(l.text, l.i); !l.onlyBlank(l.i, end) {
				l.suspect(suspectTab, l.i, l.i+1, 0)
			}
			l.i = SkipBlanks(l.text, l.i)
		case IsBlank(c):
			l.i++
		case c == '#' && (l.i == l.lineStart || IsBlank(l.text[l.i-1])):
			l.i = LineEnd(l.text, l.i)
		default:
			return
		}
	}
}

func (l *lexer) onlyBlank(from, to int) bool {
	from = SkipBlanks(l.text[:to], from)
	return from == to || l.text[from] == '#'
}

func (l *lexer) top() int {
	if len(l.indents) == 0 {
		return -1
	}
	return l.indents[len(l.indents)-1]
}

func (l *lexer) push(column int) {
	if column > l.top() {
		l.indents = append(l.indents, column)
		l.checkDepth()
	}
}

func (l *lexer) checkDepth() {
	if len(l.indents)+len(l.flow) > MaxDepth && l.found.TooDeep < 0 {
		l.found.TooDeep = min(l.i, len(l.text)-1)
	}
}

// next scans a token. It returns false at the end of the text.
func (l *lexer) next() bool {
	l.skip()
	if l.i >= len(l.text) {
		return false
	}
	column := l.i - l.lineStart
	if l.fresh && len(l.flow) == 0 {
		popped := false
		for l.top() > column {
			l.indents = l.indents[:len(l.indents)-1]
			popped = true
		}
		if (popped || l.complete) && column > l.top() && !l.marker(l.i) {
			deeper := 0
			if !popped {
				deeper = 1
			}
			l.suspect(suspectIndent, l.i, l.i+1, deeper)
		}
		l.noteItem(column, popped || l.complete)
		l.complete = false
		l.keyLine = -1
		if column == 0 && l.document() {
			return true
		}
	}
	if l.fresh && len(l.flow) > 0 && !l.far && column <= l.top() && l.outsideOf(l.flow[0]) {
		l.far = true
		l.suspect(suspectFlowFar, l.flow[0], l.flow[0]+1, 0)
	}
	l.fresh = false
	if l.ended && l.found.SecondDocument < 0 {
		l.found.SecondDocument = l.i
	}
	l.began = true
	c := l.text[l.i]
	inFlow := len(l.flow) > 0
	if inFlow && l.value >= 0 && strings.IndexByte("\"'[{", c) >= 0 {
		l.suspect(suspectComma, l.value, l.i, 0)
	}
	switch {
	case (c == '-' || c == '?') && !inFlow && BlankAt(l.text, l.i+1):
		if l.keyLine == l.lineStart {
			l.suspect(suspectDash, l.i, l.i+1, 0)
		}
		l.push(column)
		l.keyLine = -1
		l.i++
	case c == '?' && inFlow && BlankAt(l.text, l.i+1), c == ',' && inFlow, c == ':' &&
		(inFlow || BlankAt(l.text, l.i+1)):
		l.value = -1
		l.i++
	case c == '[' || c == '{':
		l.value = -1
		l.flow = append(l.flow, l.i)
		l.checkDepth()
		l.i++
	case c == ']' || c == '}':
		l.closeFlow(c)
	case c == '"' || c == '\'':
		l.quoted(column)
	case (c == '|' || c == '>') && !inFlow:
		l.block()
	case c == '&' || c == '*' || c == '!':
		l.word(column)
	default:
		if c == '@' || c == '`' || c == '%' {
			l.suspect(suspectReserved, l.i, l.i+1, 0)
		}
		l.plain(column)
	}
	return true
}

// noteItem notes whether the line that begins at a column is a list item. Between the keys of a map it may only stand
// where the key above has no value.
func (l *lexer) noteItem(column int, valued bool) {
	level := len(l.indents) - 1
	if column > l.top() {
		level++
	}
	is := l.text[l.i] == '-' && BlankAt(l.text, l.i+1)
	if known := len(l.items) > level; known && is && !l.items[level] && column == l.top() && valued {
		l.suspect(suspectItem, l.i, l.i+1, 0)
	}
	for len(l.items) < level {
		l.items = append(l.items, true) // it began behind a dash, as a map or another list
	}
	l.items = append(l.items[:level], is)
}

// outsideOf reports whether the line that begins at the cursor seems to be none of the brackets at an offset, although
// they are open: no comma precedes it, or it is an entry of a map.
func (l *lexer) outsideOf(open int) bool {
	c := l.text[l.i]
	if c == ',' || c == Closer(l.text[open]) {
		return false
	}
	last := bytes.TrimRight(l.text[open:l.lineStart], " \t\r\n")
	if strings.IndexByte(",[{:", last[len(last)-1]) < 0 {
		return true
	}
	return l.text[open] == '[' && KeyEnd(l.text, Line{Start: l.i, End: LineEnd(l.text, l.i)}) > 0
}

// document scans document markers and directives at the start of a line outside of brackets. It reports whether there
// was one.
func (l *lexer) document() bool {
	first := l.text[l.i]
	if l.marker(l.i) {
		if first == '.' {
			l.ended = l.began
		} else {
			if l.began && l.found.SecondDocument < 0 {
				l.found.SecondDocument = l.i
			}
			l.began = true
		}
		l.indents = l.indents[:0]
		l.i += 3
		l.fresh = false
		return true
	}
	if first == '%' && (!l.began || l.ended) {
		l.i = LineEnd(l.text, l.i)
		return true
	}
	return false
}

func (l *lexer) closeFlow(c byte) {
	if len(l.flow) == 0 {
		l.suspect(suspectCloser, l.i, l.i+1, -1)
		l.i++
		return
	}
	open := l.flow[len(l.flow)-1]
	if (l.text[open] == '[') != (c == ']') {
		l.suspect(suspectCloser, l.i, l.i+1, open)
	}
	l.flow = l.flow[:len(l.flow)-1]
	l.far = l.far && len(l.flow) > 0
	l.i++
	l.value, l.line = l.i, l.lineStart
	if len(l.flow) == 0 {
		l.value = -1
		l.afterKey(open-l.lineStart, open)
	}
	// The brackets were a key, or another token follows.
	if !l.complete && len(l.flow) == 0 || BlankAt(l.text, l.i) && len(l.flow) > 0 {
		return
	}
	i := SkipBlanks(l.text, l.i)
	if i < len(l.text) && BreakAt(l.text, i) == 0 && strings.IndexByte(",:]}#", l.text[i]) < 0 {
		end := LineEnd(l.text, l.i)
		if len(l.flow) > 0 {
			end = l.i + max(bytes.IndexAny(l.text[l.i:end], ",]}"), 0)
		}
		l.suspect(suspectTail, l.i-1, TrimEnd(l.text, l.i, end), open)
	}
}

// afterKey records that the node that ends at the cursor is a key if a colon follows, and a complete value otherwise.
func (l *lexer) afterKey(column, start int) {
	if len(l.flow) > 0 {
		return
	}
	i := SkipBlanks(l.text, l.i)
	if i >= len(l.text) || l.text[i] != ':' || !BlankAt(l.text, i+1) {
		l.complete = true
		return
	}
	if l.keyLine == l.lineStart {
		l.suspect(suspectColon, i, i+1, start)
	}
	l.keyLine = l.lineStart
	l.i = i + 1
	l.push(max(column, 0))
}

func (l *lexer) quoted(column int) {
	start, quote := l.i, l.text[l.i]
	lines := false
	for l.i++; l.i < len(l.text); {
		c := l.text[l.i]
		switch {
		case c == '\\' && quote == '"' && l.i+1 < len(l.text) && BreakAt(l.text, l.i+1) == 0:
			if _, width := Unescape(l.text[l.i:]); width == 0 {
				l.suspect(suspectEscape, l.i, l.i+2, start)
			} else if isRefused(l.text[l.i:], width) {
				l.found.refused = append(l.found.refused, refused{l.i, width})
				l.i += width - 2
			}
			l.i += 2
		case c == '\'' && quote == '\'' && l.i+1 < len(l.text) && l.text[l.i+1] == '\'':
			l.i += 2
		case c == quote:
			l.i++
			l.afterQuote(column, start, lines)
			return
		default:
			if n := BreakAt(l.text, l.i); n > 0 {
				l.newLine(n)
				l.fresh, lines = false, true
			} else {
				l.i++
			}
		}
	}
	l.found.Open = true
	l.suspect(suspectQuoteOpen, start, min(start+1, len(l.text)), 0)
}

func (l *lexer) afterQuote(column, start int, lines bool) {
	if lines && outgrown(l.text, start, l.i) {
		l.suspect(suspectQuoteFar, start, start+1, 0)
	}
	i := SkipBlanks(l.text, l.i)
	tail := i < len(l.text) && BreakAt(l.text, i) == 0
	if tail && len(l.flow) > 0 {
		tail = strings.IndexByte(",:]}#\"'[{", l.text[i]) < 0
	} else if tail {
		tail = l.text[i] != ':' && l.text[i] != '#'
	}
	if tail {
		l.suspect(suspectQuoteTail, i, i+1, start)
	}
	if len(l.flow) > 0 {
		l.value, l.line = l.i, l.lineStart
	}
	if lines {
		l.complete = len(l.flow) == 0
	} else {
		l.afterKey(column, start)
	}
}

// block scans a literal or folded scalar.
func (l *lexer) block() {
	parent := l.top()
	h := blockHeader(l.text, l.i)
	if end := LineEnd(l.text, l.i); !l.onlyBlank(h.end, end) {
		l.suspect(suspectHeader, h.end, end, 0)
	}
	l.i = LineEnd(l.text, l.i)
	for l.i < len(l.text) {
		n := BreakAt(l.text, l.i)
		line := l.i + n
		i := SkipSpaces(l.text, line)
		if i < len(l.text) && BreakAt(l.text, i) == 0 && (i-line <= parent || i == line) {
			return // the final line break is left to skip
		}
		l.lineStart = line
		l.i = LineEnd(l.text, i)
		if n == 0 {
			return
		}
	}
}

func (l *lexer) word(column int) {
	start := l.i
	c := l.text[l.i]
	for l.i++; l.i < len(l.text) && (c != '!' && wordByte(l.text[l.i]) || c == '!' && !BlankAt(l.text, l.i)); l.i++ {
	}
	name := string(l.text[start+1 : l.i])
	switch c {
	case '&':
		if l.found.Anchors == nil {
			l.found.Anchors = map[string]bool{}
		}
		l.found.Anchors[name] = true
	case '*':
		if !l.found.Anchors[name] {
			l.suspect(suspectAlias, start, l.i, 0)
			l.found.Unanchored = append(l.found.Unanchored, name)
		}
		l.afterKey(column, start)
	}
}

func (l *lexer) plain(column int) {
	start := l.i
	if len(l.flow) > 0 {
		l.flowPlain()
		return
	}
	parent := l.top()
	first := len(bytes.TrimLeft(l.text[l.lineStart:start], " ")) == 0
	if l.plainLine() {
		l.afterKey(column, start)
		return
	}
	if first && column == parent {
		l.suspect(suspectKey, start, TrimEnd(l.text, start, l.i), 0)
	}
	// Lines with deeper indentation continue the scalar, up to a comment.
	for {
		i, lineStart := l.i, l.lineStart
		for i < len(l.text) {
			if n := BreakAt(l.text, i); n > 0 {
				i += n
				lineStart = i
			} else if IsBlank(l.text[i]) {
				i++
			} else {
				break
			}
		}
		if i >= len(l.text) || lineStart == l.lineStart || l.text[i] == '#' || i-lineStart <= parent ||
			i == lineStart && l.marker(i) {
			l.complete = true
			return
		}
		l.i, l.lineStart = i, lineStart
		if l.plainLine() {
			if first && i-lineStart == column {
				l.suspect(suspectKey, start, TrimEnd(l.text, start, LineEnd(l.text, start)), 0)
			}
			l.suspect(suspectColon, l.i, l.i+1, start)
			l.i++
			l.keyLine = l.lineStart
			return
		}
	}
}

func (l *lexer) marker(i int) bool {
	rest := l.text[i:]
	return len(rest) >= 3 && BlankAt(rest, 3) && (string(rest[:3]) == "---" || string(rest[:3]) == "...")
}

// plainLine scans a plain scalar up to the end of the line, a comment or a colon. It reports whether it stopped at a
// colon.
func (l *lexer) plainLine() bool {
	for ; l.i < len(l.text); l.i++ {
		c := l.text[l.i]
		if c > ':' && c < 0xC2 {
			continue
		}
		switch {
		case c == ':' && BlankAt(l.text, l.i+1):
			return true
		case c == '#' && IsBlank(l.text[l.i-1]):
			return false
		case BreakAt(l.text, l.i) > 0:
			return false
		}
	}
	return false
}

func (l *lexer) flowPlain() {
	start, prev, broken := l.i, l.value, l.line != l.lineStart
	quoted := prev > 0 && strings.IndexByte("\"']}", l.text[prev-1]) >= 0
	for ; l.i < len(l.text); l.i++ {
		c := l.text[l.i]
		switch {
		case c == '{' && l.i > start && l.text[l.i-1] == '$':
			l.suspect(suspectInterpolation, l.i-1, l.i+1, l.flow[len(l.flow)-1])
			return
		case c == ',' || c == '[' || c == ']' || c == '{' || c == '}':
		case c == ':' && BlankAt(l.text, l.i+1):
			quoted = true // it is a key rather than a continuation of the previous value
			if i := max(bytes.LastIndex(l.text[start:l.i], []byte(` "`)),
				bytes.LastIndex(l.text[start:l.i], []byte(" '"))); i > 0 {
				l.suspect(suspectComma, TrimEnd(l.text, start, start+i), start+i+1, 0)
			}
		case c == '#' && l.i > start && IsBlank(l.text[l.i-1]):
		case BreakAt(l.text, l.i) > 0:
		default:
			continue
		}
		break
	}
	if prev >= 0 && broken && quoted {
		l.suspect(suspectComma, prev, start, 0)
	}
	l.value, l.line = TrimEnd(l.text, start, l.i), l.lineStart
}

// ClosesLater reports whether quotes or brackets that are open at the end of a stretch may be closed after it.
func ClosesLater(text []byte, start, end int) bool {
	l := newLexer(text, start)
	for l.found.TooDeep < 0 && l.next() {
		if l.i >= end && len(l.flow) == 0 {
			break
		}
	}
	return !l.found.Open && len(l.flow) == 0 &&
		l.found.first(suspectQuoteOpen, suspectQuoteTail, suspectFlowOpen, suspectCloser, suspectInterpolation) == nil
}
