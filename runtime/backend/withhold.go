package backend

import (
	"errors"

	"github.com/yamlhost/yamlhost/runtime/journal"
)

// errNotBegun is returned when a step was not begun because what it is about could not be recorded; nothing has
// happened.
var errNotBegun = errors.New("the step was not begun")

// withholdSecrets returns the end of a step without its secrets: each is null, and its resource has a note. The
// beginning of a step is refused: anyone who cannot record it must not take it.
func withholdSecrets(e journal.Entry) (journal.Entry, error) {
	if e.Begin != nil {
		return e, errNotBegun
	}
	e.Add, e.Amend = withoutSecrets(e.Add), withoutSecrets(e.Amend)
	return e, nil
}

// withoutSecrets returns resources with every secret left out.
func withoutSecrets(list []journal.Amended) []journal.Amended {
	kept := make([]journal.Amended, len(list))
	for i, a := range list {
		kept[i] = journal.Amended{ID: a.ID, Resource: a.Resource.WithoutSecrets()}
	}
	return kept
}
