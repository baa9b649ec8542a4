package life

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const galleryProgram = `name: gal
runtime: yaml
config:
  colour: {type: string, default: white}
  pictures: {type: string, default: '["sunrise", "storm"]'}
resources:
  keeper:
    type: pulumi:providers:gallery
    options:
      envVarMappings: {HOME_OF_ANN: GALLERY_KEEPER}
  hall:
    type: gallery:Room
    properties: {pictures: {fn::fromJSON: "${pictures}"}}
    options: {provider: "${keeper}"}
  west:
    type: gallery:Wing
    properties: {colour: "${colour}"}
outputs:
  keeper: ${hall.keeper}
  hall: ${hall.name}
  west: ${west.room}
`

const gallerySettings = `config:
  pulumi:autonaming:
    pattern: ${project}-${name}-${hex(3)}
    providers:
      gallery:
        resources:
          gallery:index:Room: {pattern: "${name}.${stack}", enforce: true}
`

// TestGallery runs a plugin that takes proposed names (E4.126), reads a mapped variable (E3.2, L4.29), publishes views
// (E4.114–E4.117) and has a component, made with Pulumi's own SDK, whose transforms change its children (E2.69–E2.73).
func TestGallery(t *testing.T) {
	t.Parallel()
	s := withGallery(t)
	s.env = append(s.env, "HOME_OF_ANN=Ann")
	s.write("Pulumi.yaml", galleryProgram)
	s.write("Pulumi.dev.yaml", gallerySettings)
	s.run(0, "stack", "init", "dev")

	planned, _ := s.run(0, "preview")
	require.Contains(t, planned, "7 to create", "the stack, a provider, two rooms, a wing and two pictures")
	require.Equal(t, map[string]int{"create": 7}, s.changes("up", "--yes", "--skip-preview"))
	require.Equal(t, map[string]any{"keeper": "Ann", "hall": "hall.dev", "west": "west-room.dev"}, s.outputs())
	hall := "urn:pulumi:dev::gal::gallery:index:Room::hall"
	states := s.resources()
	storm := states["storm"]
	require.Equal(t, hall, storm["viewOf"])
	require.Equal(t, hall, storm["parent"])
	require.Equal(t, map[string]any{"place": 2.0}, storm["inputs"])
	room := states["west-room"]
	require.Equal(t, "white", room["inputs"].(map[string]any)["colour"], "painted by the component")
	require.Equal(t, true, room["protect"], "and protected")
	require.Equal(t, map[string]int{"same": 7}, s.changes("up", "--yes", "--skip-preview"))

	require.Equal(t, map[string]int{"update": 2, "create": 1, "delete": 1, "same": 4},
		s.changes("up", "--yes", "--skip-preview", "-c", `pictures=["storm", "dog"]`))
	require.NotContains(t, s.resources(), "sunrise")
	require.Equal(t, map[string]int{"update": 2, "same": 5}, s.changes("up", "--yes", "--skip-preview", "-c",
		"colour=red"), "the wing and its room")
	require.Equal(t, map[string]int{"same": 5}, s.changes("refresh", "--yes", "--skip-preview"),
		"this plugin has nothing to say of views that it reads")

	s.run(14, "destroy", "--yes", "--skip-preview")
	require.Equal(t, map[string]int{"delete": 3}, s.changes("destroy", "--yes", "--skip-preview", "--ignore-protect"),
		"the room and what it needs")
	require.Empty(t, s.resources())
}

// withGallery returns a sandbox with the plugin installed in its home.
func withGallery(t *testing.T) *sandbox {
	t.Helper()
	s := newSandbox(t)
	plugin := filepath.Join(filepath.Dir(s.dir), "home", "plugins", "resource-gallery-v1.0.0")
	require.NoError(t, os.MkdirAll(plugin, 0o755))
	build := exec.Command("go", "build", "-o", filepath.Join(plugin, "pulumi-resource-gallery"), "./gallery")
	build.Dir = ".."
	text, err := build.CombinedOutput()
	require.NoError(t, err, string(text))
	s.env = append(s.env, "PULUMI_HOME="+filepath.Join(filepath.Dir(s.dir), "home"))
	return s
}

// TestIgnoredOnComponents covers E2.33: ignoreChanges of a component is recorded but causes no change, and its children
// follow the program. The Pulumi CLI with the stock language host and yamlhost agree.
func TestIgnoredOnComponents(t *testing.T) {
	t.Parallel()
	const program = `name: gal
runtime: yaml
resources:
  west:
    type: gallery:Wing
    properties: {colour: COLOUR}
    options: {ignoreChanges: [colour]}
`
	type host struct {
		name string
		up   func(s *sandbox)
	}
	for _, h := range []host{
		{"pulumi", func(s *sandbox) { s.pulumi("up", "--yes", "--skip-preview") }},
		{"yamlhost", func(s *sandbox) { s.run(0, "up", "--yes", "--skip-preview") }},
	} {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			s := withGallery(t)
			if h.name == "pulumi" {
				s.env = append(s.env, "PATH="+s.bin+"/stock:"+s.bin+":/usr/bin:/bin")
			}
			s.write("Pulumi.yaml", strings.Replace(program, "COLOUR", "white", 1))
			s.run(0, "stack", "init", "dev")
			h.up(s)
			west := s.resources()["west"]
			require.Equal(t, map[string]any{"colour": "white"}, west["inputs"])
			s.write("Pulumi.yaml", strings.Replace(program, "COLOUR", "red", 1))
			h.up(s)
			now := s.resources()
			require.Equal(t, "red", now["west-room"]["inputs"].(map[string]any)["colour"], "what is below it is painted")
			require.Equal(t, map[string]any{"colour": "red"}, now["west"]["inputs"], "what the program says is recorded")
			require.Equal(t, west["modified"], now["west"]["modified"], "which is not a change")
		})
	}
}
