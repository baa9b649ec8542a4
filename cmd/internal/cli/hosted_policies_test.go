package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/test/service/host"
)

const prefixes = `name: tags
version: 1.0.0
runtime: yaml
policies:
  prefix:
    enforcement: mandatory
    match: {type: random:RandomPet}
    config: {good: {type: string, default: pet}}
    when: ${resource.prefix != config.good}
    violation: ${args.name} has another prefix than ${config.good}
  stays:
    enforcement: mandatory
    destroy: true
    match: {name: kept}
    violation: ${args.name} stays
`

// packDir writes a policy pack to a new folder and returns the folder.
func packDir(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

// TestHostedPolicies runs the packs that an organization requires: one in YAML and one that is a program.
func TestHostedPolicies(t *testing.T) {
	t.Parallel()
	const program = "name: one\nresources:\n  kept: {type: random:RandomPet, properties: {prefix: bad}}\n"
	x := newHosted(t, program)
	x.does("stack", "init", "dev")
	kept := "urn:pulumi:dev::one::random:index/randomPet:RandomPet::kept"
	yaml := host.Policy{Name: "tags", Version: "1.0.0", Dir: packDir(t, map[string]string{"PulumiPolicy.yaml": prefixes}),
		Config: map[string]any{"prefix": map[string]any{"enforcementLevel": "mandatory", "good": "good"}, "stays": nil}}
	x.Set(host.Behaviour{Policies: []host.Policy{yaml}})
	said := x.fails("up", "--yes")
	require.Contains(t, said, "Downloading policy pack tags 1.0.0, which tester requires")
	require.Contains(t, said, "kept has another prefix than good")
	installed := filepath.Join(x.world.Home, ".pulumi/policies/tester/pulumi-analyzer-tags-v1.0.0")
	require.FileExists(t, filepath.Join(installed, "PulumiPolicy.yaml"))
	require.Zero(t, x.Calls()["update"], "the preview has stopped it")

	yaml.Exceptions = map[string]any{"1": map[string]any{"reason": "old", "match": []any{
		map[string]any{"policies": []string{"prefix"}, "targets": []string{kept}}}}}
	x.Set(host.Behaviour{Policies: []host.Policy{yaml}})
	x.does("up", "--yes")
	require.Contains(t, x.err.String(), "policy prefix of pack tags (advisory): kept has another prefix than good")
	require.NotContains(t, x.err.String(), "Downloading")
	require.Contains(t, x.fails("destroy", "--yes"), "kept stays")

	// A --policy-pack of the required version replaces that pack and gets its configuration; others are refused.
	own := packDir(t, map[string]string{"PulumiPolicy.yaml": prefixes})
	yaml.Dir, yaml.Exceptions = "", nil
	x.Set(host.Behaviour{Policies: []host.Policy{yaml}})
	require.Contains(t, x.fails("up", "--yes", "--policy-pack", own), "kept has another prefix than good")
	yaml.Version = "1.1.0"
	x.Set(host.Behaviour{Policies: []host.Policy{yaml}})
	require.Contains(t, x.fails("up", "--yes", "--policy-pack", own),
		"tester requires version 1.1.0 of policy pack tags, and "+own+" has version 1.0.0\nleave out this pack")

	path := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, filepath.Join(path, "pulumi-analyzer-policy-testing")))
	x.world.Env = append(x.world.Env, "PATH="+path)
	x.Set(host.Behaviour{Policies: []host.Policy{{Name: "pets", Version: "1.2.0", Dir: packDir(t, map[string]string{
		"PulumiPolicy.yaml": "runtime: testing\n", "mode": "good\n"}), Config: map[string]any{"length": "disabled"}}}})
	require.Contains(t, x.fails("up", "--yes", "--untrusted"), "it is a program, and the run is --untrusted")
	require.Contains(t, x.fails("up", "--yes"), `kept has the prefix "bad" in dev (preview: true)`)
	require.NotContains(t, x.err.String(), "policy length")
	x.does("destroy", "--yes")
}

