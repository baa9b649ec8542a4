package engine

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// The faults of TestFailureStopsWhatNeedsIt.
const (
	sound     = "none"
	rejected  = "check rejects an input"
	unchecked = "check fails"
	unequal   = "diff fails"
	guarded   = "a protected resource would be replaced"
	denied    = "the default provider is disabled"
	orphaned  = "the parent was not registered"
	uncreated = "create fails"
)

// faulty is a node of a graph of resources.
type faulty struct {
	fault string
	prior bool // exists before the run
	needs []int
}

// request returns the registration of a node; urns are those of all nodes.
func (f *faulty) request(i int, version string, stack urn.URN, urns []urn.URN) monitor.RegisterRequest {
	inputs := value.MapOf(value.Entry{Key: "v", Value: value.String(version)})
	r := monitor.RegisterRequest{Type: "test:index:Res", Custom: true, Name: fmt.Sprintf("n%d", i), Parent: stack}
	for _, need := range f.needs {
		r.Dependencies = append(r.Dependencies, urns[need])
	}
	protect := f.fault == guarded
	r.Protect = &protect
	if version == "2" {
		switch f.fault {
		case rejected:
			inputs = inputs.With("bad", value.String("1"))
		case guarded:
			inputs = inputs.With("repl", value.String("1"))
		case denied:
			r.Type = "other:index:Res"
		case orphaned:
			r.Parent = urn.New("dev", "p", "", "my:index:Comp", "none")
		}
	}
	r.Inputs = inputs
	return r
}

// E4.26, E4.130, E5.44: with ContinueOnError, and in a preview, a failure stops what needs it and nothing else: every
// resource that needs no failed one gets its step, all others keep their state, and nothing of the program is deleted.
// Without ContinueOnError an update does nothing that needs a failed resource either.
func TestFailureStopsWhatNeedsIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		preview, goOn := rapid.Bool().Draw(t, "preview"), rapid.Bool().Draw(t, "go on")
		asks := rapid.Bool().Draw(t, "the program registers what needs a failed resource")
		nodes := make([]faulty, rapid.IntRange(1, 8).Draw(t, "nodes"))
		stopped := make([]bool, len(nodes)) // failed, or needs something that failed
		first := len(nodes)                 // the first fault
		for i := range nodes {
			n := &nodes[i]
			n.prior = rapid.Bool().Draw(t, "prior")
			kinds := []string{sound, sound, sound, rejected, unchecked, orphaned}
			switch {
			case n.prior:
				kinds = append(kinds, unequal)
			case !preview:
				kinds = append(kinds, uncreated)
			}
			if n.prior && !preview {
				kinds = append(kinds, guarded)
			}
			if !n.prior {
				kinds = append(kinds, denied)
			}
			n.fault = rapid.SampledFrom(kinds).Draw(t, "fault")
			for need := range i {
				if (!n.prior || nodes[need].prior) && rapid.IntRange(0, 3).Draw(t, "needs") == 0 {
					n.needs = append(n.needs, need)
					stopped[i] = stopped[i] || stopped[need]
				}
			}
			if stopped[i] {
				n.fault = sound
			}
			if n.fault != sound {
				stopped[i], first = true, min(first, i)
			}
		}
		w := newWorld()
		w.cloud.log = func(string, ...any) {}
		urns := make([]urn.URN, len(nodes))
		var unexpected []string // answers, as the program runs on another goroutine
		update := func(version string, dryRun, goOn bool) (taken map[urn.URN]bool, result *Result) {
			o, m := w.options(1, dryRun)
			o.ContinueOnError = goOn
			if version == "2" {
				o.Config["pulumi:disable-default-providers"] = `["other"]`
			}
			taken = map[urn.URN]bool{}
			o.Events = func(e Event) {
				if done, ok := e.(*StepFinished); ok {
					taken[done.Step.URN] = true
				}
			}
			result, err := Update(context.Background(), o, inStack(func(ctx context.Context, m monitor.Monitor, stack urn.URN) error {
				failed, answered := make([]bool, len(nodes)), make([]bool, len(nodes))
				var last error
				for i := range nodes {
					if version == "1" && !nodes[i].prior {
						continue
					}
					known := true
					for _, need := range nodes[i].needs {
						failed[i] = failed[i] || failed[need]
						known = known && answered[need]
					}
					if failed[i] && !(asks && known) {
						last = monitor.ErrReported
						continue
					}
					answer, err := m.RegisterResource(ctx, nodes[i].request(i, version, stack, urns))
					if urns[i] == "" {
						urns[i] = answer.URN
					}
					if failed[i] && goOn && err == nil && answer.Result != monitor.Skipped {
						unexpected = append(unexpected, fmt.Sprintf("n%d is not skipped", i))
					}
					answered[i] = err == nil
					if err != nil {
						last = err
					}
					failed[i] = failed[i] || err != nil || answer.Result != monitor.Succeeded
				}
				return last
			}))
			require.NoError(t, err)
			if m != nil {
				m.requireSound(t, w.state)
				w.state = result.Snapshot
			}
			return taken, result
		}
		_, result := update("1", false, false)
		require.False(t, result.Failed)
		for i := range nodes {
			name := fmt.Sprintf("n%d", i)
			switch nodes[i].fault {
			case unchecked:
				w.cloud.fails["check "+name] = failure{message: "trouble"}
			case unequal:
				w.cloud.fails["diff "+name] = failure{message: "trouble"}
			case uncreated:
				w.cloud.fails["create "+name] = failure{message: "trouble"}
			}
		}
		taken, result := update("2", preview, goOn)
		require.Empty(t, unexpected)
		require.Equal(t, first < len(nodes), result.Failed)
		for i := range nodes {
			r := nodes[i].request(i, "1", "", urns)
			u := urn.New("dev", "p", "", r.Type, r.Name)
			expected := !stopped[i] && (goOn || preview || i < first)
			require.Equal(t, expected, taken[u], "%s (%s), after %v", u, nodes[i].fault, nodes[i].needs)
			if preview {
				continue
			}
			kept := ""
			for _, s := range w.state.Resources {
				if s.URN == u {
					kept, _ = s.Inputs.Get("v").AsString()
				}
			}
			switch {
			case expected:
				require.Equal(t, "2", kept, "%s", u)
			case nodes[i].prior:
				require.Equal(t, "1", kept, "%s keeps its state", u)
			default:
				require.Empty(t, kept, "%s", u)
			}
		}
	})
}
