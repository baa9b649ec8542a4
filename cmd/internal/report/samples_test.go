package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/view"
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/mask"
	"github.com/yamlhost/yamlhost/value/urn"
)

const (
	stackURN   = urn.URN("urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev")
	petURN     = urn.URN("urn:pulumi:dev::p::random:index/randomPet:RandomPet::pet")
	commandURN = urn.URN("urn:pulumi:dev::p::command:local:Command::cmd")
)

func resource(u urn.URN, inputs value.Value) *state.Resource {
	return &state.Resource{URN: u, Type: u.Type(), Custom: u != stackURN, Parent: parentOf(u), Inputs: inputs,
		Outputs: value.EmptyMap()}
}

func parentOf(u urn.URN) urn.URN {
	if u == stackURN {
		return ""
	}
	return stackURN
}

// events are an update with one of everything that a view has to show.
func events() []engine.Event {
	stack := &engine.Step{Op: engine.OpSame, URN: stackURN, Type: urn.RootStackType,
		Old: resource(stackURN, value.EmptyMap()), New: resource(stackURN, value.EmptyMap())}
	pet := &engine.Step{
		Op: engine.OpReplace, URN: petURN, Type: petURN.Type(),
		Old: resource(petURN, value.MapOf(value.Entry{Key: "length", Value: value.Int(2)},
			value.Entry{Key: "old", Value: value.Bool(true)})),
		New:      resource(petURN, value.MapOf(value.Entry{Key: "length", Value: value.Int(3)})),
		Keys:     []string{"length"},
		Detailed: map[string]provider.PropertyDiff{"length": {Kind: provider.DiffUpdateReplace}},
	}
	command := &engine.Step{
		Op: engine.OpCreate, URN: commandURN, Type: commandURN.Type(),
		New: resource(commandURN, value.MapOf(
			value.Entry{Key: "create", Value: value.String("echo hunter2 <b>")},
			value.Entry{Key: "environment", Value: value.MapOf(value.Entry{Key: "KEY",
				Value: value.String("opensesame").Secret()})})),
	}
	after := resource(stackURN, value.EmptyMap())
	after.Outputs = value.MapOf(
		value.Entry{Key: "name", Value: value.String("new-name")},
		value.Entry{Key: "token", Value: value.String("opensesame").Secret()})
	before := resource(stackURN, value.EmptyMap())
	before.Outputs = value.MapOf(value.Entry{Key: "name", Value: value.String("old-name")},
		value.Entry{Key: "gone", Value: value.Int(1)})
	return []engine.Event{
		&engine.Prelude{Config: map[string]string{"p:key": "hunter2"}},
		&engine.StepStarted{Step: stack},
		&engine.StepFinished{Step: stack, Op: engine.OpSame},
		&engine.StepStarted{Step: pet},
		&engine.StepFinished{Step: pet, Op: engine.OpReplace, Duration: 1500 * time.Millisecond},
		&engine.StepStarted{Step: command},
		&engine.Message{URN: commandURN, Severity: diag.Info, Text: "on the way", Ephemeral: true},
		&engine.Message{URN: commandURN, Severity: diag.Info, Text: "said hunter2\nand more"},
		&engine.Message{URN: commandURN, Severity: diag.Error, Code: diag.OperationFailed,
			Text:     "creating cmd failed: exit status 3\nhunter2 was wrong",
			Position: "project:///Pulumi.yaml#4,3"},
		&engine.StepFailed{Step: command, Duration: 20 * time.Millisecond},
		&engine.Summary{Changes: map[engine.Op]int{engine.OpSame: 1, engine.OpReplace: 1}, Result: "failed",
			Duration: 2 * time.Second,
			Outputs:  after, OldOutputs: before, Skipped: []urn.URN{urn.New("dev", "p", "", "a:b:C", "later")}},
		&engine.Finished{},
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDENS") != "" {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run with UPDATE_GOLDENS=1 to write it")
	require.Equal(t, string(want), got)
}

func TestJSONLines(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	v := NewLines(&b, view.Options{}, secrets("hunter2"))
	for _, e := range events() {
		v.Event(e)
	}
	out := b.String()
	require.NotContains(t, out, "hunter2", "secret configuration is masked wherever it appears (L9.34)")
	require.NotContains(t, out, "opensesame", "secret values are masked (F4.16)")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, len(events()))
	var keys []string
	for i, line := range lines {
		var event map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(line), &event))
		require.Len(t, event, 3, "an envelope holds a sequence, a time and one event (F7.2)")
		require.Equal(t, string(event["sequence"]), string(must(json.Marshal(i))))
		for k := range event {
			if strings.HasSuffix(k, "Event") {
				keys = append(keys, k)
			}
		}
	}
	require.Equal(t, []string{"preludeEvent", "resourcePreEvent", "resOutputsEvent", "resourcePreEvent", "resOutputsEvent",
		"resourcePreEvent",
		"diagnosticEvent", "diagnosticEvent", "diagnosticEvent", "resOpFailedEvent", "summaryEvent", "cancelEvent"}, keys)
	require.Contains(t, out,
		`"KEY":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"[secret]"}`, "F7.6")
	require.Contains(t, out, "<b>", "events do not escape HTML (F7.9)")
	require.Contains(t, out,
		`"resourceChanges":{"replace":1,"same":1},"PolicyPacks":{},"isPreview":false,"result":"failed"`, "F7.8")
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// secrets is a masker of texts.
func secrets(texts ...string) *mask.Masker {
	m := mask.New()
	for _, text := range texts {
		m.LearnText(text)
	}
	return m
}

// sampleOptions know the program of the samples.
func sampleOptions() view.Options {
	text := []byte("name: p\nruntime: yaml\nresources:\n  cmd:\n    type: command:local:Command\n")
	return view.Options{Root: "/root", Operation: "Updating", Stack: "dev",
		Source: func(string) *diag.Source { return diag.NewSource("Pulumi.yaml", text) }}
}

func TestDigest(t *testing.T) { // E8.22, E8.23, E8.24: every member, in order
	t.Parallel()
	d := NewDigest(sampleOptions(), secrets("hunter2"))
	for _, e := range events() {
		d.Event(e)
	}
	var b bytes.Buffer
	require.NoError(t, d.Write(&b))
	golden(t, "digest.json", b.String())
}