// TestHostedPolicyEnvironments opens the environments of packs. The pack's configuration overrides their policyConfig.
// Only the process of the pack gets their variables and files. No secret is shown.
func TestHostedPolicyEnvironments(t *testing.T) {
	t.Parallel()
	x := newHosted(t, "name: one\nresources:\n  kept: {type: random:RandomPet, properties: {prefix: bad}}\n")
	x.does("stack", "init", "dev")
	environment := func(name, text string) {
		path := filepath.Join(t.TempDir(), "env.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		x.does("env", "init", name)
		x.does("env", "edit", name, "--file", path)
	}
	environment("base", `values:
  policyConfig:
    prefix: {good: base}
    "tags:stays": disabled
    "pets:prefix": mandatory
    other: {unknown: {fn::fromJSON: '9007199254740993'}}
`)
	environment("team/pets", "values:\n  secret:\n    fn::open::test: {key: canary-opened}\n"+
		"  environmentVariables: {PETS_BAD: bad}\n  files: {PETS_SECRET: \"${secret.key}\"}\n")
	dir := packDir(t, map[string]string{"PulumiPolicy.yaml": prefixes})
	tags := host.Policy{Name: "tags", Version: "1.0.0", Dir: dir, Environments: []string{"base"}}
	set := func(policies ...host.Policy) { x.Set(host.Behaviour{Policies: policies}) }
	set(tags)
	require.Contains(t, x.fails("up", "--yes"), "kept has another prefix than base")
	tags.Config = map[string]any{"prefix": map[string]any{"good": "bad"}}
	set(tags)
	x.does("up", "--yes", "--skip-preview")
	require.Equal(t, 1, strings.Count(x.err.String(), "policyConfig: an integer loses digits"), x.err.String())
	require.Contains(t, x.fails("preview", "--untrusted"), "the service is not asked for environments: the run is --untrusted")
	x.does("destroy", "--yes")

	path := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, filepath.Join(path, "pulumi-analyzer-policy-testing")))
	x.world.Env = append(x.world.Env, "PATH="+path)
	own := packDir(t, map[string]string{"PulumiPolicy.yaml": "runtime: testing\n", "mode": "environment\n",
		"pack.json": `{"environments": ["team/pets"], "length": "disabled"}`, "wrong.json": `{"environments": "base"}`})
	pets := host.Policy{Name: "pets", Version: "1.2.0", Environments: []string{"base", "team/pets"}, Dir: own,
		Config: map[string]any{"length": "disabled"}}
	for name, run := range map[string]func() string{
		"required": func() string { set(pets); return x.fails("up", "--yes") },
		"of the run, in place of a required one": func() string {
			set(pets)
			return x.fails("up", "--yes", "--policy-pack", own)
		},
		"of the run": func() string {
			set()
			return x.fails("up", "--yes", "--policy-pack", own, "--policy-pack-config", filepath.Join(own, "pack.json"))
		},
	} {
		require.Contains(t, run(), `kept knows [secret] has the prefix "bad"`, name)
	}
	require.Contains(t, x.fails("up", "--yes", "--policy-pack", own, "--policy-pack-config",
		filepath.Join(own, "wrong.json")), "`environments` has to be a list of names")
	pets.Environments = []string{"none"}
	set(pets)
	said := x.fails("up", "--yes", "--skip-preview")
	require.Contains(t, said, "needs the environments none: ")
	require.Contains(t, said, "nothing was done")
}

// tgz returns a gzipped tar archive with one member.
func tgz(t *testing.T, head *tar.Header, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	members := tar.NewWriter(zipped)
	head.Size, head.Mode = int64(len(text)), 0o644
	require.NoError(t, members.WriteHeader(head))
	_, err := members.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, members.Close())
	require.NoError(t, zipped.Close())
	return out.Bytes()
}

// TestHostedPoliciesMissing requires that a command changes nothing if a required pack is not available.
func TestHostedPoliciesMissing(t *testing.T) {
	t.Parallel()
	x := newHosted(t, onePet)
	x.does("stack", "init", "dev")
	x.does("up", "--yes", "--skip-preview")
	before := x.does("stack", "export")
	for name, c := range map[string]struct {
		policy host.Policy
		args   []string
		want   string
	}{
		"no place":   {want: "it is not installed, and the service has no archive of it\ngive the folder of such a pack"},
		"http":       {policy: host.Policy{Location: "http://example.com/p.tgz"}, want: "policy packs are downloaded over https only"},
		"gone":       {policy: host.Policy{Location: x.url + "/packs/none?s=canary-signature"}, want: "the server answered 404"},
		"offline":    {policy: host.Policy{Archive: []byte{}}, args: []string{"--offline"}, want: "because --offline forbids that"},
		"no archive": {policy: host.Policy{Archive: []byte("<html>")}, want: "the download is not an archive"},
		"escape": {policy: host.Policy{Archive: tgz(t, &tar.Header{Name: "package/../../x"}, "x")},
			want: "which would be outside of"},
		"link": {policy: host.Policy{Archive: tgz(t, &tar.Header{Name: "package/x", Linkname: "/etc/passwd",
			Typeflag: tar.TypeSymlink}, "")}, want: "which is a link or a device"},
		"no pack": {policy: host.Policy{Archive: tgz(t, &tar.Header{Name: "package/x"}, "x")},
			want: "the archive has no package/PulumiPolicy.yaml"},
		"name": {policy: host.Policy{Name: "../x"}, want: `".._x" is not a part`},
	} {
		c.policy.Version = "1.0.0"
		if c.policy.Name == "" {
			c.policy.Name = "tags"
		}
		x.Set(host.Behaviour{Policies: []host.Policy{c.policy}})
		for _, command := range []string{"up", "destroy"} {
			said := x.fails(append([]string{command, "--yes", "--skip-preview"}, c.args...)...)
			require.Contains(t, said, "which tester requires, cannot be run: ", name)
			require.Contains(t, said, c.want, name)
			require.Contains(t, said, "nothing was done", name)
			require.NotContains(t, said, "canary-signature", name)
		}
		x.Set(host.Behaviour{})
		require.Equal(t, outline(t, before), outline(t, x.does("stack", "export")), name)
		left, err := filepath.Glob(filepath.Join(x.world.Home, ".pulumi/policies/*/*/*"))
		require.NoError(t, err)
		require.Empty(t, left, name)
	}
}
