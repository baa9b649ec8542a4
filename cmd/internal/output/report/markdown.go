package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/schema"
)

// MarkdownLimit is the most characters that a comment of a pull request may have.
const MarkdownLimit = 65_536

// fold describes which parts of a Markdown report are omitted. Errors are omitted last.
type fold struct {
	changes   int // lines of property changes of one resource
	creates   bool
	rows      int // lines of the table; resources beyond are counted by type
	findings  int
	lines     int // of one finding
	sizeLimit int // of one property change in characters
}

// folds are tried in turn until the text fits.
var folds = []fold{
	{changes: 1000, creates: true, rows: 5000, findings: 1000, lines: 20, sizeLimit: 2000},
	{changes: 40, creates: true, rows: 2000, findings: 200, lines: 20, sizeLimit: 300},
	{changes: 12, creates: false, rows: 1000, findings: 100, lines: 10, sizeLimit: 200},
	{changes: 3, creates: false, rows: 500, findings: 50, lines: 8, sizeLimit: 120},
	{changes: 0, creates: false, rows: 300, findings: 30, lines: 4, sizeLimit: 0},
	{changes: 0, creates: false, rows: 60, findings: 15, lines: 2, sizeLimit: 0},
	{changes: 0, creates: false, rows: 0, findings: 5, lines: 1, sizeLimit: 0},
}

// WriteMarkdown writes a summary for reviewers of a change: the result, errors, the changed resources and, folded,
// their property changes. To stay under MarkdownLimit it omits first the property changes of new resources, then of
// other resources, then rows of the table, which it counts by type.
func WriteMarkdown(w io.Writer, r *Record) error {
	for i, f := range folds {
		text := markdown(r, f)
		if utf8.RuneCountInString(text) < MarkdownLimit || i == len(folds)-1 {
			_, err := io.WriteString(w, cut(text, MarkdownLimit-1))
			return err
		}
	}
	return nil
}

// cut cuts a text to at most most characters.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-2]) + "…\n"
}

func markdown(r *Record, f fold) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s `yamlhost %s`", r.mark(), r.Command)
	if name := r.name(); name != "" {
		fmt.Fprintf(&b, " of %s", code(name))
	}
	fmt.Fprintf(&b, "\n\n**%s**", escape(r.Headline()))
	if r.Result == "interrupted" {
		b.WriteString(" · interrupted")
	}
	if t := view.Seconds(r.Took); t != "" {
		b.WriteString(" · " + t)
	}
	if r.Exit.Code != 0 {
		fmt.Fprintf(&b, " · exit code %d (%s)", r.Exit.Code, r.Exit.Name)
	}
	b.WriteString("\n")
	for _, remark := range r.sentences() {
		b.WriteString("\n" + escape(remark) + "\n")
	}
	if len(r.Parts) > 0 {
		markdownParts(&b, r, f)
	} else {
		markdownFindings(&b, r, f)
		markdownTable(&b, r, f)
		markdownChanges(&b, r, f)
		markdownOutputs(&b, r, f)
	}
	var from []string
	if head := r.Origin.Get("git.head"); head != "" {
		from = append(from, "commit "+code(head[:min(10, len(head))]))
	}
	if url := r.Origin.Get("ci.build.url"); url != "" {
		from = append(from, "[build]("+url+")")
	}
	if len(from) > 0 {
		fmt.Fprintf(&b, "\n<sub>%s</sub>\n", strings.Join(from, " · "))
	}
	return b.String()
}

func markdownFindings(b *strings.Builder, r *Record, f fold) {
	shown := 0
	for _, severity := range []diag.Severity{diag.Error, diag.Warning, diag.Portability, diag.Info} {
		for _, d := range r.diagnostics() {
			if d.Severity != severity {
				continue
			}
			if shown++; shown > f.findings {
				continue
			}
			lines := strings.Split(strings.TrimRight(textOf(d, f.lines), "\n"), "\n")
			if most := f.lines + 6; len(lines) > most {
				lines = append(lines[:most], "…")
			}
			for i := range lines {
				lines[i] = cut(lines[i], 400)
			}
			b.WriteString("\n" + fenced("", lines))
		}
	}
	if shown > f.findings {
		fmt.Fprintf(b, "\n… and %s more.\n", diag.Count(shown-f.findings, "finding"))
	}
}

