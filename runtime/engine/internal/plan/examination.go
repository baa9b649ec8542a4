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
	Old      *state.Resource // nil for a new resource
	Goal     *state.Resource // the examination sets its inputs
	Wanted   value.Value     // the program's inputs
	Defaults []value.Path    // paths in Wanted whose values are defaults of the package's schema
	Deleted  bool            // Old was deleted earlier in this operation, on behalf of another resource
	Provided bool            // a provider manages the resource, as for all but components
	DryRun   bool
	Around   Surroundings
	// Recorded is an earlier creation with unknown outcome that is repeated now, or nil.
	Recorded *state.Resource

	// OldProvider is the state of Old's provider, nil if the state lacks it. FormerProvider is the prior URN of the
	// goal's provider if that was renamed.
	OldProvider    *state.Resource
	FormerProvider urn.URN
}

// Request is a question of an examination to a provider: a *Check, *Compare or *CompareProvider.
type Request interface{ isRequest() }

type (
	// Check asks the provider to check inputs. Checked takes the answer.
	Check struct {
		Olds, News value.Value
		// Anew reports whether the resource is created anew, so that its prior inputs are not passed.
		Anew bool
		// Second reports whether the inputs were checked before, with the prior ones (E4.21).
		Second bool
	}
	// Compare asks the provider for the diff between the prior state and the checked inputs. Compared takes the answer.
	Compare struct{ News value.Value }
	// CompareProvider asks whether the configuration of the resource's provider differs from that of its former
	// provider so much that the resource must be replaced (E3.35). ProviderCompared takes the answer.
	CompareProvider struct {
		Was *state.Resource
		Now urn.Reference
	}
)

func (*Check) isRequest()           {}
func (*Compare) isRequest()         {}
func (*CompareProvider) isRequest() {}

// Answers asks a resource's provider the questions of an examination. Each method passes the answer on to that, or
// returns an error, which ends it.
type Answers interface {
	Check(*Examination, *Check) error
	Compare(*Examination, *Compare) error
	CompareProvider(*Examination, *CompareProvider) error
}

// Examination determines what has to change for one resource (E4.21–E4.51). It does not call providers itself: Next
// returns a question, the caller asks the provider, and passes the answer to the matching method; Ask does that until
// the end. There are at most four questions, in this order, each only if the earlier answers leave it open:
//
//	Check            with the prior inputs; for a new resource, without any
//	CompareProvider  if the program names another provider than the state
//	Compare          unless a replacement is decided already
//	Check            again without the prior inputs, if a replacement is decided: the new object must not inherit
//	                 values that the provider generated for the old one, such as a name
//
// The results are Diff and the inputs of Goal.
type Examination struct {
	Facts
	Diff Diff
	// Ignored are the paths of ignoreChanges that had no effect at the last check, for a message (E4.65).
	Ignored []string
	// Err is set if the examination cannot go on because of an invalid provider reference.
	Err error

	stage stage
	last  *Check // the last check that Next returned
	// kept holds a component's inputs for the comparison: with ignoreChanges, unlike the recorded ones (E2.33).
	kept value.Value
}

// stage is the progress of an examination. Only Checked and Next change it.
type stage uint8

const (
	begun stage = iota
	checked
	providersCompared
	compared
	done
)

// Examine begins an examination. It returns an error if the resource itself is at fault.
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

// Ask puts all questions of the examination.
func (x *Examination) Ask(a Answers) (err error) {
	for q := x.Next(); q != nil && err == nil; q = x.Next() {
		switch q := q.(type) {
		case *Check:
			err = a.Check(x, q)
		case *Compare:
			err = a.Compare(x, q)
		case *CompareProvider:
			err = a.CompareProvider(x, q)
		}
	}
	return err
}

// fresh reports whether the resource is created anew in any case.
func (f *Facts) fresh() bool { return f.Old == nil || f.Deleted || f.Old.External }

// Next returns the next question, or nil when the examination is complete.
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

// check returns a check of the wanted inputs, with the prior inputs unless anew is set. A second check does not apply
// ignoreChanges (E9.4). It returns nil for a component, which has no provider (E4.23).
func (x *Examination) check(anew, second bool) Request {
	prior, news := value.EmptyMap(), x.Wanted
	switch {
	case x.Old != nil && !anew:
		prior = x.Old.Inputs
		news = withoutNewDefaults(news, prior, x.Defaults)
	case anew && x.Recorded != nil: // the provider then generates the same name as in the first attempt
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

// Checked takes the answer to a Check: the inputs to continue with (E4.25), or a value that is no map to keep them
// unchanged.
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

// sharedWith returns the first of others that is identical to answer, to save memory; most answers are.
func sharedWith(answer value.Value, others ...value.Value) value.Value {
	for _, other := range others {
		if value.Identical(answer, other) {
			return other
		}
	}
	return answer
}

// compareProviders compares the providers of the goal and the prior state as far as possible without a provider call
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
	// A renamed provider is the same one. A provider that the state lacks cannot be compared.
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

// againWith returns the inputs for a repeated creation. If the program wants the same as in the first attempt, these
// are the recorded inputs, so the automatic name is the same and a second object collides with the first. Otherwise
// these are the checked inputs, with the properties that the provider filled in at the first attempt.
func againWith(recorded, wanted, checked value.Value) value.Value {
	same := true
	for i, key := range wanted.Keys() {
		former, found := recorded.Lookup(key)
		same = same && found && value.SameContent(former, wanted.At(i))
	}
	for _, key := range checked.Keys() {
		if wanted.Has(key) {
			continue
		}
		former, found := recorded.Lookup(key)
		switch {
		case !found:
			same = false
		case !strings.HasPrefix(key, "__"): // the provider's metadata describes all inputs
			checked = checked.With(key, former)
		}
	}
	for _, key := range recorded.Keys() { // the program has dropped an input since
		same = same && checked.Has(key)
	}
	if same {
		return recorded.SecretLike(checked)
	}
	return checked
}

// withoutNewDefaults returns inputs without defaults that the existing resource lacks: a stack made by another program,
// or a default added to the schema since, must not change anything. A default is kept if the recorded inputs have the
// property, or lack the whole object around it (L3.15).
func withoutNewDefaults(inputs, recorded value.Value, defaults []value.Path) value.Value {
	for _, path := range defaults {
		if len(path) > 1 {
			if around, found := path[:len(path)-1].Get(recorded); !found || !around.Is(value.KindMap) {
				continue // a new object gets its defaults
			}
		}
		if _, present := path.Get(recorded); !present {
			inputs, _ = path.Delete(inputs)
		}
	}
	return inputs
}
