package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view/viewtest"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// The JSON of step events, whole: testdata/steps.txt has a line for each case.
func TestStepsAsJSON(t *testing.T) {
	t.Parallel()
	pet := func(inputs, outputs value.Value) *state.Resource {
		return &state.Resource{URN: viewtest.PetURN, Type: viewtest.PetURN.Type(), Inputs: inputs, Outputs: outputs}
	}
	one := func(v value.Value) value.Value { return value.EmptyMap().With("a", v) }
	plain := pet(value.EmptyMap(), value.EmptyMap())
	full := &state.Resource{URN: viewtest.PetURN, Type: viewtest.PetURN.Type(), Custom: true, Delete: true, ID: "i", Parent: viewtest.StackURN,
		Protect: true, Taint: true,
		External: true, RetainOnDelete: true, Provider: "ref", InitErrors: []string{"e"}, HideDiffs: []string{"h"}}
	created := pet(one(value.Int(1)), one(value.Int(2)))
	created.ID = "i"
	step := func(op engine.Op, before, after *state.Resource) *engine.Step {
		return &engine.Step{Op: op, URN: viewtest.PetURN, Type: viewtest.PetURN.Type(), Old: before, New: after}
	}
	started := func(s *engine.Step) engine.Event { return &engine.StepStarted{Step: s} }
	finished := func(s *engine.Step) engine.Event { return &engine.StepFinished{Step: s, Op: s.Op} }
	asset := value.NewAsset(&value.Asset{HasText: true, Text: "long text", Hash: "abc"})
	var got strings.Builder
	for _, c := range []struct {
		name  string
		event engine.Event
		shown bool // secrets are shown
	}{
		{name: "E8.14 E8.15 a replacement", event: finished(&engine.Step{Op: engine.OpReplace, URN: viewtest.PetURN,
			Type: viewtest.PetURN.Type(), Provider: "ref",
			Old: plain, New: plain, Keys: []string{"k"}, Diffs: []string{"d"}, Detailed: map[string]provider.PropertyDiff{
				"a": {Kind: provider.DiffAdd}, "b": {Kind: provider.DiffAddReplace, InputDiff: true},
				"c": {Kind: provider.DiffDelete},
				"d": {Kind: provider.DiffDeleteReplace}, "e": {Kind: provider.DiffUpdate},
				"f": {Kind: provider.DiffUpdateReplace}}})},
		{name: "E8.1 a part of a replacement is not logical", event: started(step(engine.OpCreateReplacement, plain, plain))},
		{name: "E8.16 a create has nothing old", event: started(step(engine.OpCreate, nil, plain))},
		{name: "E8.16 a deletion has nothing new", event: started(step(engine.OpDelete, plain, nil))},
		{name: "E8.17 all of a state", event: started(step(engine.OpDelete, full, nil))},
		{name: "E8.18 an asset, a secret and an unknown value",
			event: started(step(engine.OpCreate, nil, pet(value.Map(map[string]value.Value{
				"a": asset, "s": value.String("hush").Secret(), "u": value.Unknown(value.KindAny)}), value.EmptyMap())))},
		{name: "E8.18 secrets on demand", shown: true,
			event: started(step(engine.OpCreate, nil, pet(one(value.String("hush").Secret()), value.Null)))},
		{name: "E8.19 the state at the end", event: finished(step(engine.OpCreate, nil, created))},
		{name: "E8.20 a preview", event: &engine.StepStarted{Step: step(engine.OpCreate, nil, plain), Planning: true}},
		{name: "E8.20 the end of a previewed step",
			event: &engine.StepFinished{Step: step(engine.OpCreate, nil, plain), Op: engine.OpCreate, Planning: true}},
		{name: "E8.20 not a preview", event: started(step(engine.OpCreate, nil, plain))},
	} {
		var out bytes.Buffer
		NewLines(&out, view.Options{Detail: view.Detail{ShowSecrets: c.shown}}, mask.New()).Event(c.event)
		var line map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(out.Bytes(), &line))
		delete(line, "sequence")
		delete(line, "timestamp")
		text := strings.TrimSpace(out.String())
		for name, event := range line {
			text = name + " " + string(event)
		}
		fmt.Fprintf(&got, "%s\n%s\n\n", c.name, text)
	}
	golden(t, "steps.txt", got.String())
}

// A preview's document for each of these events, whole: testdata/digests.txt has a line for each case. Empty members are
// left out (E8.22).
func TestDigestTells(t *testing.T) {
	t.Parallel()
	u := urn.URN("urn:pulumi:dev::p::t:m:R::n")
	guarded := &state.Resource{URN: u, Type: "t:m:R", Protect: true, Inputs: value.EmptyMap(), Outputs: value.EmptyMap()}
	free := guarded.Clone()
	free.Protect = false
	stack := &state.Resource{URN: viewtest.StackURN, Type: urn.RootStackType}
	end := func(op engine.Op, before, after *state.Resource) engine.Event {
		return &engine.StepFinished{Op: op, Step: &engine.Step{Op: op, URN: after.URN, Type: after.Type, Old: before,
			New: after, Diffs: []string{"d"}}}
	}
	var got strings.Builder
	for _, c := range []struct {
		name  string
		event engine.Event
	}{
		{"E8.23 an update and its reasons", end(engine.OpUpdate, free, free)},
		{"E8.23 nothing to do", end(engine.OpSame, free, free)},
		{"E8.23 only protection changes", end(engine.OpSame, free, guarded)},
		{"E8.23 nothing to do for the stack", end(engine.OpSame, stack, stack)},
		{"E8.23 half of a replacement", end(engine.OpCreateReplacement, free, free)},
		{"E8.24 a warning", &engine.Message{URN: u, Severity: diag.Warning, Text: "mind"}},
		{"E8.24 an ephemeral message", &engine.Message{URN: u, Severity: diag.Info, Text: "busy", Ephemeral: true}},
		{"E8.24 a debug message", &engine.Message{URN: u, Severity: diag.Info, Text: "inside", Debug: true}},
		{"E8.22 a doubtful state", &engine.Summary{MaybeCorrupt: true, Duration: 5}},
	} {
		d := NewDigest(view.Options{}, mask.New())
		d.Event(c.event)
		var out, text bytes.Buffer
		require.NoError(t, d.Write(&out))
		require.NoError(t, json.Compact(&text, out.Bytes()))
		fmt.Fprintf(&got, "%s\n%s\n\n", c.name, text.String())
	}
	golden(t, "digests.txt", got.String())
}
