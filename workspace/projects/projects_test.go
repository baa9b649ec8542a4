package projects

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// tree writes an archive into a folder and opens every project of it with the stack dev.
func tree(t *testing.T, archive string) (root string, members []*Member) {
	t.Helper()
	root = t.TempDir()
	for _, file := range txtar.Parse([]byte(archive)).Files {
		testfile.Write(t, filepath.Join(root, filepath.FromSlash(file.Name)), string(file.Data))
	}
	dirs, err := Find(root)
	require.NoError(t, err)
	members, err = OpenAll(root, dirs, Options{Shown: workspace.Relative(root),
		Stack: func(*project.Project) (string, error) { return "dev", nil },
		Settings: func(p *project.Project, stack string) (*project.Settings, diag.Diagnostics, error) {
			path := p.StackFile(stack)
			return project.LoadSettings(confine.Door{}, path, path, p.Name.Text)
		}})
	require.NoError(t, err)
	return root, members
}

func paths(members []*Member, indexes []int) string {
	var names []string
	for _, i := range indexes {
		names = append(names, members[i].Path)
	}
	return strings.Join(names, " ")
}

// said formats each finding as severity, code, place and summary.
func said(ds diag.Diagnostics) string {
	var b strings.Builder
	for _, d := range ds {
		pos := d.Subject.StartPosition()
		b.WriteString(d.Severity.String() + " " + string(d.Code) + " " + d.Subject.Source.Name() + ":" +
			string(rune('0'+pos.Line)) + " " + d.Summary + "\n")
		for _, r := range d.Related {
			b.WriteString("  " + r.Range.Source.Name() + ":" + string(rune('0'+r.Range.StartPosition().Line)) + " " + r.Message + "\n")
		}
	}
	return b.String()
}

const shop = `
-- Pulumi.yaml --
name: root
-- zone/Pulumi.yaml --
name: zone
config:
  pulumi:tags: {value: {team: core, tier: a}}
resources: {}
-- network/Pulumi.yaml --
name: network
resources:
  zone:
    type: pulumi:pulumi:StackReference
    get: {id: "organization/zone/${pulumi.stack}"}
  thing: {type: random:RandomPet}
-- network/node_modules/x/Pulumi.yaml --
name: x
-- .hidden/Pulumi.yaml --
name: hidden
-- apps/web/Pulumi.yaml --
name: web
main: program
config:
  base: {type: string, default: network}
-- apps/web/Pulumi.dev.yaml --
config:
  web:deep:
    names: [zone, network]
-- apps/web/program/Main.yaml --
config:
  deep: {type: object}
variables:
  parts: {org: organization, where: [a, network]}
resources:
  one:
    type: pulumi:pulumi:StackReference
    properties: {name: "${parts.org}/${base}/dev"}
  two:
    type: pulumi:pulumi:StackReference
    properties:
      name: {fn::join: [/, [organization, "${parts.where[1]}", dev]]}
  three:
    type: pulumi:pulumi:StackReference
    properties: {name: "organization/${deep.names[0]}/dev"}
  late:
    type: pulumi:pulumi:StackReference
    properties: {name: "organization/${pet.id}/dev"}
  pet: {type: random:RandomPet}
  key: {type: tls:PrivateKey}
-- apps/api/Pulumi.yaml --
name: api
packages: {lib: ../../lib, own: ./own}
variables:
  v: {fn::stackReference: [organization/web/dev, url]}
resources:
  r:
    type: command:local:Command
    properties:
      create:
        fn::invoke:
          function: pulumi:pulumi:readStackOutputs
          arguments: {name: organization/zone/dev}
-- lib/Pulumi.yaml --
name: lib
-- lib/PulumiPlugin.yaml --
runtime: yaml
`

// TestReferences finds the stacks whose names follow from the text or the configuration (L7.11).
func TestReferences(t *testing.T) {
	t.Parallel()
	_, members := tree(t, shop)
	found := map[string][]string{}
	for _, m := range members {
		var keys []string
		for _, ref := range m.References {
			keys = append(keys, ref.Key())
		}
		found[m.Path] = keys
	}
	require.Equal(t, map[string][]string{".": nil, "zone": nil, "lib": nil, "network": {"zone/dev"},
		"apps/web": {"network/dev", "network/dev", "zone/dev"}, "apps/api": {"web/dev", "zone/dev"}}, found)
	web := members[slices.IndexFunc(members, func(m *Member) bool { return m.Path == "apps/web" })]
	require.Len(t, web.Unread, 1)
	require.Contains(t, web.Unread[0].Text(), "${pet.id}")
	require.Equal(t, []string{"random", "tls"}, web.Providers)
	g, diags := Link(members)
	require.Empty(t, diags)
	require.Contains(t, said(g.Unordered()), "only a run knows which stack this reads")
}

