package editor

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// ActionKind describes what an action does to a program.
type ActionKind uint8

// The kinds of actions.
const (
	FillAction    ActionKind = iota // adds what the schema requires
	ExtractAction                   // gives a part of the program a name
	InlineAction                    // puts a value in the places of its name
	RewriteAction                   // says the same in another way
	DeclareAction                   // declares an unknown name
	QuoteAction                     // quotes a value
	MoveAction                      // puts a declaration into another file
	KeepAction                      // keeps a renamed resource by an alias
)

// Action is an optional change of a program, such as a refactoring.
type Action struct {
	Kind  ActionKind
	Title string
	Edits map[string][]diag.Edit // by absolute path; they do not overlap
	// Snippet is the text of the only edit with placeholders such as `${1:text}`; empty if there are none.
	Snippet string
	// Renamed is the absolute path to rename the file to after the edits; empty to keep its path.
	Renamed string
}

// Actions returns the code actions for the bytes from start to end of an open file. It leaves out actions that would
// cause a new finding. Each candidate costs a check of the program with its edits, except for FillAction.
func Actions(ctx context.Context, s *Snapshot, path string, start, end int) ([]Action, error) {
	document := s.Text(path)
	if document == nil {
		return nil, nil
	}
	p, err := s.Program(ctx, path)
	if err != nil || p.Checked == nil {
		return nil, err
	}
	a := newActor(ctx, s, p, path, document)
	a.start, a.end = a.text.trimmed(start, end)
	var offered []Action
	for _, offer := range []func(*actor) []Action{fill, extract, extractComponent, inline, changeForm, changeStyle,
		changeFile, repeat, declareMissing, pin, quote, refer, moveOut, keep} {
		for _, action := range offer(a) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if a.sound(action) {
				offered = append(offered, action)
			}
		}
	}
	return offered, nil
}

// actor finds the actions for a selection of a text. It is made for one request; its methods are called from one
// goroutine. All its offsets are in the whole text.
type actor struct {
	ctx        context.Context
	s          *Snapshot
	p          *Program
	path       string
	src        *diag.Source
	text       sourceText
	spans      []parser.Span
	start, end int // the selection, without surrounding blanks
}

// newActor returns an actor for a file without a selection.
func newActor(ctx context.Context, s *Snapshot, p *Program, path string, document *parser.Document) *actor {
	return &actor{ctx: ctx, s: s, p: p, path: path, src: document.Source(), text: document.Source().Text(),
		spans: document.Spans()}
}

// trimmed returns the range without white space at its ends, moved into the text.
func (t sourceText) trimmed(start, end int) (int, int) {
	start, end = max(start, 0), min(end, len(t))
	for start < end && white(t[start]) {
		start++
	}
	for end > start && white(t[end-1]) {
		end--
	}
	return start, end
}

// sound reports whether an action causes no new error or warning: it counts the findings by code, since edits move
// their ranges. A FillAction is not checked.
func (a *actor) sound(action Action) bool {
	if action.Kind == FillAction {
		return true
	}
	next := a.s.with(action.Edits)
	if next == nil {
		return false
	}
	changed, err := next.Program(a.ctx, a.path)
	if err != nil {
		return false
	}
	known := map[diag.Code]int{}
	for _, d := range a.p.Findings {
		known[d.Code]++
	}
	for _, d := range changed.Findings {
		if known[d.Code]--; known[d.Code] < 0 && d.Severity <= diag.Warning {
			return false
		}
	}
	return true
}

// with returns the snapshot after edits, or nil if it has no text of an edited file. The session does not see it, so
// that a refused action leaves no trace.
func (s *Snapshot) with(edits map[string][]diag.Edit) *Snapshot {
	next := &Snapshot{session: s.session, texts: maps.Clone(s.texts), programs: map[string]*Program{},
		before: s.latest()}
	for path, list := range edits {
		document := s.texts[path]
		if document == nil && len(list) > 0 { // the file is not open
			document = parser.NewDocument(list[0].Range.Source)
		}
		if document == nil {
			return nil
		}
		var backwards []parser.Edit
		for _, e := range list {
			backwards = append(backwards, parser.Edit{Start: int(e.Range.Start), End: int(e.Range.End), Text: e.Text})
		}
		// All edits refer to the text before them, while Edit applies one after the other: from the end, offsets stay
		// valid.
		slices.SortStableFunc(backwards, func(a, b parser.Edit) int { return b.Start - a.Start })
		next.texts[path] = document.Edit(backwards...)
	}
	return next
}

