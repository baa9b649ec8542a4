// Package viewtest has the events of a made-up update, for tests of views and reports.
package viewtest

import (
	"time"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// The resources of Events.
const (
	StackURN   = urn.URN("urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev")
	PetURN     = urn.URN("urn:pulumi:dev::p::random:index/randomPet:RandomPet::pet")
	CommandURN = urn.URN("urn:pulumi:dev::p::command:local:Command::cmd")
)

// Resource returns a resource of a state: a child of the stack, or the stack itself.
func Resource(u urn.URN, inputs value.Value) *state.Resource {
	return &state.Resource{URN: u, Type: u.Type(), Custom: u != StackURN, Parent: parentOf(u), Inputs: inputs,
		Outputs: value.EmptyMap()}
}

func parentOf(u urn.URN) urn.URN {
	if u == StackURN {
		return ""
	}
	return StackURN
}

// Events returns an update with every kind of event.
func Events() []engine.Event {
	stack := &engine.Step{Op: engine.OpSame, URN: StackURN, Type: urn.RootStackType,
		Old: Resource(StackURN, value.EmptyMap()), New: Resource(StackURN, value.EmptyMap())}
	pet := &engine.Step{
		Op: engine.OpReplace, URN: PetURN, Type: PetURN.Type(),
		Old: Resource(PetURN, value.MapOf(value.Entry{Key: "length", Value: value.Int(2)},
			value.Entry{Key: "old", Value: value.Bool(true)})),
		New:      Resource(PetURN, value.MapOf(value.Entry{Key: "length", Value: value.Int(3)})),
		Keys:     []string{"length"},
		Detailed: map[string]provider.PropertyDiff{"length": {Kind: provider.DiffUpdateReplace}},
	}
	command := &engine.Step{
		Op: engine.OpCreate, URN: CommandURN, Type: CommandURN.Type(),
		New: Resource(CommandURN, value.MapOf(
			value.Entry{Key: "create", Value: value.String("echo hunter2 <b>")},
			value.Entry{Key: "environment", Value: value.MapOf(value.Entry{Key: "KEY",
				Value: value.String("opensesame").Secret()})})),
	}
	after := Resource(StackURN, value.EmptyMap())
	after.Outputs = value.MapOf(
		value.Entry{Key: "name", Value: value.String("new-name")},
		value.Entry{Key: "token", Value: value.String("opensesame").Secret()})
	before := Resource(StackURN, value.EmptyMap())
	before.Outputs = value.MapOf(value.Entry{Key: "name", Value: value.String("old-name")},
		value.Entry{Key: "gone", Value: value.Int(1)})
	return []engine.Event{
		&engine.Prelude{Config: map[string]string{"p:key": "hunter2"}},
		&engine.StepStarted{Step: stack},
		&engine.StepFinished{Step: stack, Op: engine.OpSame},
		&engine.StepStarted{Step: pet},
		&engine.StepFinished{Step: pet, Op: engine.OpReplace, Duration: 1500 * time.Millisecond},
		&engine.StepStarted{Step: command},
		&engine.Message{URN: CommandURN, Severity: diag.Info, Text: "on the way", Ephemeral: true},
		&engine.Message{URN: CommandURN, Severity: diag.Info, Text: "said hunter2\nand more"},
		&engine.Message{URN: CommandURN, Severity: diag.Error, Code: diag.OperationFailed,
			Text:     "creating cmd failed: exit status 3\nhunter2 was wrong",
			Position: "project:///Pulumi.yaml#4,3"},
		&engine.StepFailed{Step: command, Duration: 20 * time.Millisecond},
		&engine.Summary{Changes: map[engine.Op]int{engine.OpSame: 1, engine.OpReplace: 1}, Result: "failed",
			Duration: 2 * time.Second,
			Outputs:  after, OldOutputs: before, Skipped: []urn.URN{urn.New("dev", "p", "", "a:b:C", "later")}},
		&engine.Finished{},
	}
}
