package pipelines

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/internal/testschema"
	"github.com/yamlhost/yamlhost/workspace/project"
	"github.com/yamlhost/yamlhost/workspace/projects"
	"gopkg.in/yaml.v3"
)

// diamond is a graph of four projects: two need the first, the last needs both.
func diamond() *projects.Graph {
	member := func(path, name string) *projects.Member {
		return &projects.Member{Path: path, Stack: "dev", Project: &project.Project{Name: project.Literal{Text: name}}}
	}
	return &projects.Graph{
		Members: []*projects.Member{member("apps/web", "web"), member("data", "data.base"), member("network", "network"),
			member(".", "0")},
		Edges: []projects.Edge{{From: 0, To: 2}, {From: 1, To: 2}, {From: 3, To: 0}, {From: 3, To: 1}},
	}
}

func emitted(t *testing.T, kind string, g *projects.Graph) (text string, tree map[string]any) {
	t.Helper()
	k, err := Find(kind)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, k.Write(&b, g, "infra"))
	require.NoError(t, yaml.Unmarshal(b.Bytes(), &tree), b.String())
	return b.String(), tree
}

func TestOrderOfJobs(t *testing.T) {
	t.Parallel()
	_, tree := emitted(t, "gitlab-pipeline", diamond())
	require.Equal(t, []any{"apply_network_dev"}, tree["plan_web_dev"].(map[string]any)["needs"])
	require.Equal(t, []any{"apply_web_dev", "apply_data_base_dev"}, tree["plan_p0_dev"].(map[string]any)["needs"])
	require.Equal(t, map[string]any{"DIR": "infra", "STACK": "dev", "PLAN": "p0_dev.plan.json"},
		tree["apply_p0_dev"].(map[string]any)["variables"])

	_, tree = emitted(t, "github-matrix", diamond())
	jobs := tree["jobs"].(map[string]any)
	require.Len(t, jobs, 6)
	require.Equal(t, []any{"apply_network_dev"}, jobs["plan_web_dev-and-1-more"].(map[string]any)["needs"])
	require.Equal(t, []any{"apply_web_dev-and-1-more"}, jobs["plan_p0_dev"].(map[string]any)["needs"])
	matrix := jobs["apply_web_dev-and-1-more"].(map[string]any)["strategy"].(map[string]any)["matrix"].(map[string]any)
	require.Equal(t, []any{map[string]any{"name": "web_dev", "dir": "infra/apps/web", "stack": "dev"},
		map[string]any{"name": "data_base_dev", "dir": "infra/data", "stack": "dev"}}, matrix["include"])
}

// Jobs share a GitHub matrix only if a failed job skips no job that does not need it.
func TestMatrices(t *testing.T) {
	t.Parallel()
	g := diamond()
	g.Edges = slices.DeleteFunc(g.Edges, func(e projects.Edge) bool { return e == projects.Edge{From: 3, To: 0} })
	_, tree := emitted(t, "github-matrix", g)
	jobs := tree["jobs"].(map[string]any)
	require.Equal(t, []any{"apply_data_base_dev"}, jobs["plan_p0_dev"].(map[string]any)["needs"])
	require.Contains(t, jobs, "apply_web_dev", "nobody needs it, so that it is alone")
}

// A GitHub matrix has at most 256 jobs. A larger one is split, and its dependants wait for all parts.
func TestWideMatrices(t *testing.T) {
	t.Parallel()
	g := diamond()
	for range 300 {
		g.Members = append(g.Members, g.Members[2])
		g.Edges = append(g.Edges, projects.Edge{From: 3, To: len(g.Members) - 1})
	}
	_, tree := emitted(t, "github-matrix", g)
	needs := tree["jobs"].(map[string]any)["plan_p0_dev"].(map[string]any)["needs"].([]any)
	require.Len(t, needs, 3, "two parts of those that are alike, and one of web and data")
}

// Azure's pipelines cannot run here, so a schema of the parts in use validates them.
func TestAzureFitsItsSchema(t *testing.T) {
	t.Parallel()
	s := testschema.Compile(t, testfile.Bytes(t, "testdata/azure.schema.json"), nil)
	for _, g := range []*projects.Graph{diamond(), {}} {
		_, tree := emitted(t, "azure-stages", g)
		asJSON, err := json.Marshal(tree)
		require.NoError(t, err)
		require.NoError(t, testschema.Validate(t, s, asJSON))
	}
	_, tree := emitted(t, "azure-stages", diamond())
	seen := map[string]bool{}
	for _, item := range tree["stages"].([]any) {
		stage := item.(map[string]any)
		for _, need := range stage["dependsOn"].([]any) {
			require.True(t, seen[need.(string)], "%v comes before %v", stage["stage"], need)
		}
		seen[stage["stage"].(string)] = true
	}
}

func TestWhatCannotBePassedOn(t *testing.T) {
	t.Parallel()
	g := diamond()
	g.Members[0].Path = "a$(rm)"
	k, err := Find("github-matrix")
	require.NoError(t, err)
	require.ErrorContains(t, k.Write(&strings.Builder{}, g, "."), "characters in its name that a pipeline cannot pass on")
	_, err = Find("github")
	require.ErrorContains(t, err, "--emit takes github-matrix, gitlab-pipeline, azure-stages")
}
