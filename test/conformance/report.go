package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// report holds the results of a run of the suite.
type report struct {
	Results []result
	Took    time.Duration
	Mode    string
}

// count counts the outcomes of a level, or of all levels if it is empty.
func (r *report) count(level string) map[outcome]int {
	n := map[outcome]int{}
	for _, x := range r.Results {
		if level == "" || levelOf(x.Name) == level {
			n[x.Outcome]++
		}
	}
	return n
}

// print writes the failed and skipped tests, and then the figures.
func (r *report) print(w io.Writer) {
	for _, x := range r.Results {
		switch x.Outcome {
		case failed:
			fmt.Fprintf(w, "FAIL %s\n     %s\n", x.Name, strings.ReplaceAll(strings.TrimSpace(x.Reason), "\n", "\n     "))
		case skipped:
			fmt.Fprintf(w, "skip %s: %s\n", x.Name, x.Reason)
		}
	}
	fmt.Fprintf(w, "\n%s, %s\n%s", r.Mode, r.Took.Round(time.Second), r.figures())
}

func (r *report) figures() string {
	var b strings.Builder
	b.WriteString("| level | pass | fail | skip | all |\n|---|---:|---:|---:|---:|\n")
	for _, level := range append(slices.Clone(levels), "") {
		n := r.count(level)
		name := level
		if name == "" {
			name = "together"
		}
		if all := n[passed] + n[failed] + n[skipped]; all > 0 {
			fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", name, n[passed], n[failed], n[skipped], all)
		}
	}
	return b.String()
}

// The marks between which the table stands in a document, by mode.
const (
	tableStart = "<!-- conformance: %s -->\n"
	tableEnd   = "<!-- end -->\n"
)

// writeTable replaces the table of this mode in a document.
func (r *report) writeTable(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	start := fmt.Sprintf(tableStart, r.Mode)
	before, rest, found := strings.Cut(string(text), start)
	_, after, ended := strings.Cut(rest, tableEnd)
	if !found || !ended {
		return fmt.Errorf("%s has no place for the table: it needs the lines %q and %q", path, strings.TrimSpace(start),
			strings.TrimSpace(tableEnd))
	}
	var b strings.Builder
	b.WriteString(before + start + r.figures() + "\n")
	for _, list := range []struct {
		title string
		which outcome
	}{{"Failing", failed}, {"Skipped", skipped}} {
		names := map[string][]string{}
		var reasons []string
		for _, x := range r.Results {
			if x.Outcome != list.which {
				continue
			}
			reason := ""
			if list.which == skipped {
				reason = x.Reason
			}
			if names[reason] == nil {
				reasons = append(reasons, reason)
			}
			names[reason] = append(names[reason], x.Name)
		}
		for _, reason := range reasons {
			title := list.title
			if reason != "" {
				title += " because " + reason
			}
			fmt.Fprintf(&b, "%s: %s.\n\n", title, strings.Join(names[reason], ", "))
		}
	}
	b.WriteString(tableEnd + after)
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// writePassing lists the tests that passed.
func (r *report) writePassing(path string) error {
	var b strings.Builder
	b.WriteString("# The tests of the suite that pass with " + r.Mode + ". Written by the flag -accept.\n")
	for _, x := range r.Results {
		if x.Outcome == passed {
			b.WriteString(x.Name + "\n")
		}
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// compare returns an error if a test of the list did not pass.
func (r *report) compare(path string, chosen []string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	outcomes := map[string]outcome{}
	for _, x := range r.Results {
		outcomes[x.Name] = x.Outcome
	}
	var lost []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name := strings.TrimSpace(lines.Text())
		if name == "" || strings.HasPrefix(name, "#") || !slices.Contains(chosen, name) {
			continue
		}
		if outcomes[name] != passed {
			lost = append(lost, name)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if len(lost) > 0 {
		return fmt.Errorf("%d tests that used to pass do not: %s", len(lost), strings.Join(lost, ", "))
	}
	return nil
}