// replace returns the edit that replaces the bytes from start to end.
func (a *actor) replace(start, end int, text string) diag.Edit {
	return diag.Edit{Range: diag.NewRange(a.src, start, end), Text: text}
}

// action returns a list with one action that edits the actor's file.
func (a *actor) action(kind ActionKind, title string, edits ...diag.Edit) []Action {
	return []Action{{Kind: kind, Title: title, Edits: map[string][]diag.Edit{a.path: edits}}}
}

// place maps a range to the whole text. ok is false if the range is in another file.
func (a *actor) place(r diag.Range) (start, end int, ok bool) {
	whole := a.p.location(r)
	return int(whole.At.Start), int(whole.At.End), whole.Path == a.path && !whole.At.IsZero()
}

// trail returns the entries around the bytes from start to end, outermost first.
func (a *actor) trail(start, end int) []parser.Span {
	var trail []parser.Span
	for spans := a.spans; ; {
		i := entryAround(spans, start, end)
		if i < 0 {
			return trail
		}
		trail = append(trail, spans[i])
		spans = spans[i].Children
	}
}

// entryAround returns the index of the entry around the bytes from start to end, or -1.
func entryAround(entries []parser.Span, start, end int) int {
	return slices.IndexFunc(entries, func(s parser.Span) bool {
		r := s.Range()
		return !r.IsZero() && int(r.Start) <= start && end <= int(r.End)
	})
}

// stepOf returns the key of an entry, or "[]" for a list item.
func stepOf(s parser.Span) string {
	if s.Key.IsZero() {
		return "[]"
	}
	return s.Name
}

// names returns the steps of a trail.
func names(trail []parser.Span) []string {
	var list []string
	for _, s := range trail {
		list = append(list, stepOf(s))
	}
	return list
}

// keyed returns the index of the first entry with a name, ignoring case, or -1.
func keyed(entries []parser.Span, name string) int {
	return slices.IndexFunc(entries, func(s parser.Span) bool { return strings.EqualFold(s.Name, name) })
}

// scope splits a path into or below a declaration: the component, if any, the section, the name, and the rest. The
// section is in lower case, since keys match in any case (L1.20).
func scope(path []string) (component, section, name string, rest []string) {
	if len(path) >= 2 && strings.EqualFold(path[0], "components") {
		component, path = path[1], path[2:]
	}
	if len(path) > 0 {
		section = strings.ToLower(path[0])
	}
	if len(path) > 1 {
		name, rest = path[1], path[2:]
	}
	return component, section, name, rest
}

// unused returns name, with a number appended if the body already declares it.
func (a *actor) unused(body *check.Program, name string) string {
	taken := func(name string) bool {
		return name == "pulumi" || name == "each" || slices.ContainsFunc(body.Nodes,
			func(n *check.Node) bool { return n.Name == name })
	}
	if !plainName().MatchString(name) {
		name = "value"
	}
	free := name
	for i := 2; taken(free); i++ {
		free = name + strconv.Itoa(i)
	}
	return free
}

// sourceText is the text of a file. Its methods answer questions about the layout.
type sourceText []byte

// lineStart returns the offset of the start of the line that contains offset.
func (t sourceText) lineStart(offset int) int { return bytes.LastIndexByte(t[:offset], '\n') + 1 }

// lineEnd returns the offset of the next line break, or of the end of the text.
func (t sourceText) lineEnd(offset int) int {
	for offset < len(t) && t[offset] != '\n' && t[offset] != '\r' {
		offset++
	}
	return offset
}

// column returns the number of bytes before offset in its line.
func (t sourceText) column(offset int) int { return offset - t.lineStart(offset) }

// json reports whether the whole text is a flow map, as JSON is.
func (t sourceText) json() bool {
	text := bytes.TrimLeft(t, " \t\r\n")
	return len(text) > 0 && text[0] == '{'
}

// inFlow reports whether the last entry of a trail is inside a flow collection.
func (t sourceText) inFlow(trail []parser.Span) bool {
	return t.json() || slices.ContainsFunc(trail[:len(trail)-1], func(s parser.Span) bool { return s.Flow })
}

// blank reports whether the bytes from start to end are all white space.
func (t sourceText) blank(start, end int) bool {
	return start <= end && len(bytes.TrimSpace(t[start:end])) == 0
}

