package life

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExtension uses an extension package with its resource, component and function beside the package that it extends
// (E2.67, E3.57). Later operations find the extension in the state.
func TestExtension(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.write("Pulumi.yaml", `name: ext
runtime: yaml
resources:
  greeting: {type: myext:Greeting}
  component: {type: myext:GreetingComponent}
  base: {type: extbase:Base}
outputs:
  greeting: ${greeting.parameterValue}
  component: ${component.parameterValue}
  base: ${base.baseValue}
  function: {fn::invoke: {function: myext:greet, arguments: {name: Ann}, return: greeting}}
`)
	s.write("sdks/extbase.yaml", "packageDeclarationVersion: 1\nname: extbase\nversion: 45.0.0\n")
	s.write("sdks/myext.yaml", `packageDeclarationVersion: 1
name: extbase
version: 45.0.0
extension: {name: myext, version: 2.0.0, value: SGVsbG8=}
`)
	s.run(0, "stack", "init", "dev")
	s.run(0, "up", "--yes")
	require.Equal(t, map[string]any{"greeting": "Hello", "component": "HelloComponent", "base": "base",
		"function": "Hello, Ann"}, s.outputs())
	out, _ := s.run(0, "stack", "export")
	var export struct {
		Features   []string
		Deployment struct{ Extensions map[string]map[string]any }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &export))
	ref := s.resources()["greeting"]["extensionRef"]
	require.Equal(t, map[string]map[string]any{ref.(string): {"name": "myext", "version": "2.0.0", "value": "SGVsbG8="}},
		export.Deployment.Extensions)
	require.Contains(t, export.Features, "extensionParameterization")
}
