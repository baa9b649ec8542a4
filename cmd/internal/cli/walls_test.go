package cli

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var allWalls = flag.Bool("walls", false, "try all hostile projects instead of some of them")

// lay writes files and links below the folder of a terminal's project. Names that begin with ../ lie beside it.
func lay(t testing.TB, x *terminal, files, links map[string]string) {
	t.Helper()
	write := func(name string, fn func(path string) error) {
		path := filepath.Join(x.world.Dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, fn(path))
	}
	for name, text := range files {
		write(name, func(path string) error { return os.WriteFile(path, []byte(text), 0o600) })
	}
	for name, target := range links {
		write(name, func(path string) error { return os.Symlink(filepath.FromSlash(target), path) })
	}
}

// A policy pack in YAML reads nothing outside of its folder at any level of trust, and an untrusted project brings no pack,
// no configuration of one, and no environment from elsewhere.
func TestPacksAndEnvironmentsStayInside(t *testing.T) {
	t.Parallel()
	pack := func(violation string) string {
		return "name: p\nversion: 1.0.0\nruntime: yaml\npolicies:\n  x: {description: d, enforcement: mandatory, violation: '" +
			violation + "'}\n"
	}
	const project = "name: one\noutputs: {a: 1}\npolicyPacks: [./pack]\n"
	const configured = "name: one\nconfig: {c: {type: string, default: none}}\noutputs: {c: '${c}'}\n"
	outside := map[string]string{"../canary": "canary-of-a-file", "../canary.yaml": "canary-of-a-file: {nested: canary-too}\n",
		"../environment.yaml":             "values: {pulumiConfig: {c: canary-of-an-environment}}\n",
		"../folder/inner.yaml":            "values: {pulumiConfig: {c: canary-of-an-environment}}\n",
		"../other/" + "PulumiPolicy.yaml": pack("canary-of-a-pack")}
	for name, c := range map[string]struct {
		project      string
		files, links map[string]string
		flags        []string
		want         string
		trusted      bool // refused without --untrusted too
	}{
		"the process": {project: project, files: map[string]string{"pack/PulumiPolicy.yaml": pack(
			`${readFile("/proc/self/environ")}`)}, want: "outside of the policy pack", trusted: true},
		"an absolute path": {project: project, files: map[string]string{"pack/PulumiPolicy.yaml": pack(
			`${readFile("OUTSIDE/canary")}`)}, want: "outside of the policy pack", trusted: true},
		"the project's file": {project: project, files: map[string]string{"own": "canary-of-the-project",
			"pack/PulumiPolicy.yaml": pack(`${readFile("../own")}`)}, want: "outside of the policy pack", trusted: true},
		"a link in the pack": {project: project, files: map[string]string{"pack/PulumiPolicy.yaml": pack(
			`${readFile("link")}`)}, links: map[string]string{"pack/link": "../../canary"},
			want: "outside of the policy pack", trusted: true},
		"a pack of the command line": {project: "name: one\noutputs: {a: 1}\n", flags: []string{"--policy-pack", "pack"},
			files: map[string]string{"pack/PulumiPolicy.yaml": pack(`${readFile("/proc/self/environ")}`)},
			want:  "outside of the policy pack", trusted: true},
		"a pack whose file is a link": {project: project, links: map[string]string{
			"pack/PulumiPolicy.yaml": "../../canary.yaml"}, want: "outside of the project", trusted: true},
		"an included part": {project: project, files: map[string]string{"pack/PulumiPolicy.yaml": pack("x") +
			"include: [../../canary.yaml]\n"}, want: "is outside of the program", trusted: true},
		"an included link": {project: project, files: map[string]string{"pack/PulumiPolicy.yaml": pack("x") +
			"include: [part.yaml]\n"}, links: map[string]string{"pack/part.yaml": "../../canary.yaml"},
			want: "part.yaml may not be read", trusted: true},
		"a pack elsewhere": {project: strings.ReplaceAll(project, "./pack", "OUTSIDE/other"),
			want: "the policy pack `OUTSIDE/other` may not be used"},
		"a pack above": {project: strings.ReplaceAll(project, "./pack", "../other"), want: "may not be used"},
		"a linked pack": {project: project, links: map[string]string{"pack": "../other"},
			want: "the policy pack `pack` may not be used"},
		"its configuration elsewhere": {project: strings.ReplaceAll(project, "./pack", "{path: ./pack, config: "+
			"OUTSIDE/canary.yaml}"), files: map[string]string{"pack/PulumiPolicy.yaml": pack("x")},
			want: "read the configuration"},
		"its configuration by a link": {project: strings.ReplaceAll(project, "./pack", "{path: ./pack, config: link.yaml}"),
			files: map[string]string{"pack/PulumiPolicy.yaml": pack("x")},
			links: map[string]string{"link.yaml": "../canary.yaml"}, want: "read the configuration"},
		"an environment": {project: configured, files: map[string]string{"Pulumi.dev.yaml": "environment: [z]\n"},
			links: map[string]string{"environments/z.yaml": "../../environment.yaml"}, want: "the environment z cannot be read"},
		"an imported environment": {project: configured, files: map[string]string{"Pulumi.dev.yaml": "environment: [y]\n",
			"environments/y.yaml": "imports: [z]\n"}, links: map[string]string{"environments/z.yaml": "../../environment.yaml"},
			want: "the environment z cannot be read"},
		"a folder of environments": {project: configured, files: map[string]string{
			"Pulumi.dev.yaml": "environment: [t/inner]\n"}, links: map[string]string{"environments/t": "../../folder"},
			want: "the environment t/inner cannot be read"},
	} {
		for _, command := range []string{"preview", "check"} {
			if command == "check" && !strings.Contains(name, "environment") {
				continue // check runs no packs
			}
			for _, untrusted := range []bool{true, false} {
				if !untrusted && !c.trusted {
					continue
				}
				t.Run(name+"/"+command+map[bool]string{true: " --untrusted"}[untrusted], func(t *testing.T) {
					t.Parallel()
					x := newTerminal(t, "name: one\noutputs: {a: 1}\n")
					place := func(text string) string {
						return strings.ReplaceAll(text, "OUTSIDE", filepath.ToSlash(filepath.Dir(x.world.Dir)))
					}
					require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
					files := map[string]string{"Pulumi.yaml": place(c.project)}
					for name, text := range c.files {
						files[name] = place(text)
					}
					lay(t, x, outside, nil)
					lay(t, x, files, c.links)
					args := append([]string{command, "-s", "dev"}, c.flags...)
					if untrusted {
						args = append(args, "--untrusted")
					}
					require.NotEqual(t, 0, x.run(args...), x.out.String())
					said := x.out.String() + x.err.String()
					require.Contains(t, said, place(c.want))
					require.NotContains(t, said, "canary-of-")
					require.NotContains(t, said, "PATH=")
				})
			}
		}
	}
}

