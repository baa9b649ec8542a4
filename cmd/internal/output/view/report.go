package view

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/schema"
)

// report is the end of the view, the same for terminals and logs: problems, changes, outputs, summary.
type report struct {
	o     Options
	p     palette
	mask  *mask.Masker
	board *board
}

// title names the operation and its stack: Previewing update of stack dev, Updating stack dev.
func (r *report) title() string {
	stack := "stack " + r.o.Stack
	if strings.Contains(r.o.Operation, " ") {
		stack = "of " + stack
	}
	return r.p.paint(bold, r.o.Operation) + " " + r.p.paint(dim, stack)
}

// notes shows informational messages of providers and the program, a line each.
func (r *report) notes(w io.Writer) {
	wrote := false
	for _, m := range r.board.messages {
		if isNote(m) && !r.repeated(m) {
			fmt.Fprintln(w, r.note(m))
			wrote = true
		}
	}
	if wrote {
		fmt.Fprintln(w)
	}
}

// repeated reports whether an error of the same resource has the text of a note, as that of a command which failed.
func (r *report) repeated(note *engine.Message) bool {
	about := r.board.rows[note.URN]
	return about != nil && about.failed && slices.ContainsFunc(r.board.messages, func(m *engine.Message) bool {
		return m.Severity == diag.Error && m.URN == note.URN && strings.Contains(m.Text, strings.TrimSpace(note.Text))
	})
}

// isNote reports whether a message is an informational one with a text: a command that only ends a line writes none.
func isNote(m *engine.Message) bool {
	return m.Severity == diag.Info && strings.TrimSpace(m.Text) != ""
}

// note returns an informational message with its source, or its place in the program, and its text. On a terminal its
// lines are broken between words.
func (r *report) note(m *engine.Message) string {
	subject := ""
	if m.URN != "" {
		subject = m.URN.Name() + ": "
	} else if place, found := strings.CutPrefix(m.Position, "project:///"); found {
		subject = strings.NewReplacer("#", ":", ",", ":").Replace(place) + ": "
	}
	text := subject + r.mask.Hide(strings.TrimRight(m.Text, "\n"))
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = r.fold("       "+line, 7)
	}
	return "     " + r.p.paint(dim, strings.TrimPrefix(strings.Join(lines, "\n"), "       "))
}

// fold breaks a line between words if it does not fit on the terminal, and indents what follows by so many columns.
// Without a terminal it changes nothing.
func (r *report) fold(line string, indent int) string { return foldAt(line, r.o.Width, indent) }

// foldAt is fold for a terminal of so many columns; 0 is none.
func foldAt(line string, width, indent int) string {
	if width == 0 {
		return line
	}
	return diag.Fold(line, width-1, 0, indent, widthOf)
}

// plan shows a plan as the result of a command: the tree, what changes, findings if they belong there, outputs and
// counts, at their full width.
func (r *report) plan(w io.Writer, findings func()) {
	full := *r
	full.o.Width, full.p = 0, palette{r.o.OutColor}
	for _, line := range full.final(0) {
		fmt.Fprintln(w, line)
	}
	full.changes(w)
	full.why(w)
	fmt.Fprintln(w)
	findings()
	full.outputs(w)
	full.summary(w)
}

// planned shows a plan on Out and the findings on problems, which may be the same log.
func (r *report) planned(problems io.Writer) {
	if len(r.board.order) > 0 {
		fmt.Fprintln(problems)
	}
	if r.o.OneLog {
		r.plan(r.o.Out, func() { r.problems(r.o.Out) })
		return
	}
	r.problems(problems)
	r.plan(r.o.Out, func() {})
}

