package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// The elements of a JUnit report, in the order of its schema.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Time     string       `xml:"time,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string           `xml:"name,attr"`
		Tests      int              `xml:"tests,attr"`
		Failures   int              `xml:"failures,attr"`
		Errors     int              `xml:"errors,attr"`
		Skipped    int              `xml:"skipped,attr"`
		Time       string           `xml:"time,attr"`
		Timestamp  string           `xml:"timestamp,attr"`
		Properties *junitProperties // nil if empty: the schema requires at least one
		Cases      []junitCase      `xml:"testcase"`
	}
	junitProperties struct {
		XMLName xml.Name        `xml:"properties"`
		List    []junitProperty `xml:"property"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name      string       `xml:"name,attr"`
		Classname string       `xml:"classname,attr"`
		Time      string       `xml:"time,attr"`
		Skipped   *string      `xml:"skipped"`
		Errors    []junitFault `xml:"error"`
		Failures  []junitFault `xml:"failure"`
		Out       string       `xml:"system-out,omitempty"`
	}
	junitFault struct {
		Message string `xml:"message,attr,omitempty"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes a suite for each stack.
func writeJUnit(w io.Writer, r *Record) error {
	all := junitSuites{Name: "yamlhost " + r.Command, Time: junitTime(r.Took)}
	records := []*Record{r}
	if len(r.Parts) > 0 {
		records = r.Parts
	}
	for _, part := range records {
		suite := junitSuiteOf(part)
		all.Tests, all.Failures, all.Errors = all.Tests+suite.Tests, all.Failures+suite.Failures,
			all.Errors+suite.Errors
		all.Suites = append(all.Suites, suite)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// junitSuiteOf returns a suite with a test for each resource, and one for the command itself, with all errors that
// concern no resource.
func junitSuiteOf(r *Record) junitSuite {
	suite := junitSuite{Name: r.name(), Time: junitTime(r.Took), Timestamp: r.Began.UTC().Format("2006-01-02T15:04:05")}
	for _, p := range r.Origin {
		if suite.Properties == nil {
			suite.Properties = &junitProperties{}
		}
		suite.Properties.List = append(suite.Properties.List, junitProperty{p[0], p[1]})
	}
	command := junitCase{Name: "yamlhost " + r.Command, Classname: "yamlhost", Time: junitTime(r.Took)}
	if r.Skipped != "" {
		command.Skipped = &r.Skipped
	}
	about := map[urn.URN][]view.Finding{}
	for _, f := range r.Findings {
		about[f.URN] = append(about[f.URN], f)
	}
	var cases []junitCase
	for i := range r.Resources {
		item := &r.Resources[i]
		test := junitCase{Name: item.URN.Name(), Classname: cmp.Or(item.URN.Type(), "resource"), Time: junitTime(item.Took),
			Out: caseText(item)}
		test.Failures = faults(about[item.URN])
		delete(about, item.URN)
		switch {
		case item.Outcome == view.Skipped, item.Outcome == view.NotStarted:
			text := item.Words
			if item.Outcome == view.Skipped && r.Result != "interrupted" {
				text += " because of earlier errors"
			}
			test.Skipped = &text
		case item.Outcome == view.Interrupted, item.Outcome == view.Failed && len(test.Failures) == 0:
			what := "interrupted"
			if item.Outcome == view.Failed {
				what = "failed"
			}
			test.Failures = append(test.Failures, junitFault{Message: item.Words, Type: what, Text: item.Words})
		}
		cases = append(cases, test)
	}
	for _, c := range r.Cases {
		test := junitCase{Name: c.Name, Classname: c.File, Time: junitTime(c.Took)}
		for _, d := range c.Failures {
			test.Failures = append(test.Failures, junitFault{Message: d.Summary, Type: "failure", Text: textOf(d, 0)})
		}
		cases = append(cases, test)
	}
	command.Errors = faults(slices.DeleteFunc(slices.Clone(r.Findings), func(f view.Finding) bool {
		_, rest := about[f.URN]
		return !rest
	}))
	failed := slices.ContainsFunc(cases, func(c junitCase) bool { return len(c.Failures) > 0 })
	if r.Exit.Code != 0 && len(command.Errors) == 0 && !failed {
		command.Errors = []junitFault{{Message: r.Headline(), Type: r.Exit.Name, Text: r.Headline()}}
	}
	suite.Cases = append([]junitCase{command}, cases...)
	for i := range suite.Cases {
		test := &suite.Cases[i]
		suite.Tests++
		switch {
		case test.Skipped != nil:
			suite.Skipped++
		case len(test.Errors) > 0:
			suite.Errors++
		case len(test.Failures) > 0:
			suite.Failures++
		}
	}
	return suite
}

// faults returns the errors among findings.
func faults(list []view.Finding) []junitFault {
	var out []junitFault
	for _, f := range list {
		if f.Severity == diag.Error {
			out = append(out, junitFault{Message: f.Summary, Type: string(f.Code), Text: textOf(f.Diagnostic, 20)})
		}
	}
	return out
}

// caseText describes the result of a resource, with its changes.
func caseText(item *view.Resource) string {
	if !item.Changed() {
		return ""
	}
	return strings.Join(append([]string{strings.TrimSpace(item.Sign + " " + item.Words)}, item.Changes...), "\n")
}

func junitTime(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