func TestOrderAndSelection(t *testing.T) {
	t.Parallel()
	root, members := tree(t, shop)
	g, diags := Link(members)
	require.Empty(t, diags)
	require.Equal(t, ". lib zone network apps/web apps/api", paths(members, g.Order()))
	require.Equal(t, ". apps/api apps/web lib network zone", paths(members, g.Reversed().Order()))
	for _, c := range []struct{ filters, want string }{
		{"path=apps/*", "apps/api apps/web"},
		{"path=apps/**", "apps/api apps/web"},
		{"path=apps/** !name=api", "apps/web"},
		{"name=zone name=lib", "lib zone"},
		{"name=z* path=network", ""},
		{"tag=team", "zone"},
		{"tag=team:c*", "zone"},
		{"tag=team:x", ""},
		{"!tag=team !name=root", "apps/api apps/web lib network"},
	} {
		var filters []Filter
		for text := range strings.FieldsSeq(c.filters) {
			f, err := ParseFilter(text)
			require.NoError(t, err)
			filters = append(filters, f)
		}
		require.Equal(t, c.want, paths(members, g.Select(filters)), c.filters)
	}
	for _, bad := range []string{"x", "path=", "size=1", "path=[a"} {
		_, err := ParseFilter(bad)
		require.ErrorContains(t, err, "--filter", bad)
	}
	inRoot := func(names ...string) []string {
		for i := range names {
			names[i] = filepath.Join(root, filepath.FromSlash(names[i]))
		}
		return names
	}
	require.Equal(t, "apps/api apps/web network", paths(members, g.Affected(inRoot("network/Pulumi.yaml"))))
	require.Equal(t, "apps/api lib", paths(members, g.Affected(inRoot("lib/other.yaml"))))
	require.Equal(t, ".", paths(members, g.Affected(inRoot("README.md"))))
	require.Equal(t, "apps/api", paths(members, g.Affected(inRoot("apps/api/own/x"))))
	require.Empty(t, g.Affected(inRoot("../elsewhere")))
}

// TestOnlyKeepsOrder checks that an omitted member still orders the members before and after it.
func TestOnlyKeepsOrder(t *testing.T) {
	t.Parallel()
	members := []*Member{{Path: "a"}, {Path: "b"}, {Path: "c"}, {Path: "d"}}
	g := &Graph{Members: members, Edges: []Edge{{From: 0, To: 1}, {From: 1, To: 2}, {From: 2, To: 3}}}
	part := g.Only([]int{0, 3})
	require.Equal(t, []*Member{members[0], members[3]}, part.Members)
	require.Equal(t, []Edge{{From: 0, To: 1}}, part.Edges)
	require.Equal(t, []int{1, 0}, part.Order())
	require.Equal(t, []int{1}, part.Needs(0))
}

func TestFindings(t *testing.T) {
	t.Parallel()
	_, members := tree(t, `
-- a/Pulumi.yaml --
name: a
variables: {v: {fn::stackReference: [organization/b/dev, x]}}
-- b/Pulumi.yaml --
name: b
variables: {v: {fn::stackReference: [organization/c/dev, x]}}
-- c/Pulumi.yaml --
name: c
variables: {v: {fn::stackReference: [organization/a/dev, x]}}
-- d/Pulumi.yaml --
name: d
variables:
  v: {fn::stackReference: [organization/a/prod, x]}
  w: {fn::stackReference: [organization/bb/dev, x]}
  there: {fn::stackReference: [organization/far/dev, x]}
-- e/Pulumi.yaml --
name: d
`)
	g, diags := Link(members)
	require.Equal(t, `error Y502 e/Pulumi.yaml:1 the projects in d and e make the same stack d/dev
  d/Pulumi.yaml:1 the other one
error Y500 a/Pulumi.yaml:2 projects need each other: a → b → c → a
  b/Pulumi.yaml:2 b needs c here
  c/Pulumi.yaml:2 c needs a here
`, said(diags))
	require.Equal(t, "d e", paths(members, g.Order()))
	lost, err := g.Lost([]int{0, 1, 2, 3}, func(r Reference) (bool, error) { return r.Project == "far", nil })
	require.NoError(t, err)
	require.Equal(t, `error Y501 d/Pulumi.yaml:3 no project here makes the stack a/prod: of a, it is the stack dev that is taken
  a/Pulumi.yaml:1 the project
error Y501 d/Pulumi.yaml:4 no project here makes the stack bb/dev
`, said(lost))
	unsure, err := g.Lost([]int{3}, nil)
	require.NoError(t, err)
	require.Len(t, unsure, 3)
	left, err := g.Lost([]int{0}, func(Reference) (bool, error) { return false, nil })
	require.NoError(t, err)
	require.Equal(t, "error Y501 a/Pulumi.yaml:2 the stack b/dev does not exist yet, and its project b is not "+
		"included here\n",
		said(left))
	require.False(t, unsure.HasErrors())
}