// changes shows the changed properties, resource by resource, in the order of the tree.
func (r *report) changes(w io.Writer) {
	steps := make(map[*row][]*engine.Step)
	for _, s := range r.board.steps {
		target := r.board.rows[s.URN]
		steps[target] = append(steps[target], s)
	}
	headed, computed, others := false, 0, 0 // properties of other resources
	r.board.tree.walk(func(target *row, _ int) {
		for _, s := range steps[target] {
			lines := changeLines(s, r.p, r.mask, r.o)
			if len(lines) == 0 {
				if s.Op != engine.OpRefresh { // which alone has computed properties
					continue
				}
				if _, n := r.o.Changes.Of(s).Paths(); len(n) > 0 {
					computed, others = computed+len(n), others+1
				}
				continue
			}
			if !headed {
				fmt.Fprintf(w, "\n%s\n", r.p.paint(bold, "Changes:"))
				headed = true
			}
			style := opStyles[s.Op]
			fmt.Fprintf(w, "%s %s %s\n", r.p.paint(style.color, fill(style.sign, 2)), r.p.paint(bold, s.URN.Name()),
				r.p.paint(dim, schema.CollapseToken(s.Type)))
			for _, line := range lines {
				fmt.Fprintln(w, r.fold("     "+line, 7+widthOf(line)-widthOf(strings.TrimLeft(line, " "))))
			}
		}
	})
	if others > 0 && !r.o.Drift { // `drift` has a line of its own
		fmt.Fprintf(w, "     %s\n", r.p.paint(dim, ComputedNote(computed, others)))
	}
}

// outputs shows the stack's outputs; in a preview or after a change, with the change of each.
func (r *report) outputs(w io.Writer) {
	list := r.Outputs()
	if len(list) == 0 || r.o.SuppressOutputs {
		return
	}
	fmt.Fprintln(w, r.p.paint(bold, "Outputs:"))
	width := 0
	for _, out := range list {
		width = max(width, widthOf(out.Name))
	}
	colors := map[string]paint{"+": green, "~": yellow, "-": red, " ": dim}
	for _, out := range list {
		text, color := out.Text(), colors[out.Sign]
		fmt.Fprintf(w, "  %s %s ", r.p.paint(color, out.Sign), r.p.paint(color, fill(out.Name+":", width+1)))
		const piece = 1 << 20 // avoid copying a large text as a whole
		for ; len(text) > piece; text = text[piece:] {
			_, _ = io.WriteString(w, text[:piece])
		}
		_, _ = io.WriteString(w, text+"\n")
	}
	fmt.Fprintln(w)
}

// Output is one output of the stack in a report.
type Output struct {
	Name          string
	Sign          string // "+" new, "~" changed, "-" removed, " " unchanged
	Before, After string // masked texts; empty if missing
	// Plain is the new value if it is a known and public text, number or boolean; else empty.
	Plain string
}

// Text returns the value of the output, the former value of a removed one, or both of a changed one, unless they are
// equal as texts, for instance masked secrets.
func (o Output) Text() string {
	switch {
	case o.Sign == "-":
		return o.Before
	case o.Sign != "~":
		return o.After
	case o.Before == o.After:
		return o.After + " (changed)"
	}
	return o.Before + " => " + o.After
}

// Outputs lists the stack's outputs: first the program's outputs in its order, then the removed ones.
func (r *report) Outputs() []Output {
	s := r.board.summary
	if s == nil || s.Outputs == nil && s.Ended() == "interrupted" { // interrupted before the outputs
		return nil
	}
	old, new := OutputsOf(s.OldOutputs), OutputsOf(s.Outputs)
	text := func(v value.Value) string {
		if r.o.ShowSecrets {
			return outputText(v, true)
		}
		return r.mask.Hide(outputText(v, false))
	}
	var list []Output
	for _, k := range new.Keys() {
		after, _ := new.Lookup(k)
		before, had := old.Lookup(k)
		out := Output{Name: k, Sign: " ", After: text(after), Plain: r.plainText(after)}
		switch {
		case s.OldOutputs == nil || !had:
			out.Sign = "+"
		case !sameOutput(before, after):
			out.Sign, out.Before = "~", text(before)
		}
		list = append(list, out)
	}
	for _, k := range old.Keys() {
		if _, stays := new.Lookup(k); !stays {
			before, _ := old.Lookup(k)
			list = append(list, Output{Name: k, Sign: "-", Before: text(before)})
		}
	}
	return list
}

