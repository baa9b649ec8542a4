package life

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTransformsUnderBothEngines: transforms of a program change its own resources, the children of a component that a
// provider constructs, and those of a component package, with our engine and with the Pulumi CLI, where the language
// host registers callbacks.
func TestTransformsUnderBothEngines(t *testing.T) {
	t.Parallel()
	start := func() *sandbox {
		s := withGallery(t)
		s.write("parts/PulumiPlugin.yaml", `name: parts
runtime: yaml
components:
  Part:
    resources:
      inner: {type: component:Custom, properties: {value: inner}, options: {version: 13.3.7}}
    outputs: {value: "${inner.value}"}
`)
		s.write("Pulumi.yaml", `name: proj
runtime: yaml
packages: {parts: ./parts}
transforms:
  - match: {type: "component:*:Custom", custom: true}
    when: ${args.name != "spared"}
    properties: {value: "${args.properties.value} of all"}
resources:
  far:
    type: component:ComponentCustomRefOutput
    properties: {value: far}
    options: {version: 13.3.7}
  west:
    type: gallery:Wing
    properties: {colour: blue}
    options:
      transforms:
        - match: {type: gallery:Room}
          properties: {name: "${args.name} below"}
          options: {retainOnDelete: true}
  near: {type: "parts:Part"}
  own: {type: component:Custom, properties: {value: own}, options: {version: 13.3.7}}
  spared: {type: component:Custom, properties: {value: spared}, options: {version: 13.3.7}}
outputs: {near: "${near.value}", own: "${own.value}"}
`)
		s.run(0, "stack", "init", "dev")
		return s
	}
	ours, theirs := start(), start()
	ours.run(0, "preview")
	ours.run(0, "up", "--yes", "--skip-preview")
	theirs.pulumi("preview")
	theirs.pulumi("up", "--yes", "--skip-preview")
	for _, s := range []*sandbox{ours, theirs} {
		values := map[string]any{}
		for name, r := range s.resources() {
			if r["type"] == "component:index:Custom" {
				values[name] = r["inputs"].(map[string]any)["value"]
			}
		}
		require.Equal(t, map[string]any{"far-child": "far of all", "near-inner": "inner of all", "own": "own of all",
			"spared": "spared"}, values)
		room := s.resources()["west-room"]
		require.Equal(t, "west-room below", room["inputs"].(map[string]any)["name"])
		require.Equal(t, true, room["retainOnDelete"])
		require.Equal(t, map[string]any{"near": "inner of all", "own": "own of all"}, s.outputs())
		s.run(0, "preview", "--expect-no-changes")
		s.pulumi("preview", "--expect-no-changes")
	}
}
