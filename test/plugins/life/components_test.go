package life

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// components holds programs whose components are constructed by provider processes, which register resources with our
// monitor (E2.38–E2.44), with the resources in the state besides the stack and providers.
var components = map[string]struct {
	resources string
	types     []string
	outputs   map[string]any
}{
	"refs between components": {
		resources: `
  component1: {type: component:ComponentCustomRefOutput, properties: {value: foo-bar-baz}, options: {version: 13.3.7}}
  component2: {type: component:ComponentCustomRefInputOutput, properties: {inputRef: "${component1.ref}"}, options: {version: 13.3.7}}
  custom1: {type: component:Custom, properties: {value: "${component2.inputRef.value}"}, options: {version: 13.3.7}}
  custom2: {type: component:Custom, properties: {value: "${component2.outputRef.value}"}, options: {version: 13.3.7}}
outputs:
  value: ${component1.value}
  one: ${custom1.value}
  two: ${custom2.value}
`,
		types: []string{"component:index:ComponentCustomRefInputOutput", "component:index:ComponentCustomRefOutput",
			"component:index:Custom", "component:index:Custom", "component:index:Custom", "component:index:Custom"},
		outputs: map[string]any{"value": "foo-bar-baz", "one": "foo-bar-baz", "two": "foo-bar-baz"},
	},
	"dependencies of inputs": {
		resources: `
  custom1: {type: component-property-deps:Custom, properties: {value: hello}, options: {version: 1.33.7}}
  custom2: {type: component-property-deps:Custom, properties: {value: world}, options: {version: 1.33.7}}
  component1:
    type: component-property-deps:Component
    properties:
      resource: ${custom1}
      resourceList: ["${custom1}", "${custom2}"]
      resourceMap: {one: "${custom1}", two: "${custom2}"}
    options: {version: 1.33.7}
outputs:
  deps: ${component1.propertyDeps}
`,
		types: []string{"component-property-deps:index:Component", "component-property-deps:index:Custom",
			"component-property-deps:index:Custom"},
		// L9.41
		outputs: map[string]any{"deps": map[string]any{"resource": []any{}, "resourceList": []any{}, "resourceMap": []any{}}},
	},
	"methods": {
		resources: `
  component1: {type: component:ComponentCallable, properties: {value: bar}, options: {version: 13.3.7}}
  prov: {type: pulumi:providers:call, properties: {value: explicit}, options: {version: 15.7.9}}
  res: {type: call:Custom, properties: {value: v}, options: {provider: "${prov}"}}
outputs:
  identity: {fn::call: {resource: "${component1}", method: identity, return: result}}
  prefixed: {fn::call: {resource: "${component1}", method: prefixed, arguments: {prefix: foo-}, return: result}}
  provider: {fn::call: {resource: "${res}", method: providerValue, return: result}}
  ofProvider: {fn::call: {resource: "${prov}", method: prefixed, arguments: {prefix: pre-}, return: result}}
`,
		types: []string{"component:index:ComponentCallable", "component:index:Custom", "call:index:Custom"},
		outputs: map[string]any{"identity": "bar", "prefixed": "foo-bar", "provider": "explicitv",
			"ofProvider": "pre-explicit"},
	},
}

// TestRemoteComponents drives components through preview, create, no change and the preview of a destroy.
func TestRemoteComponents(t *testing.T) {
	t.Parallel()
	for name, c := range components {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			s.write("Pulumi.yaml", "name: suite\nruntime: yaml\nresources:"+c.resources)
			s.run(0, "stack", "init", "dev")
			s.run(0, "preview")
			s.run(0, "up", "--yes", "--skip-preview")
			require.ElementsMatch(t, c.types, s.types())
			if c.outputs != nil {
				require.Equal(t, c.outputs, s.outputs())
			}
			s.run(0, "preview", "--expect-no-changes")
			s.run(0, "up", "--yes", "--skip-preview", "--expect-no-changes")
			// The suite's providers of components cannot delete their resources.
			s.run(0, "destroy", "--preview-only", "--run-program")
			s.run(0, "state", "delete", "--all", "--yes")
			require.Empty(t, s.resources())
		})
	}
}

// TestRemoteComponentOverRPC runs a program with a component in front of the monitor's gRPC service as well.
func TestRemoteComponentOverRPC(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.write("Pulumi.yaml", "name: suite\nruntime: yaml\nresources:"+components["refs between components"].resources)
	s.run(0, "stack", "init", "dev")
	s.run(0, "up", "--yes", "--monitor-rpc")
	require.Equal(t, components["refs between components"].outputs, s.outputs())
	s.run(0, "up", "--yes", "--monitor-rpc", "--expect-no-changes")
	s.run(0, "up", "--yes", "--expect-no-changes")
}

// types returns the types of the resources in the state besides the stack and providers.
func (s *sandbox) types() []string {
	s.t.Helper()
	out, _ := s.run(0, "stack", "export")
	var export struct {
		Deployment struct{ Resources []struct{ Type string } }
	}
	require.NoError(s.t, json.Unmarshal([]byte(out), &export))
	var types []string
	for _, r := range export.Deployment.Resources {
		if !strings.HasPrefix(r.Type, "pulumi:") {
			types = append(types, r.Type)
		}
	}
	return types
}

// outputs returns the stack's outputs.
func (s *sandbox) outputs() map[string]any {
	s.t.Helper()
	out, _ := s.run(0, "stack", "output", "--json", "--show-secrets")
	var outputs map[string]any
	require.NoError(s.t, json.Unmarshal([]byte(out), &outputs))
	return outputs
}
