package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// kind is a form of report. Exactly one of its members write and stream is set.
type kind struct {
	name, summary string
	// write writes a whole report at the end.
	write func(w io.Writer, r *Record) error
	// stream makes a report that is written while things happen.
	stream func(w io.Writer) streamed
}

// kinds are all kinds, in the order of the help.
var kinds = []kind{
	{name: "text", summary: "the text of a terminal, for logs", stream: newText},
	{name: "json", summary: "one document", write: writeJSONDocument},
	{name: "events", summary: "a line of JSON for each event", stream: newEvents},
	{name: "markdown", summary: "a summary for a pull request", write: WriteMarkdown},
	{name: "junit", summary: "a test for each resource", write: writeJUnit},
	{name: "sarif", summary: "findings for code scanning", write: writeSARIF},
	{name: "github", summary: "annotations of a pull request", write: writeGitHub},
	{name: "gitlab", summary: "findings as GitLab's code quality", write: writeGitLab},
	{name: "html", summary: "one page with tree, filters and graph", write: WriteHTML},
}

// Kinds are the names of all kinds.
func Kinds() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// KindHelp lists the kinds with what they are.
func KindHelp() string {
	var parts []string
	for _, k := range kinds {
		parts = append(parts, k.name+" ("+k.summary+")")
	}
	return strings.Join(parts, ", ")
}

// findKind finds a kind by its name.
func findKind(name string) (kind, error) {
	for _, k := range kinds {
		if k.name == name {
			return k, nil
		}
	}
	return kind{}, fmt.Errorf("there is no report of the kind %q%s\nThe kinds are %s.", name,
		diag.DidYouMean(name, Kinds()), strings.Join(Kinds(), ", "))
}

// Spec is one --out: a kind, and where it goes.
type Spec struct {
	Kind string
	File string // "-" for standard output
}

// ParseSpec reads KIND=FILE.
func ParseSpec(text string) (Spec, error) {
	name, file, found := strings.Cut(text, "=")
	if !found || file == "" {
		return Spec{}, fmt.Errorf("--out takes KIND=FILE, such as junit=results.xml, not %q", text)
	}
	if _, err := findKind(name); err != nil {
		return Spec{}, err
	}
	return Spec{Kind: name, File: file}, nil
}

// Contracts are the JSON forms that this package writes.
var Contracts = []contract.Contract{
	contract.Of[diag.Document]("findings", "what the checker found", "`check --format json`, `--out json`"),
	contract.Of[digestJSON]("operation", "a plan, or what an operation has done",
		"`preview --json`, `run --plan-only --json`, `drift --json`, `--out json`"),
	contract.Of[envelope]("event", "an event of an operation", "`up --json` and the like, `--event-log`, `--out events`").
		EachLine(),
	contract.Of[partsJSON]("operations", "what a command about many stacks has done",
		"`preview --json` and `--out json` of commands about many stacks"),
}