func markdownTable(b *strings.Builder, r *Record, f fold) {
	rows, left := 0, map[string]int{}
	var order []string
	for item := range view.Changed(r.Resources) {
		if rows == f.rows {
			key := item.Words + " " + schema.CollapseToken(item.URN.Type())
			if left[key] == 0 {
				order = append(order, key)
			}
			left[key]++
			continue
		}
		if rows == 0 {
			b.WriteString("\n| | resource | type | |\n|---|---|---|---|\n")
		}
		rows++
		words := item.Words
		if item.Outcome >= view.Failed {
			words = "**" + words + "**"
		}
		indent := strings.Repeat("&nbsp;&nbsp;", max(0, min(item.Depth-1, 8)))
		fmt.Fprintf(b, "| %s | %s%s | %s | %s |\n", code(item.Sign), indent, code(cut(item.URN.Name(), 120)),
			code(cut(schema.CollapseToken(item.URN.Type()), 80)), words)
	}
	if len(order) > 0 {
		b.WriteString("\nFurther resources:\n\n")
		for i, key := range order {
			if i == 50 {
				fmt.Fprintf(b, "- … and %s more\n", diag.Count(len(order)-i, "type"))
				break
			}
			fmt.Fprintf(b, "- %s %s\n", view.Figure(left[key]), escape(cut(key, 120)))
		}
	}
}

func markdownChanges(b *strings.Builder, r *Record, f fold) {
	if f.changes == 0 {
		return
	}
	for i := range r.Resources {
		item := &r.Resources[i]
		if len(item.Changes) == 0 || !f.creates && item.Op == "create" {
			continue
		}
		lines := make([]string, 0, len(item.Changes))
		for k, line := range item.Changes {
			if k == f.changes {
				lines = append(lines, fmt.Sprintf("… and %s more", diag.Count(len(item.Changes)-k, "line")))
				break
			}
			line = cut(line, f.sizeLimit)
			if rest, changes := strings.CutPrefix(line, "~ "); changes { // the form that diff highlighting knows
				line = "! " + rest
			}
			lines = append(lines, line)
		}
		fmt.Fprintf(b, "\n<details><summary>%s %s: %s</summary>\n\n%s\n</details>\n", elementText(item.Sign),
			elementText(item.URN.Name()), elementText(item.Words), fenced("diff", lines))
	}
}

func markdownOutputs(b *strings.Builder, r *Record, f fold) {
	if len(r.Outputs) == 0 || f.rows == 0 {
		return
	}
	b.WriteString("\n| | output | value |\n|---|---|---|\n")
	for i, out := range r.Outputs {
		if i == max(f.rows/4, 20) {
			fmt.Fprintf(b, "\n… and %s more.\n", diag.Count(len(r.Outputs)-i, "output"))
			return
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", code(out.Sign), code(out.Name), code(cut(out.Text(), 200)))
	}
}

// fenced returns a block of code with a fence that does not occur in its lines.
func fenced(language string, lines []string) string {
	fence := "```"
	for _, line := range lines {
		for strings.Contains(line, fence) {
			fence += "`"
		}
	}
	return fence + language + "\n" + strings.Join(lines, "\n") + "\n" + fence + "\n"
}

// code returns a text as code in a line or a cell of a table.
func code(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	text = strings.NewReplacer("\n", " ", "\r", " ", "|", "\\|").Replace(text)
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}

// escape returns text with Markdown's special characters escaped.
func escape(text string) string {
	return strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "<", "&lt;", ">", "&gt;", "|", "\\|", "[",
		"\\[", "@", "@\u200b", "#", "\\#").Replace(text)
}

// elementText returns a text inside of an element.
func elementText(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\n", " ").Replace(text)
}
