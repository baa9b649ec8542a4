package life

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// programs are small programs over providers of the conformance suite, each with something of its own on the wire. The
// suite's providers insist on being asked for by version.
var programs = map[string]string{
	"simple": `
  one: {type: simple:Resource, properties: {value: true}, options: {version: 2.0.0}}
  two: {type: simple:Resource, properties: {value: "${one.value}"}, options: {version: 2.0.0, parent: "${one}"}}
`,
	"secret": `
  res:
    type: secret:Resource
    properties:
      private: closed
      public: open
      privateData: {private: closed, public: open}
      publicData: {private: closed, public: open}
      privateArray: [closed]
      privateMap: {key: closed}
      privateDataArray: [{private: closed, public: open}]
      privateDataMap: {key: {private: closed, public: open}}
    options: {version: 14.0.0}
`,
	"primitive": `
  res:
    type: primitive:Resource
    properties: {boolean: true, float: 3.14, integer: 42, string: hello, numberArray: [-1, 0, 1], booleanMap: {t: true, f: false}}
    options: {version: 7.0.0}
`,
	"asset-archive": `
  text: {type: asset-archive:AssetResource, properties: {value: {fn::stringAsset: hello}}, options: {version: 5.0.0}}
  folder: {type: asset-archive:ArchiveResource, properties: {value: {fn::assetArchive: {a: {fn::stringAsset: one}}}}, options: {version: 5.0.0}}
`,
	"output": `
  res: {type: output:Resource, properties: {value: 1}, options: {version: 23.0.0}}
`,
	"replaceonchanges": `
  res: {type: replaceonchanges:ResourceA, properties: {value: true, replaceProp: true}, options: {version: 25.0.0}}
`,
}

// TestConformanceProviders drives providers of the suite through preview, create, no change and destroy.
func TestConformanceProviders(t *testing.T) {
	t.Parallel()
	for name, resources := range programs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			s.write("Pulumi.yaml", "name: suite\nruntime: yaml\nresources:\n"+strings.TrimPrefix(resources, "\n"))
			lifeOf(t, s)
		})
	}
}

func lifeOf(t *testing.T, s *sandbox) {
	t.Helper()
	s.run(0, "stack", "init", "dev")
	s.run(0, "preview")
	created := s.changes("up", "--yes", "--skip-preview")["create"]
	require.Positive(t, created)
	require.Equal(t, map[string]int{"same": created}, s.changes("up", "--yes", "--skip-preview"), "a second run changes nothing")
	s.run(0, "preview", "--expect-no-changes")
	require.Equal(t, created, s.changes("destroy", "--yes", "--skip-preview")["delete"])
	require.Empty(t, s.resources())
}

// TestReadyMadePrograms runs the programs that the suite's generator writes, where they are at hand: each folder below
// YAMLHOST_CONFORMANCE/projects is a project. It prints how many ran.
func TestReadyMadePrograms(t *testing.T) {
	t.Parallel()
	root := os.Getenv("YAMLHOST_CONFORMANCE")
	if root == "" {
		t.Skip("set YAMLHOST_CONFORMANCE to a folder with projects/<name>/ to run ready-made programs")
	}
	projects, err := filepath.Glob(filepath.Join(root, "projects", "l2-*"))
	require.NoError(t, err)
	require.NotEmpty(t, projects)
	tried, passed := 0, 0
	for _, project := range projects {
		s := newSandbox(t)
		require.NoError(t, os.CopyFS(filepath.Join(s.dir, "p"), os.DirFS(project)))
		s.dir = filepath.Join(s.dir, "p")
		if _, err := os.Stat(filepath.Join(s.dir, "Pulumi.yaml")); err != nil {
			continue // several programs in turn: the suite's own driver knows what to do between them
		}
		tried++
		s.run(0, "stack", "init", "dev")
		if out, ok := s.try("up", "--yes", "--skip-preview"); ok {
			passed++
		} else {
			t.Logf("%s: %s", filepath.Base(project), out)
		}
	}
	t.Logf("%d of %d ready-made programs ran", passed, tried)
}
