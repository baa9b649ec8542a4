package controlplane

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// definition defines a kind for the test.
const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.plane.example.com}
spec:
  group: plane.example.com
  names: {kind: Boat, plural: boats, singular: boat, listKind: BoatList}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [length]
              properties:
                length: {type: integer, minimum: 1}
                flag: {type: string, default: white}
`

// definitions creates a kind and an object of it in one program, changes the object, and removes both.
func definitions(s *sandbox) {
	s.write("crds/boats.yaml", definition)
	program := func(length int) string {
		var own strings.Builder
		for line := range strings.Lines(definition) {
			own.WriteString("      " + line)
		}
		return "crds: [crds/*.yaml]\nresources:\n  kind:\n    type: kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition\n" +
			"    properties:\n" + own.String() + fmt.Sprintf(`  boat:
    type: kubernetes:plane.example.com/v1:Boat
    properties:
      metadata: {name: anna, namespace: NAMESPACE, labels: LABELS}
      spec: {length: %d}
    options: {dependsOn: ["${kind}"]}
outputs:
  flag: ${boat.spec.flag}
`, length)
	}
	boat := folder("plane.example.com/v1", "Boat", s.namespace) + "/anna"
	s.program(program(7))
	s.yamlhost(0, "preview")
	s.yamlhost(0, "run", "--stack", "dev")
	require.Equal(s.t, 2, s.audit())
	require.EqualValues(s.t, 7, s.do("GET", boat, "").at("spec", "length"))
	require.Contains(s.t, s.yamlhost(0, "stack", "output"), "white")
	s.settled()

	s.program(program(0))
	said := s.yamlhost(failed, "run", "--stack", "dev")
	s.t.Log(said)
	require.Contains(s.t, said, "boat")
	require.Contains(s.t, said, "spec.length")
	s.program(program(9))
	s.yamlhost(0, "run", "--stack", "dev")
	require.EqualValues(s.t, 9, s.do("GET", boat, "").at("spec", "length"))
	s.settled()
	s.yamlhost(0, "destroy", "--yes", "--skip-preview")
	code, _ := s.get(boat)
	require.Equal(s.t, http.StatusNotFound, code)
}

var documents = regexp.MustCompile(`(?m)^---.*$`)

// field returns a field of a manifest at the given depth.
func field(manifest, name string) string {
	if m := regexp.MustCompile(`(?m)^` + name + `: *(\S+)`).FindStringSubmatch(manifest); m != nil {
		return m[1]
	}
	return ""
}

// TestRealDefinitions installs the definitions in the folder YAMLHOST_CRDS, creates the examples there with one
// program, and removes them.
func TestRealDefinitions(t *testing.T) {
	dir := os.Getenv("YAMLHOST_CRDS")
	if dir == "" {
		t.Skip("YAMLHOST_CRDS does not name a folder with definitions")
	}
	s := newPlane(t).sandbox(t, "examples")
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.yaml"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		s.write("crds/"+filepath.Base(file), string(text))
		for _, manifest := range documents.Split(string(text), -1) {
			if field(manifest, "kind") == "CustomResourceDefinition" {
				s.send("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", manifest)
			}
		}
	}
	s.eventually("definitions that are in force", func() bool {
		for _, d := range s.list("/apis/apiextensions.k8s.io/v1/customresourcedefinitions") {
			if !strings.Contains(fmt.Sprint(d.at("status", "conditions")), "Established") {
				return false
			}
		}
		return true
	})

	examples, err := filepath.Glob(filepath.Join(dir, "*", "examples", "*.yaml"))
	require.NoError(t, err)
	var program strings.Builder
	program.WriteString("crds: [crds/*.yaml]\nresources:\n")
	made := map[string]bool{}
	for _, file := range examples {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, manifest := range documents.Split(string(text), -1) {
			kind, version := field(manifest, "kind"), field(manifest, "apiVersion")
			place := kind + " " + field(manifest, "  namespace") + "/" + field(manifest, "  name")
			if kind == "" || made[place] {
				continue
			}
			made[place] = true
			if !strings.Contains(version, "/") {
				version = "core/" + version
			}
			fmt.Fprintf(&program, "  r%d:\n    type: kubernetes:%s:%s\n    properties:\n", len(made), version, kind)
			for line := range strings.Lines(manifest) {
				program.WriteString("      " + strings.TrimRight(line, "\n") + "\n")
			}
			if ns := field(manifest, "  namespace"); ns != "" {
				_, _ = s.call("POST", "/api/v1/namespaces", fmt.Sprintf(`{"metadata": {"name": %q}}`, ns)) // it may be there
			}
		}
	}
	s.program(program.String())
	s.t.Log(s.yamlhost(0, "run", "--stack", "dev"))
	require.Equal(t, len(made), s.audit())
	s.settled()
	s.yamlhost(0, "destroy", "--yes", "--skip-preview")
	require.Zero(t, s.audit())
}
