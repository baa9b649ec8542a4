package plan

import (
	"errors"
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Facts are the inputs of an examination.
type Facts struct {
	Old      *state.Resource // nil when new
	Goal     *state.Resource // the examination fills in its inputs
	Wanted   value.Value     // the program's inputs
	Defaults []value.Path    // those of them that the program leaves to the package's schema
	Deleted  bool            // old was deleted earlier in this operation, on behalf of another resource
	Provided bool            // a provider manages the resource; a component has none
	DryRun   bool
	Around   Surroundings
	// Recorded is an earlier creation whose outcome is unknown and that is repeated now; nil if there is none.
	Recorded *state.Resource

	// OldProvider is the state of old's provider, nil when that is not in the state. FormerProvider is the URN under
	// which the provider of the goal was found, empty when that is its own.
	OldProvider    *state.Resource
	FormerProvider urn.URN
}

// Request is a question of an examination to a provider: a *Check, *Compare or *CompareProvider.
type Request interface{ isRequest() }

type (
	// Check asks the provider to check inputs; answered by Checked.
	Check struct {
		Olds, News value.Value
		// Anew reports whether the resource is made anew, so that its old inputs do not count.
		Anew bool
		// Second reports whether the inputs were checked before, against the old ones (E4.21).
		Second bool
	}
	// Compare asks the provider what it takes to get from the old state to the checked inputs; answered by Compared.
	Compare struct{ News value.Value }
	// CompareProvider asks whether the configuration of a resource's provider differs from its former provider's so
	// much that the resource has to be replaced (E3.35). ProviderCompared answers it.
	CompareProvider struct {
		Was *state.Resource
		Now urn.Reference
	}
)

func (*Check) isRequest()           {}
func (*Compare) isRequest()         {}
func (*CompareProvider) isRequest() {}

// Examination finds out what has to happen to one resource (E4.21–E4.51). It never asks a provider by itself: Next says
// what to ask, the caller asks it, and one of the answering methods takes the answer. At most four questions come, in
// this order, each only where the answers so far leave it open:
//
//	Check            against the old inputs; for a new resource, without any
//	CompareProvider  where the program names another provider than the state
//	Compare          unless a replacement is decided already
//	Check            once more, without the old inputs, where a replacement was decided: the new object takes over
//	                 nothing that the provider has made up for the old one, such as a name
//
//	for q := x.Next(); q != nil; q = x.Next() {
//		// ask a provider and call Checked, Compared or ProviderCompared
//	}
//	x.Diff, x.Goal.Inputs
type Examination struct {
	Facts
	Diff Diff
	// Ignored are the entries of ignoreChanges that could not be followed at the last check, for people (E4.65).
	Ignored []string
	// Err describes why the examination could not be completed: a reference to a provider that cannot be read.
	Err error

	stage stage
	last  *Check // the last one
	// a component's inputs as they are compared: with ignoreChanges, unlike those that are recorded (E2.33)
	kept value.Value
}

// stage is the progress of an examination. Checked moves it on; every other move is Next's.
type stage uint8

const (
	begun stage = iota
	checked
	providersCompared
	compared
	done
)

// Examine begins an examination. An error concerns the resource.
func Examine(f Facts) (*Examination, error) {
	x := &Examination{Facts: f}
	if x.fresh() {
		return x, nil
	}
	if trigger := f.Goal.ReplacementTrigger; !f.DryRun && !trigger.IsNull() && trigger.ContainsUnknown() { // E4.84
		return nil, fmt.Errorf("replacement trigger contains unknowns for %s", f.Goal.URN)
	}
	if d, ok := Forced(f.Old, f.Goal, f.Around); ok {
		x.Diff = d
	}
	return x, nil
}

// fresh reports whether the resource is made anew in any case.
func (f *Facts) fresh() bool { return f.Old == nil || f.Deleted || f.Old.External }

// Next returns what has to be asked next, nil when the examination is over.
func (x *Examination) Next() Request {
	for {
		switch x.stage {
		case begun:
			if q := x.check(x.fresh() || x.Diff.Unchecked, false); q != nil {
				return q
			}
			x.stage = checked
		case checked:
			if x.fresh() {
				x.stage = done
				continue
			}
			x.stage = providersCompared
			if q := x.compareProviders(); q != nil {
				return q
			}
		case providersCompared:
			x.stage = compared
			if !x.Diff.Replace && !x.Provided {
				x.Diff = ComponentDiff(x.Old, x.kept)
			} else if !x.Diff.Replace {
				return &Compare{News: x.Goal.Inputs}
			}
		case compared:
			x.stage = done
			x.Diff = x.Diff.ReplaceOn(x.Goal.ReplaceOnChanges, len(x.Old.InitErrors) > 0)
			if (x.Diff.Replace || x.Old.PendingReplacement) && !x.Diff.Unchecked { // E4.21, third row
				if q := x.check(true, true); q != nil {
					return q
				}
			}
		case done:
			return nil
		}
	}
}

// check prepares the check of the wanted inputs, with the old ones unless the resource is to be made anew. A second
// check sees what the program wants without ignoreChanges (E9.4). It is nil for a component, which has no provider to
// check it (E4.23).
func (x *Examination) check(anew, second bool) Request {
	prior, news := value.EmptyMap(), x.Wanted
	switch {
	case x.Old != nil && !anew:
		prior = x.Old.Inputs
		news = withoutNewDefaults(news, prior, x.Defaults)
	case anew && x.Recorded != nil: // so that the provider makes up the same name as at the first attempt
		prior = x.Recorded.Inputs
	}
	x.Goal.Inputs = news
	if !second && !x.fresh() && len(x.Goal.IgnoreChanges) > 0 { // E4.66
		news, x.Ignored = Ignoring(x.Goal.IgnoreChanges, x.Old.Inputs, news)
	}
	if !x.Provided {
		x.kept = news
		return nil
	}
	x.Goal.Inputs = news
	x.last = &Check{Olds: prior, News: news, Anew: anew, Second: second}
	return x.last
}

// Checked takes the answer to a Check: the inputs that the provider goes on with (E4.25), of any other kind than a map
// when it has nothing to say.
func (x *Examination) Checked(inputs value.Value) {
	if inputs.Is(value.KindMap) {
		x.Goal.Inputs = sharedWith(inputs.DeepWithoutDeps(), x.last.Olds, x.last.News)
	}
	if x.last.Anew && x.Recorded != nil {
		x.Goal.Inputs = againWith(x.Recorded.Inputs, x.last.News, x.Goal.Inputs)
	}
	if x.stage == begun {
		x.stage = checked
	}
}

// sharedWith is the first of others that says the same as an answer, which then need not be kept; most do.
func sharedWith(answer value.Value, others ...value.Value) value.Value {
	for _, other := range others {
		if value.Identical(answer, other) {
			return other
		}
	}
	return answer
}

// compareProviders finds out whether the resource has another provider, as far as that can be told without asking
// (E3.35, E4.42).
func (x *Examination) compareProviders() Request {
	if x.Diff.Replace {
		return nil
	}
	old, goal := x.Old, x.Goal
	switch {
	case old.Provider == goal.Provider:
		x.ProviderCompared(old.Custom != goal.Custom)
		return nil
	case old.Provider == "" || goal.Provider == "":
		x.ProviderCompared(true)
		return nil
	}
	before, err := urn.ParseReference(old.Provider)
	now, badNow := urn.ParseReference(goal.Provider)
	if x.Err = errors.Join(err, badNow); x.Err != nil {
		x.stage = done
		return nil
	}
	// A provider that only has another name is the same one. One that the state does not have cannot be compared.
	renamed := before.ID == now.ID && x.FormerProvider == before.URN
	if renamed || x.OldProvider == nil {
		return nil
	}
	return &CompareProvider{Was: x.OldProvider, Now: now}
}

// ProviderCompared takes the answer to a CompareProvider.
func (x *Examination) ProviderCompared(replaced bool) {
	if replaced {
		x.Diff = ProviderReplaced()
	}
}

// Compared takes the answer to a Compare.
func (x *Examination) Compared(answer provider.DiffResponse) {
	x.Diff = ProviderDiff(answer, x.Old.Inputs, x.Goal.Inputs, x.Goal.IgnoreChanges)
}

// againWith returns the inputs for a second attempt at a creation. If the program wants the same as in the first
// attempt, these are the first attempt's inputs: the automatic name is the same, and a second object collides with
// the first. Otherwise they are checked, which the provider has made of wanted now, with the properties that the
// provider filled in at the first attempt.
func againWith(recorded, wanted, checked value.Value) value.Value {
	same := true
	for i, key := range wanted.Keys() {
		was, found := recorded.Lookup(key)
		same = same && found && value.SameContent(was, wanted.At(i))
	}
	for _, key := range checked.Keys() {
		if wanted.Has(key) {
			continue
		}
		was, found := recorded.Lookup(key)
		switch {
		case !found:
			same = false
		case !strings.HasPrefix(key, "__"): // those are the provider's notes about all of its inputs
			checked = checked.With(key, was)
		}
	}
	for _, key := range recorded.Keys() { // the program wanted more then
		same = same && checked.Has(key)
	}
	if same {
		return recorded.SecretLike(checked)
	}
	return checked
}

// withoutNewDefaults returns inputs without those defaults that an existing resource does not have, so that a stack
// which another program has made, or a schema that has got a default since, changes nothing by itself. A default counts
// for an existing resource where its recorded inputs have that property, or lack all that is around it (L3.15).
func withoutNewDefaults(inputs, recorded value.Value, defaults []value.Path) value.Value {
	for _, path := range defaults {
		if len(path) > 1 {
			if around, found := path[:len(path)-1].Get(recorded); !found || !around.Is(value.KindMap) {
				continue // a part that is new has its defaults
			}
		}
		if _, had := path.Get(recorded); !had {
			inputs, _ = path.Delete(inputs)
		}
	}
	return inputs
}
