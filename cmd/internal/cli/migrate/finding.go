package migrate

import (
	"fmt"
	"io"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/contract"
)

// grade is how a part of a project fares here.
type grade string

const (
	same    grade = "same"    // as under the Pulumi CLI
	differs grade = "differs" // works, in another way
	changes grade = "changes" // works, but the first operation would change what exists
	missing grade = "missing" // has to be there first
	refused grade = "refused" // does not work here
)

// finding is a result about one part of a project.
type finding struct {
	Part  string `json:"part"` // project, backend, program, plugins, or `stack` and its name
	Grade grade  `json:"grade"`
	Text  string `json:"text"`
	Way   string `json:"way,omitempty"` // what to do; empty when there is nothing to do
}

// survey is all that was found out.
type survey struct {
	Project string `json:"project"`
	Backend string `json:"backend,omitempty"` // without what signs in
	// no finding prevents the move: none has the grade changes, missing or refused
	Ready    bool          `json:"ready"`
	Stacks   []stackResult `json:"stacks"`
	Findings []finding     `json:"findings"`
}

// stackResult reports whether a stack can be operated on here as it is.
type stackResult struct {
	Name      string `json:"name"`
	Resources int    `json:"resources"`
	Ready     bool   `json:"ready"`
}

func (s *survey) add(part string, g grade, way, format string, args ...any) {
	s.Findings = append(s.Findings, finding{part, g, fmt.Sprintf(format, args...), way})
}

// obstacles counts the findings, from an index on, that prevent the move.
func (s *survey) obstacles(from int) (n int) {
	for _, f := range s.Findings[from:] {
		if f.Grade == changes || f.Grade == missing || f.Grade == refused {
			n++
		}
	}
	return n
}

func (s *survey) writeText(w io.Writer) error {
	err := console.Table(w, func(table io.Writer) {
		for _, f := range s.Findings {
			fmt.Fprintf(table, "%s\t%s\t%s\n", f.Grade, f.Part, f.Text)
			if f.Way != "" {
				fmt.Fprintf(table, "\t\t%s\n", f.Way)
			}
		}
	})
	if err != nil || !s.Ready {
		return err
	}
	_, err = fmt.Fprint(w,
		"\nReady. Nothing was changed. `yamlhost preview --expect-no-changes` shows that nothing would be;\n"+
			"the Pulumi CLI can take each stack back at any time.\n")
	return err
}

// Contracts are the JSON forms that this package writes.
var Contracts = []contract.Contract{
	contract.Of[survey]("migration", "how a project of the Pulumi CLI would work here", "`migrate --check --format json`"),
}