// plainText returns a public, known scalar as text; empty for anything else.
func (r *report) plainText(v value.Value) string {
	if !v.IsKnown() || v.ContainsSecret() {
		return ""
	}
	text, ok := v.AsString()
	if !ok {
		if v.Is(value.KindMap) || v.Is(value.KindList) {
			return ""
		}
		text = valueText(v, false)
	}
	if r.mask.Hide(text) != text {
		return ""
	}
	return text
}

// summary writes the counts and the duration.
func (r *report) summary(w io.Writer) {
	s := r.board.summary
	if s == nil {
		return
	}
	var parts []string
	for _, c := range r.Counts() {
		parts = append(parts, r.p.paint(opStyles[c.Op].color, fmt.Sprintf("%d %s", c.N, c.Words)))
	}
	for _, c := range Incomplete(r.Outcomes()) {
		text := fmt.Sprintf("%d %s", c.N, c.Words)
		if c.Words == "failed" || c.Words == "stopped" {
			text = r.p.paint(red, text)
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		parts = []string{"nothing to do"}
	}
	head := r.p.paint(bold, "Resources:")
	switch s.Ended() {
	case "failed":
		head = r.p.paint(red, "Failed.") + " " + head
	case "interrupted":
		head = r.p.paint(red, "Interrupted.")
	}
	line := head + " " + strings.Join(parts, ", ")
	if t := Seconds(s.Duration); t != "" {
		line += " " + r.p.paint(dim, "in "+t)
	}
	fmt.Fprintln(w, r.fold(line, 2))
	if head, text := r.board.blast.Sentence(r.Counts()); text != "" && s.Planning {
		fmt.Fprintln(w, r.fold(r.p.paint(bold, head)+" "+r.p.paint(red, text), 2))
	}
	if s.MaybeCorrupt {
		fmt.Fprintln(w, r.fold("The outcome of a failed operation is not known; `yamlhost refresh` finds it out and "+
			"corrects the state.", 2))
	}
}

// Counts returns the numbers of the summary that are not zero, in the order of display.
func (r *report) Counts() []Counted {
	s := r.board.summary
	if s == nil {
		return nil
	}
	var list []Counted
	if n := r.board.gone; n > 0 {
		list = append(list, Counted{opGone, n, "gone"})
	}
	_, _, lost := r.board.replaced.Count()
	left, originals := left{}, 0
	others := map[engine.Op]int{} // counted by the engine, but with other words in the tree
	for _, item := range r.board.order {
		switch {
		case left.take(item):
			others[engine.OpSame]++
		case item.op == engine.OpDeleteReplaced && !item.lost && item.says(s.Planning):
			originals++
			if item.stays {
				others[engine.OpSame]++
			}
		case r.board.counted(item) && !item.says(s.Planning):
			others[item.op]++
		}
	}
	moved := r.board.moved()
	for _, op := range summaryOrder {
		n := s.Changes[op] - others[op]
		if op == engine.OpDelete {
			n -= r.board.deleted + lost
		}
		if op == engine.OpDeleteReplaced {
			n = lost
		}
		if op == engine.OpSame {
			n -= moved
		}
		if op == opMove {
			n = moved
		}
		if n <= 0 { // a step that has begun and not ended has a row, and is not among the changes
			continue
		}
		words := opStyles[op].done
		if s.Planning && op != engine.OpSame {
			words = "to " + opStyles[op].planned
		}
		if op == engine.OpDeleteReplaced {
			words = lostWords(false)
			if s.Planning {
				words = "to " + lostWords(true)
			}
		}
		list = append(list, Counted{op, n, words})
	}
	if originals > 0 {
		list = append(list, Counted{engine.OpDeleteReplaced, originals, originalWords(originals, s.Planning)})
	}
	return append(list, left.counted()...)
}

// originalWords describes n objects that were replaced by an earlier operation, and are deleted by this one.
func originalWords(n int, planning bool) string {
	words := "originals"
	if n == 1 {
		words = "original"
	}
	if planning {
		return words + " to delete"
	}
	return words + " deleted"
}

// isVerdict reports whether a message merely repeats the summary (E5.48), or that the import of a resource failed,
// whose own message has the reason (E7.57).
func isVerdict(m *engine.Message) bool {
	if m.URN != "" {
		return false
	}
	if _, reason, found := strings.Cut(m.Text, " failed: "); found && strings.HasPrefix(reason, "the import of ") {
		return strings.HasSuffix(reason, " failed")
	}
	switch strings.TrimSpace(m.Text) {
	case "update failed", "preview failed", "update canceled", "preview canceled", "update cancelled", "preview cancelled":
		return true
	}
	return false
}

// sameOutput reports whether an output is unchanged for users. It ignores assets and archives, for which Pulumi's host
// for YAML records an empty map.
func sameOutput(before, after value.Value) bool {
	return value.SameContent(plainOutput(before, after), plainOutput(after, after))
}

// plainOutput returns v with the parts that sameOutput ignores replaced by those of after.
func plainOutput(v, after value.Value) value.Value {
	asset := after.Is(value.KindAsset) || after.Is(value.KindArchive)
	switch {
	case asset && v.Is(value.KindMap) && v.Len() == 0:
		return after
	case v.Is(value.KindMap):
		for i, key := range v.Keys() {
			v = v.With(key, plainOutput(v.At(i), after.Get(key)))
		}
	case v.Is(value.KindList):
		items, _ := v.AsList()
		list := make([]value.Value, len(items))
		for i, item := range items {
			list[i] = plainOutput(item, after.At(i))
		}
		return value.List(list...).WithMarksOf(v)
	}
	return v
}

// OutputsOf returns the outputs of a stack by its resource; nil has none.
func OutputsOf(r *state.Resource) value.Value {
	if r == nil {
		return value.EmptyMap()
	}
	return r.Outputs.MapOrEmpty()
}

// outputText shows an output: a text of one line unchanged, everything else like a property.
func outputText(v value.Value, showSecrets bool) string {
	if s, ok := v.AsString(); ok && (!v.IsSecret() || showSecrets) && !strings.ContainsAny(s, "\n\r\t\x1b") {
		return `"` + s + `"`
	}
	return valueText(v, showSecrets)
}

// Figure formats a number, with commas from a thousand on.
func Figure(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// next writes one line with the next step after an operation, or an empty one if that follows at once.
func (r *report) next(w io.Writer) {
	s := r.board.summary
	if s == nil || r.o.Command == "" {
		return
	}
	changes := slices.ContainsFunc(r.board.order, (*row).changes)
	if r.o.Followed && s.Result != "failed" {
		if changes {
			fmt.Fprintln(w)
		}
		return
	}
	text := nextStep(r.o.Command, s.Planning, changes, s.Ended())
	if s.Unrecorded && !s.Planning { // to run again is right only if the state could be written in the end
		text = "correct the problem with the folder of the state; what is done stays."
	}
	if text != "" {
		fmt.Fprintln(w, r.fold(r.p.paint(dim, "Next: "+text), 6))
	}
}

// nextStep returns the advice after a command with a result; empty if there is nothing to do.
func nextStep(command string, planning, changes bool, result string) string {
	does := command
	if command == "preview" || command == "plan" {
		does = "up"
	}
	switch {
	case result == "failed" && planning:
		return "correct the errors; nothing was changed."
	case result == "failed":
		return fmt.Sprintf("correct the errors and run `yamlhost %s` again; what is done stays.", command)
	case result == "interrupted" && !planning:
		return fmt.Sprintf("`yamlhost %s` goes on where this has stopped.", command)
	case result == "interrupted":
		return ""
	case planning && changes:
		return fmt.Sprintf("`yamlhost %s` does this; nothing is changed yet.", does)
	case planning || !changes:
		return ""
	}
	switch command {
	case "refresh":
		return "`yamlhost preview` shows how what exists differs from the program."
	case "up", "run":
		return "`yamlhost stack` shows what exists now."
	}
	return ""
}
