package view

import (
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/schema"
)

// BlastRadius counts the objects that an operation destroys, and names those that hold data. Components, providers, and
// objects that are only removed from the state do not count.
type BlastRadius struct {
	Deleted  int    `json:"deleted"`
	Replaced int    `json:"replaced"`
	HoldData []Loss `json:"holdData,omitempty"` // resources that hold data, ordered by name
}

// Loss is an object with data that an operation destroys.
type Loss struct {
	URN  urn.URN   `json:"urn"`
	Type string    `json:"type"`
	Op   engine.Op `json:"op"` // delete or replace
}

//go:embed stateful.txt
var statefulList string

// statefulTypes are the built-in patterns of types that hold data, and the properties that show that a resource does.
var statefulTypes = sync.OnceValues(func() (types *regexp.Regexp, properties []string) {
	var globs []string
	for line := range strings.Lines(statefulList) {
		line = strings.TrimSpace(line)
		switch property, isProperty := strings.CutPrefix(line, "."); {
		case isProperty:
			properties = append(properties, property)
		case line != "" && !strings.HasPrefix(line, "#"):
			globs = append(globs, line)
		}
	}
	return globPattern(globs), properties
})

// globPattern matches texts that one of the globs matches; `*` stands for any text.
func globPattern(globs []string) *regexp.Regexp {
	parts := make([]string, len(globs))
	for i, glob := range globs {
		parts[i] = strings.ReplaceAll(regexp.QuoteMeta(glob), `\*`, `.*`)
	}
	return regexp.MustCompile(`^(?s:` + strings.Join(parts, "|") + `)$`)
}

// holdsData reports whether the object of a resource holds data, by the built-in list or by globs of the project.
func holdsData(r *state.Resource, globs []string) bool {
	types, properties := statefulTypes()
	if types.MatchString(r.Type) || len(globs) > 0 && globPattern(globs).MatchString(r.Type) {
		return true
	}
	return slices.ContainsFunc(properties, func(name string) bool {
		return !r.Inputs.Get(name).IsNull() || !r.Outputs.Get(name).IsNull()
	})
}

// Take counts a finished step. stateful are globs of further types that hold data.
func (b *BlastRadius) Take(s *engine.Step, stateful []string) {
	old := s.Old
	if old == nil || !old.Custom || old.External || old.RetainOnDelete || urn.IsProviderType(s.Type) {
		return
	}
	switch s.Op {
	case engine.OpDelete:
		b.Deleted++
	case engine.OpReplace:
		b.Replaced++
	default:
		return
	}
	if holdsData(old, stateful) {
		i, _ := slices.BinarySearchFunc(b.HoldData, s.URN, func(l Loss, u urn.URN) int {
			return cmp.Or(strings.Compare(l.URN.Name(), u.Name()), strings.Compare(string(l.URN), string(u)))
		})
		b.HoldData = slices.Insert(b.HoldData, i, Loss{s.URN, s.Type, s.Op})
	}
}

// Destroyed returns the number of objects that the operation destroys.
func (b *BlastRadius) Destroyed() int { return b.Deleted + b.Replaced }

// String returns one line, such as `2 deleted, 3 replaced, 1 holds data: db`; empty if nothing is destroyed.
func (b *BlastRadius) String() string {
	var parts []string
	if b.Deleted > 0 {
		parts = append(parts, Figure(b.Deleted)+" deleted")
	}
	if b.Replaced > 0 {
		parts = append(parts, Figure(b.Replaced)+" replaced")
	}
	if data := b.data(); data != "" {
		parts = append(parts, data)
	}
	return strings.Join(parts, ", ")
}

// data names what holds data, such as `1 holds data: db`; empty for nothing.
func (b *BlastRadius) data() string {
	n := len(b.HoldData)
	if n == 0 {
		return ""
	}
	names := make([]string, 0, min(n, 10)+1)
	for _, loss := range b.HoldData[:min(n, 10)] {
		names = append(names, loss.URN.Name())
	}
	if n > len(names) {
		names = append(names, "… and "+Figure(n-len(names))+" more")
	}
	verb := " hold data: "
	if n == 1 {
		verb = " holds data: "
	}
	return Figure(n) + verb + strings.Join(names, ", ")
}

// Sentence returns what a plan destroys, such as `Destroys 6 objects: 6 of the 8 to delete`, in two parts; empty if
// nothing. counts are those of the plan: components and the stack, which it deletes too, are no objects.
func (b *BlastRadius) Sentence(counts []Counted) (head, rest string) {
	if b.Destroyed() == 0 {
		return "", ""
	}
	var parts []string
	part := func(n int, op engine.Op) {
		if n == 0 {
			return
		}
		text := Figure(n)
		for _, c := range counts {
			if c.Op == op && c.N > n {
				text += " of the " + Figure(c.N)
			}
		}
		parts = append(parts, text+" to "+opStyles[op].planned)
	}
	part(b.Deleted, engine.OpDelete)
	part(b.Replaced, engine.OpReplace)
	if data := b.data(); data != "" {
		parts = append(parts, data)
	}
	return "Destroys " + diag.Count(b.Destroyed(), "object") + ":", strings.Join(parts, ", ")
}

// Question returns the data that would be lost, a line each, for the question before an operation; empty for none.
func (b *BlastRadius) Question() string {
	if len(b.HoldData) == 0 {
		return ""
	}
	var text strings.Builder
	text.WriteString("This destroys " + diag.Count(len(b.HoldData), "resource") + " that hold data:\n")
	for _, loss := range b.HoldData {
		_, words := PlannedWords(loss.Op)
		text.WriteString("  " + loss.URN.Name() + "  " + schema.CollapseToken(loss.Type) + "  (" + words + ")\n")
	}
	return text.String()
}