// afterColon returns the offset behind the colon of an entry's key, or -1 if there is no colon.
func (t sourceText) afterColon(s parser.Span) int {
	i := int(s.Key.End)
	for i < len(t) && (t[i] == ' ' || t[i] == '\t') {
		i++
	}
	if i < len(t) && t[i] == ':' {
		return i + 1
	}
	return -1
}

// replaceValue returns the edit that replaces an entry's value and puts text on the line of the key. ok is false if a
// comment separates the key and the value.
func (a *actor) replaceValue(s parser.Span, text string) (edit diag.Edit, ok bool) {
	return a.replaceBehind(s, " ", text)
}

// replaceBelow is like replaceValue, but puts text on the lines below the key. The first line of text is not indented.
func (a *actor) replaceBelow(s parser.Span, text string) (edit diag.Edit, ok bool) {
	return a.replaceBehind(s, "\n"+strings.Repeat(" ", a.indentBelow(s)), text)
}

// replaceBehind returns the edit that replaces the value of an item, or that of an entry together with the blanks
// between it and its key.
func (a *actor) replaceBehind(s parser.Span, blanks, text string) (edit diag.Edit, ok bool) {
	start, end := int(s.Value.Start), int(s.Value.End)
	if s.Key.IsZero() {
		return a.replace(start, end, text), true
	}
	colon := a.text.afterColon(s)
	if colon < 0 || !a.text.blank(colon, start) {
		return diag.Edit{}, false
	}
	return a.replace(colon, end, blanks+text), true
}

// indentBelow returns the column of a value of several lines.
func (a *actor) indentBelow(s parser.Span) int {
	if s.Key.IsZero() {
		return a.text.column(int(s.Value.Start))
	}
	return a.text.column(int(s.Key.Start)) + 2
}

// commented reports whether the bytes from start to end contain a comment.
func (a *actor) commented(start, end int) bool {
	var texts []diag.Range
	var gather func([]parser.Span)
	gather = func(spans []parser.Span) {
		for _, s := range spans {
			texts = append(texts, s.Key)
			if s.Kind == parser.ScalarSpan && !strings.HasPrefix(s.Value.Text(), "|") &&
				!strings.HasPrefix(s.Value.Text(), ">") {
				texts = append(texts, s.Value)
			} else if s.Kind == parser.ScalarSpan { // a comment may follow the | or > on its line
				texts = append(texts, diag.NewRange(a.src, a.text.lineEnd(int(s.Value.Start)), int(s.Value.End)))
			}
			gather(s.Children)
		}
	}
	gather(a.spans)
	for i := start; i < end; i++ {
		if a.text[i] == '#' && (i == 0 || white(a.text[i-1])) &&
			!slices.ContainsFunc(texts, func(r diag.Range) bool { return int(r.Start) <= i && i < int(r.End) }) {
			return true
		}
	}
	return false
}

// moved returns the bytes from start to end, with all lines but the first shifted to the column to. It reports false if
// a line is indented less than the first.
func (a *actor) moved(start, end, to int) (string, bool) {
	from := a.text.column(start)
	lines := strings.Split(string(a.text[start:end]), "\n")
	for i, line := range lines[1:] {
		body := strings.TrimLeft(line, " ")
		switch indent := len(line) - len(body); {
		case strings.TrimSpace(body) == "":
			lines[i+1] = strings.TrimLeft(line, " ")
		case indent < from:
			return "", false
		default:
			lines[i+1] = strings.Repeat(" ", indent-from+to) + body
		}
	}
	return strings.Join(lines, "\n"), true
}

// declare returns the edit that adds an entry to a section of the program or of a component. text is the entry in block
// style without indentation, flow the same entry in flow style, both with the key. near is an offset in the section
// that uses the entry; a new section goes before that one. It reports false if the text has no position for the entry.
func (a *actor) declare(component, section, text, flow string, near int) (diag.Edit, bool) {
	// root reports whether the section is itself an entry of a flow map.
	siblings, indent, root := a.spans, 0, a.text.json()
	if component != "" {
		trail := a.trail(near, near)
		if len(trail) < 3 {
			return diag.Edit{}, false
		}
		owner := trail[1]
		siblings, root = owner.Children, root || trail[0].Flow || owner.Flow
		indent = a.text.column(int(owner.Children[0].Key.Start))
	}
	i := keyed(siblings, section)
	// A program may have the old spelling of the section, and not both.
	if i < 0 && section == "config" {
		i = keyed(siblings, "configuration")
	}
	if i >= 0 {
		return a.add(siblings[i], root, text, flow)
	}
	if i = entryAround(siblings, near, near); i < 0 {
		return diag.Edit{}, false
	}
	pos := int(siblings[i].Key.Start)
	if root {
		return a.replace(pos, pos, strconv.Quote(section)+": {"+flow+"}, "), true
	}
	pad := strings.Repeat(" ", indent)
	return a.replace(a.text.aboveComments(pos), a.text.aboveComments(pos), pad+section+":\n"+lines(text, indent+2)), true
}

