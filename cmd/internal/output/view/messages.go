package view

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// messageLines bounds the lines shown of a message, such as the output of a failed command.
const messageLines = 20

// message shows a message as a finding, and returns it.
func (r *report) message(w io.Writer, m *engine.Message) diag.Diagnostic {
	d := r.finding(m)
	if r.o.Found != nil {
		r.o.Found(d)
	}
	// A failed write to a closed terminal cannot be reported.
	_ = diag.WriteText(w, diag.Diagnostics{d}, diag.TextOptions{
		Color: r.o.Color, Width: r.o.Width, Hints: messageLines, Hide: r.mask.Hide})
	io.WriteString(w, "\n")
	return d
}

// finding turns a message into a diagnostic: with the place of the resource in the user's text, if known.
func (r *report) finding(m *engine.Message) diag.Diagnostic {
	summary, detail, _ := strings.Cut(strings.TrimRight(m.Text, "\n"), "\n")
	summary = r.mask.Hide(summary)
	if m.URN != "" && !strings.Contains(summary, m.URN.Name()) {
		summary = m.URN.Name() + ": " + summary
	}
	subject := r.placeOf(m.URN, m.Position, m.Recorded, m.End)
	if m.Property != "" && !subject.IsZero() && r.o.Property != nil {
		if rng, found := r.o.Property(subject, m.Property); found {
			subject = rng
		}
	}
	return diag.Diagnostic{
		Severity: m.Severity,
		Code:     m.Code,
		Summary:  summary,
		Detail:   r.mask.Hide(detail),
		Subject:  subject,
	}
}

// placeOf is place for a resource. Where only the state has recorded the position, other text may stand there now: then
// there is a place only if the resource is still declared there.
func (r *report) placeOf(u urn.URN, position string, recorded bool, until diag.Position) diag.Range {
	place := r.place(position, until)
	if recorded && !place.IsZero() && (r.o.Stands == nil || !r.o.Stands(place, u)) {
		return diag.Range{}
	}
	return place
}

// place finds a source position, project:///<path>#<line>,<column>, in the user's text. Without an end it covers the
// word at that position: the resource's name.
func (r *report) place(position string, until diag.Position) diag.Range {
	pos := PositionIn(position)
	if pos.Line == 0 || r.o.Source == nil {
		return diag.Range{}
	}
	source := r.o.Source(filepath.Join(r.o.Root, filepath.FromSlash(pos.File)))
	if source == nil {
		return diag.Range{}
	}
	start := source.Offset(diag.Position{Line: pos.Line, Column: max(1, pos.Column)})
	if until != (diag.Position{}) {
		return diag.NewRange(source, start, source.Offset(until))
	}
	end := start
	for text := source.Text(); end < len(text) && text[end] != ':' && text[end] != '\n' && text[end] != '\r'; {
		end++
	}
	return diag.NewRange(source, start, end)
}

// FindingOf turns a message into a diagnostic with its place in the user's text, if o knows it. m masks secrets.
func FindingOf(o Options, m *mask.Masker, message *engine.Message) diag.Diagnostic {
	return (&report{o: o, mask: m}).finding(message)
}

// problems shows every warning and error once, grouped by resource, errors last, where a reader of a log looks first.
func (r *report) problems(w io.Writer) {
	var shown diag.Diagnostics
	for _, errors := range []bool{false, true} {
		for _, m := range byCause(r.grouped(errors)) {
			shown.Add(r.message(w, m))
		}
	}
	if text := diag.Advice(shown); text != "" {
		fmt.Fprintf(w, "%s\n\n", r.p.paint(dim, text))
	}
	skipped, notStarted := r.board.leftOut()
	tell := func(list []urn.URN, what string) {
		if len(list) == 0 {
			return
		}
		names := make([]string, len(list))
		for i, u := range list {
			names[i] = u.Name()
		}
		line := fmt.Sprintf("%s %s: %s", diag.Count(len(names), "resource"), what, firstOf(names, 10))
		fmt.Fprintf(w, "%s\n\n", r.fold(line, 2))
	}
	cause := "earlier errors"
	if s := r.board.summary; s != nil && s.Ended() == "interrupted" {
		cause = "the interrupt"
	}
	tell(skipped, "skipped because of "+cause)
	tell(notStarted, "not started")
}

// firstOf lists the first names, at most most.
func firstOf(names []string, most int) string {
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// leastEqual is the number of resources from which on failures with the same reason are shown once.
const leastEqual = 3

// mostEqual is the largest number of other resources to name.
const mostEqual = 50

// byCause joins equal messages about different resources, such as an unreachable server: the first represents all and
// names the others. Faults of single properties are not joined, since each has its own place.
func byCause(list []*engine.Message) []*engine.Message {
	equal := map[string][]*engine.Message{}
	for _, m := range list {
		if m.URN != "" && m.Property == "" {
			equal[causeOf(m)] = append(equal[causeOf(m)], m)
		}
	}
	told := map[*engine.Message]bool{}
	var joined []*engine.Message
	for _, m := range list {
		same := equal[causeOf(m)]
		if m.URN == "" || m.Property != "" || len(same) < leastEqual {
			joined = append(joined, m)
			continue
		}
		if told[same[0]] {
			continue
		}
		told[same[0]] = true
		names := make([]string, 0, len(same)-1)
		for _, other := range same[1:] {
			names = append(names, other.URN.Name())
		}
		summary, rest, _ := strings.Cut(strings.TrimSpace(m.Text), "\n")
		more := fmt.Sprintf("the same happened to %s: %s", diag.Count(len(names), "more resource"), firstOf(names, mostEqual))
		first := *m
		first.Text = strings.TrimRight(summary+"\n"+more+"\n"+rest, "\n")
		joined = append(joined, &first)
	}
	return joined
}

// address matches the path of a URL, which names an object, after its host.
var address = regexp.MustCompile(`(https?://[^/\s"']+)[^\s"']*`)

// causeOf returns the text of a message without the parts that differ between resources: their names, names derived
// from them, and the paths of URLs.
func causeOf(m *engine.Message) string {
	text := address.ReplaceAllString(strings.TrimSpace(m.Text), "$1")
	text = strings.NewReplacer(string(m.URN), "", m.URN.Type(), "").Replace(text)
	if name := m.URN.Name(); name != "" {
		text = regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`[-.\w]*`).ReplaceAllString(text, "")
	}
	return string(m.Code) + " " + m.Severity.String() + " " + text
}

// grouped returns the errors or the warnings, each once. All messages of a resource are at the position of its first
// one.
func (r *report) grouped(errors bool) []*engine.Message {
	type said struct {
		urn                    urn.URN
		code, text, at, within string
	}
	known := make(map[said]bool)
	first := make(map[urn.URN]int) // the index of the first message about a resource
	order := make(map[*engine.Message]int)
	var list []*engine.Message
	for i, m := range r.board.messages {
		if m.Severity == diag.Info || m.Interrupted || (m.Severity == diag.Error) != errors || isVerdict(m) {
			continue
		}
		key := said{m.URN, string(m.Code), strings.TrimSpace(m.Text), m.Position, m.Property}
		if known[key] {
			continue
		}
		known[key] = true
		if _, had := first[m.URN]; !had || m.URN == "" {
			first[m.URN] = i
		}
		order[m] = first[m.URN]
		list = append(list, m)
	}
	slices.SortStableFunc(list, func(a, b *engine.Message) int { return order[a] - order[b] })
	return list
}