// A name in a schema is no path: neither a package nor its version leads to another folder.
func TestNamesOfPackagesAreNoPaths(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{`{"name": "../../evil", "version": "1.0.0"}`, `{"name": "..", "version": "1.0.0"}`,
		`{"name": "/evil", "version": "1.0.0"}`, `{"name": "evil", "version": "x/../../../../victim"}`,
		`{"name": "a/b", "version": "1.0.0"}`, `{"name": "evil", "version": "..\\x"}`, `{"name": "nul"}`} {
		x := newTerminal(t, "name: one\nruntime: yaml\n")
		lay(t, x, map[string]string{"../schema.json": schema, "../victim.yaml": "precious"}, nil)
		before := treeOf(t, filepath.Dir(x.world.Dir))
		require.NotEqual(t, 0, x.run("package", "add", "../schema.json"), schema)
		require.Contains(t, x.err.String(), "cannot be the name of a package", schema)
		require.Equal(t, before, treeOf(t, filepath.Dir(x.world.Dir)), schema)
	}
	x := newTerminal(t, "name: one\nruntime: yaml\n")
	lay(t, x, map[string]string{"PulumiPlugin.yaml": "keep", "a.yaml": "packageDeclarationVersion: 1\nname: a\n"}, nil)
	before := treeOf(t, x.world.Dir)
	require.NotEqual(t, 0, x.run("package", "remove", ".."))
	require.Equal(t, before, treeOf(t, x.world.Dir))
}

// treeOf returns the contents of the files below a folder, but those of a state, by their paths.
func treeOf(t testing.TB, root string) map[string]string {
	t.Helper()
	tree := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (path == filepath.Join(root, "state") || path == filepath.Join(root, "home")):
			return fs.SkipDir
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			tree[path] = "-> " + target
			return err
		case d.Type().IsRegular():
			text, err := os.ReadFile(path)
			tree[path] = string(text)
			return err
		}
		tree[path] = d.Type().String()
		return nil
	}))
	return tree
}

// A template of CloudFormation reads the templates of its folder, and none elsewhere.
func TestNestedTemplatesStayInside(t *testing.T) {
	t.Parallel()
	const canary = "canary-of-a-file: [\n"
	for name, c := range map[string]struct {
		url  string
		want string
	}{
		"upwards":     {"../../canary", "outside of the folder of the template"},
		"absolute":    {"OUTSIDE/canary", "outside of the folder of the template"},
		"a link":      {"link", "outside of the folder of the template"},
		"the process": {"/proc/self/environ", "outside of the folder of the template"},
		"a device":    {"/dev/zero", "outside of the folder of the template"},
		"inside":      {"sub/inner.yaml", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTerminal(t, "name: one\n")
			lay(t, x, map[string]string{"../canary": canary, "t/sub/inner.yaml": "Resources: {T: {Type: 'AWS::SNS::Topic'}}\n",
				"t/main.yaml": "Resources:\n  A: {Type: 'AWS::CloudFormation::Stack', Properties: {TemplateURL: '" +
					strings.ReplaceAll(c.url, "OUTSIDE", filepath.ToSlash(filepath.Dir(x.world.Dir))) + "'}}\n"},
				map[string]string{"t/link": "../../canary"})
			code := x.run("convert", "--from", "cloudformation", "t/main.yaml", "--out", "converted")
			said := x.out.String() + x.err.String()
			require.NotContains(t, said, "canary-of-")
			if c.want == "" {
				require.Equal(t, 0, code, said)
				return
			}
			require.NotEqual(t, 0, code, said)
			require.Contains(t, said, c.want)
		})
	}
}