// aboveComments returns the start of the line of offset, or of the comments directly above it.
func (t sourceText) aboveComments(offset int) int {
	start := t.lineStart(offset)
	for start > 0 {
		above := t.lineStart(start - 1)
		if !bytes.HasPrefix(bytes.TrimSpace(t[above:start]), []byte("#")) {
			break
		}
		start = above
	}
	return start
}

// lines indents the non-empty lines of a text and ends it with one line break.
func lines(text string, indent int) string {
	pad := strings.Repeat(" ", indent)
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if line != "" {
			b.WriteString(pad + line)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// add returns the edit that appends an entry to a map, given in block style and in flow style. It reports false if dst
// has a value that is no map.
func (a *actor) add(dst parser.Span, inFlow bool, text, flow string) (diag.Edit, bool) {
	if len(dst.Children) > 0 {
		last := dst.Children[len(dst.Children)-1].Range()
		end := int(last.End)
		if inFlow || dst.Flow {
			return a.replace(end, end, ", "+flow), true
		}
		i := a.text.lineEnd(end)
		pad := a.text.column(int(dst.Children[0].Key.Start))
		return a.replace(i, i, "\n"+strings.TrimSuffix(lines(text, pad), "\n")), true
	}
	switch value := strings.TrimSpace(dst.Value.Text()); {
	case strings.HasPrefix(value, "{"):
		i := int(dst.Value.Start) + 1
		return a.replace(i, i, flow), true
	case value == "" && !inFlow:
		colon := a.text.afterColon(dst)
		if colon < 0 {
			return diag.Edit{}, false
		}
		i := a.text.lineEnd(colon)
		pad := a.text.column(int(dst.Key.Start)) + 2
		return a.replace(i, i, "\n"+strings.TrimSuffix(lines(text, pad), "\n")), true
	}
	return diag.Edit{}, false
}

// without returns the edits that remove entries from the map around, and the map itself if it would be empty.
func (a *actor) without(around parser.Span, inFlow bool, entries ...parser.Span) []diag.Edit {
	if len(entries) == len(around.Children) && !inFlow && !a.commented(int(around.Key.Start), int(around.Range().End)) {
		return []diag.Edit{a.cut(int(around.Key.Start), int(around.Range().End))}
	}
	var edits []diag.Edit
	for _, e := range entries {
		start, end := int(e.Range().Start), int(e.Range().End)
		if !inFlow && !around.Flow {
			edits = append(edits, a.cut(start, end))
			continue
		}
		i := slices.IndexFunc(around.Children, func(s parser.Span) bool { return s.Key == e.Key })
		switch {
		// In brackets, the comma behind the entry goes with it, or else the one before it.
		case i+1 < len(around.Children):
			end = int(around.Children[i+1].Key.Start)
		case i > 0:
			start = int(around.Children[i-1].Range().End)
		}
		edits = append(edits, a.replace(start, end, ""))
	}
	return edits
}

// cut returns the edit that removes the bytes from start to end, with lines that would be empty. A comment behind them
// stays.
func (a *actor) cut(start, end int) diag.Edit {
	from, to := a.text.lineStart(start), a.text.lineEnd(end)
	if !a.text.blank(from, start) || !a.text.blank(end, to) {
		return a.replace(start, end, "")
	}
	if to < len(a.text) && a.text[to] == '\r' {
		to++
	}
	if to < len(a.text) {
		to++
	}
	return a.replace(from, to, "")
}

// each calls fn for every expression of the program in this file, with its range in the whole text.
func (a *actor) each(fn func(e ast.Expr, start, end int)) {
	a.p.walk(func(e ast.Expr) {
		if start, end, ok := a.place(e.Range()); ok {
			fn(e, start, end)
		}
	})
}
