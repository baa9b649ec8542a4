package report

import (
	"bytes"
	"encoding/json"
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

// The JSON of step events has the expected members, in their order.
func TestStepsAsJSON(t *testing.T) {
	t.Parallel()
	pet := func(inputs, outputs value.Value) *state.Resource {
		return &state.Resource{URN: viewtest.PetURN, Type: viewtest.PetURN.Type(), Inputs: inputs, Outputs: outputs}
	}
	one := func(v value.Value) value.Value { return value.EmptyMap().With("a", v) }
	const (
		signature = `"4dabf18193072939515e22adb298388d"`
		named     = `"type":"random:index/randomPet:RandomPet","urn":"` + string(viewtest.PetURN) + `"`
		nothing   = `{` + named + `,"id":"","parent":"","inputs":{},"outputs":{},"provider":""}`
	)
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
	for _, c := range []struct {
		name   string
		event  engine.Event
		shown  bool // secrets are shown
		want   []string
		absent string
	}{
		{name: "E8.14 E8.15 a replacement", event: finished(&engine.Step{Op: engine.OpReplace, URN: viewtest.PetURN,
			Type: viewtest.PetURN.Type(), Provider: "ref",
			Old: plain, New: plain, Keys: []string{"k"}, Diffs: []string{"d"}, Detailed: map[string]provider.PropertyDiff{
				"a": {Kind: provider.DiffAdd}, "b": {Kind: provider.DiffAddReplace, InputDiff: true},
				"c": {Kind: provider.DiffDelete},
				"d": {Kind: provider.DiffDeleteReplace}, "e": {Kind: provider.DiffUpdate},
				"f": {Kind: provider.DiffUpdateReplace}}}),
			want: []string{`{"resOutputsEvent":{"metadata":{"op":"replace","urn":"` + string(viewtest.PetURN) +
				`","type":"random:index/randomPet:RandomPet",` +
				`"old":` + nothing + `,"new":` + nothing + `,"keys":["k"],"diffs":["d"],"detailedDiff":{` +
				`"a":{"diffKind":"add","inputDiff":false},"b":{"diffKind":"add-replace","inputDiff":true},` +
				`"c":{"diffKind":"delete","inputDiff":false},"d":{"diffKind":"delete-replace","inputDiff":false},` +
				`"e":{"diffKind":"update","inputDiff":false},"f":{"diffKind":"update-replace","inputDiff":false}},` +
				`"logical":true,"provider":"ref"}}}`}},
		{name: "E8.1 a part of a replacement is not logical", event: started(step(engine.OpCreateReplacement, plain, plain)),
			absent: "logical"},
		{name: "E8.16 a create has nothing old", event: started(step(engine.OpCreate, nil, plain)),
			want: []string{`"old":null,"new":{`}},
		{name: "E8.16 a deletion has nothing new", event: started(step(engine.OpDelete, plain, nil)),
			want: []string{`,"new":null,`}},
		{name: "E8.17 all of a state", event: started(step(engine.OpDelete, full, nil)),
			want: []string{`"old":{` + named + `,"custom":true,"delete":true,"id":"i","parent":"` + string(viewtest.StackURN) +
				`","protect":true,"taint":true,` +
				`"external":true,"retainOnDelete":true,"inputs":{},"outputs":{},"provider":"ref","initErrors":["e"],"hideDiffs":["h"]}`}},
		{name: "E8.18 an asset, a secret and an unknown value",
			event: started(step(engine.OpCreate, nil, pet(value.Map(map[string]value.Value{
				"a": asset, "s": value.String("hush").Secret(), "u": value.Unknown(value.KindAny)}), value.EmptyMap()))),
			want: []string{`"a":{` + signature + `:"c44067f5952c0a294b673a41bacd8c17","hash":"abc"}`, `"ciphertext":"[secret]"`,
				`"u":"04da6b54-80e4-46f7-96ec-b56ff0331ba9"`}, absent: "hush"},
		{name: "E8.18 secrets on demand", shown: true,
			event: started(step(engine.OpCreate, nil, pet(one(value.String("hush").Secret()), value.Null))),
			want:  []string{`hush`}},
		{name: "E8.19 the state at the end", event: finished(step(engine.OpCreate, nil, created)),
			want: []string{`"id":"i","parent":"","inputs":{"a":1},"outputs":{"a":2}`}},
		{name: "E8.20 a preview", event: &engine.StepStarted{Step: step(engine.OpCreate, nil, plain), Planning: true},
			want: []string{`"planning":true`}},
		{name: "E8.20 the end of a previewed step",
			event: &engine.StepFinished{Step: step(engine.OpCreate, nil, plain), Planning: true},
			want:  []string{`"planning":true`}},
		{name: "E8.20 not a preview", event: started(step(engine.OpCreate, nil, plain)), absent: "planning"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			NewLines(&out, view.Options{Detail: view.Detail{ShowSecrets: c.shown}}, mask.New()).Event(c.event)
			var line map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(out.Bytes(), &line))
			delete(line, "sequence")
			delete(line, "timestamp")
			text := strings.TrimSpace(out.String())
			for name, event := range line {
				text = `{"` + name + `":` + string(event) + `}`
			}
			for _, want := range c.want {
				require.Contains(t, text, want)
			}
			if c.absent != "" {
				require.NotContains(t, text, c.absent)
			}
		})
	}
}

// A preview's document includes or omits each of these events.
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
	for _, c := range []struct {
		name  string
		event engine.Event
		want  string // "" if the document is empty
	}{
		{"E8.23 an update and its reasons", end(engine.OpUpdate, free, free), `"diffReasons":["d"]`},
		{"E8.23 nothing to do", end(engine.OpSame, free, free), ""},
		{"E8.23 only protection changes", end(engine.OpSame, free, guarded), `"op":"same"`},
		{"E8.23 nothing to do for the stack", end(engine.OpSame, stack, stack), `"op":"same"`},
		{"E8.23 half of a replacement", end(engine.OpCreateReplacement, free, free), ""},
		{"E8.24 a warning", &engine.Message{URN: u, Severity: diag.Warning, Text: "mind"},
			`{"diagnostics":[{"urn":"urn:pulumi:dev::p::t:m:R::n","prefix":"warning: ","message":"warning: mind\n","severity":"warning"}]}`},
		{"E8.24 an ephemeral message", &engine.Message{URN: u, Severity: diag.Info, Text: "busy", Ephemeral: true}, ""},
		{"E8.24 a debug message", &engine.Message{URN: u, Severity: diag.Info, Text: "inside", Debug: true}, ""},
		{"E8.22 a doubtful state", &engine.Summary{MaybeCorrupt: true, Duration: 5}, `{"duration":5,"maybeCorrupt":true}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := NewDigest(view.Options{}, mask.New())
			d.Event(c.event)
			var out, text bytes.Buffer
			require.NoError(t, d.Write(&out))
			require.NoError(t, json.Compact(&text, out.Bytes()))
			if c.want == "" {
				require.Equal(t, "{}", text.String(), "E8.22: empty members are left out")
				return
			}
			require.Contains(t, text.String(), c.want)
		})
	}
}
