//go:build unix

package cli

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/workspace/project"
)

const (
	someProject = "name: page\nruntime: yaml\n"
	database    = "needs a server of PostgreSQL; cmd/internal/cli/testdata/queue runs such commands where there is one"
	network     = "would go to another machine"
)

// proofs returns how each block of code on the pages is verified. The first proof that matches a block counts.
func proofs() []proof {
	return []proof{
		{page: "README.md", has: "$ yamlhost check", show: showFirstScreen},
		{page: "README.md", has: "new hello --dir first", show: onEmpty("")},
		{page: "README.md", has: "bin/yamlhost", show: showLookAround},
		{page: "README.md", has: "make run", why: "builds the program; TestExamples runs what it runs"},
		{page: "README.md", has: "make test", why: "runs this test"},
		{page: "examples/README.md", show: func(t *testing.T, s *stage, b block) {
			p := withExamples(t, s)
			output, code := p.shell(b.text)
			require.Zero(t, code, output)
		}},
		{page: "docs/architecture.md", why: "is a sketch of what follows what"},
		{page: "docs/bundles.md", has: "fn::bundle", show: checked(someProject, "", "handlers/onObject.ts",
			"export async function handler(event: any) {}\n")},
		{page: "docs/bundles.md", has: "yamlhost:captured", show: showBundled},
		{page: "docs/checking.md", show: onStage("mkdir schemas")},
		{page: "docs/ci.md", has: "drift", show: checked(someProject, "")},
		{page: "docs/ci.md", has: "--save-plan", show: onStage("")},
		{page: "docs/commands.md", has: "text\n", by: "cmd/internal/manual/manual_test.go:TestPageIsCurrent"},
		{page: "docs/commands.md", has: "sh\n#", show: showExamples},
		{page: "docs/commands.md", has: "nameTable",
			why: "is the form of a file, with holes; testdata/script/import.txtar has whole ones"},
		{page: "docs/commands.md", has: "query:", show: showQuery},
		{page: "docs/conformance.md", has: "make conformance", why: "takes half an hour, and is what the page reports"},
		{page: "docs/design/scale.md", why: "are formulas"},
		{page: "docs/dynamic.md", has: "resources:\n  bug:", show: checked(someProject, "", "label.ts", labelCode)},
		{page: "docs/dynamic.md", has: "name: labels", show: showPackage},
		{page: "docs/dynamic.md", has: "pulumi-nodejs",
			show: checked(someProject, "", "provider.js", "exports.handler = null\n")},
		{page: "docs/editor.md", has: "lsp", show: showEditorSettings},
		{page: "docs/editor.md", has: "finding", by: "make editor-captures"},
		{page: "docs/editor.md", has: "tools: check explain", by: "make editor-captures"},
		{page: "docs/editor.md", has: "mcpServers", show: showEditorSettings},
		{page: "docs/editor.md", has: "--json-schema", show: onStage("")},
		{page: "docs/editor.md", has: "schema.json", show: showEditorSettings},
		{page: "docs/editor.md", has: "$schema=none", why: "speaks to a language server of somebody else"},
		{page: "docs/embedded.md", has: "yamlhost import", show: func(t *testing.T, s *stage, b block) {
			p := s.copied(t)
			output, code := p.shell("yamlhost stack select dev")
			require.Zero(t, code, output)
			output, code = p.typed(t, strings.TrimSpace(b.text), "yes")
			require.Zero(t, code, output)
		}},
		{page: "docs/embedded.md", show: onStage("")},
		{page: "docs/environments.md", by: "cmd/internal/cli/script_test.go:TestScripts"}, // environments.txtar has the texts
		{page: "docs/functions.md", has: "variables:\n", show: showBothForms},
		{page: "docs/functions.md", by: "eval/examples_test.go:TestExamplesOfFunctions"},
		{page: "docs/json.md", has: "doctor", show: showJSON},
		{page: "docs/json.md", has: "jsonschema", why: "is run by the block before it"},
		{page: "docs/language-host.md", has: "go build", by: "test/plugins/life/hosts_test.go:TestBothHosts"},
		{page: "docs/language-host.md", has: "hooks:", show: checked(someProject+"packages: {pkg: ./pkg}\n", "",
			"pkg/PulumiPlugin.yaml", "name: pkg\nruntime: yaml\ncomponents:\n  Site: {outputs: {x: 1}}\n")},
		{page: "docs/language.md", by: "eval/docs_test.go:TestLanguagePage"},
		{page: "docs/migrate.md", has: "s3://my-states", show: onStage("yamlhost login $PULUMI_BACKEND_URL\n"+
			"unset PULUMI_BACKEND_URL\nyamlhost stack select dev\nyamlhost shim bin\nPATH=$PWD/bin:$PATH\nmkdir there\n",
			"s3://my-states", "file://$PWD/there", "yamlhost stack change", "echo correct horse | yamlhost stack change")},
		{page: "docs/migrate.md", show: onStage("")},
		{page: "docs/new.md", has: "template:", show: showTemplate},
		{page: "docs/new.md", has: "--dir site", show: showNew},
		{page: "docs/new.md", has: ".git//web", why: network + "; the tests of package templates have a repository here"},
		{page: "docs/operations.md", has: "query:", show: showQuery},
		{page: "docs/operations.md", has: "autonaming", show: showAutonaming},
		{page: "docs/operations.md", has: "node deploy.js", show: onStage("")},
		{page: "docs/releases.md", has: "docker", why: network + "; make release-check runs the image"},
		{page: "docs/releases.md", has: "minisign", by: "tools/release/release_test.go:TestChecksumsAreSigned"},
		{page: "docs/releases.md", has: "make release", by: "tools/release/release_test.go:TestTheSameCommitGivesTheSameBits"},
		{page: "docs/screens.md", by: "cmd/internal/cli/screens_test.go:TestScreensPage"},
		{page: "docs/security.md", show: onStage("yamlhost stack init review\nmkdir trusted\n"+
			"cp Pulumi.dev.yaml trusted/Pulumi.review.yaml\nyamlhost stack select dev\n",
			"s3://…", "$PULUMI_BACKEND_URL", "/trusted/", "$PWD/trusted/")},
		{page: "docs/transforms.md", has: "match:", show: checked(someProject+"packages: {components: ./components}\n",
			"outputs: {subnets: {fn::aws:ec2:getSubnets: {}}}\n", "components/PulumiPlugin.yaml",
			"name: components\nruntime: yaml\ncomponents:\n  Network:\n    resources:\n"+
				"      vpc: {type: aws:ec2:Vpc}\n      subnet: {type: aws:ec2:Subnet}\n")},
		{page: "docs/transforms.md", has: "forces replacement", show: showTransformed},
		{page: "docs/policies.md", by: "cmd/internal/cli/policies_test.go:TestPoliciesPage"},
		{page: "docs/testing.md", by: "cmd/internal/cli/tests_test.go:TestTestingPage"},
		{page: "docs/tutorial.md", by: "cmd/internal/cli/tutorial_test.go:TestTutorial"},
		{page: "docs/ui.md", by: "make ui-test"},
		{page: "docs/values.md", show: checked(someProject,
			"resources:\n  generated: {type: random:RandomPassword, properties: {length: 8}}\n"+
				"outputs: {user: \"${account.user}\"}\n")},
		{page: "docs/workspaces.md", has: "--queue", why: database},
		{page: "docs/workspaces.md", has: "run --all", show: showProjects},
	}
}

// exampleLine is what an example command needs in addition to the stage.
type exampleLine struct {
	before, after string
	answer        string // at a terminal
	why           string // why it cannot be executed
}

// makeEnvironment is a shell command that writes an environment and a copy of its file.
const makeEnvironment = "mkdir -p environments; echo 'values: {pulumiConfig: {region: eu}, environmentVariables: " +
	"{REGION: eu}}' | tee environments/base.yaml > copy.yaml\n"

// exampleLines lists the example commands that need something or cannot run. The first entry whose text is part of the
// command counts.
var exampleLines = []struct {
	has string
	exampleLine
}{
	{"postgres://", exampleLine{why: database}},
	{"s3://", exampleLine{why: network}},
	{"awskms://", exampleLine{why: network}},
	{"login https://", exampleLine{why: network}},
	{"yamlhost org ", exampleLine{why: "needs a service; TestHostedAccounts runs such commands against one"}},
	{"resource random 4.16.0", exampleLine{before: "yamlhost plugin install resource random 4.16.0 --file " +
		"pulumi-resource-random.tar.gz"}},
	{"Invoke-Expression", exampleLine{why: "is for PowerShell"}},
	{"convert --from kubernetes", exampleLine{before: "rm -r shop; mkdir manifests; echo '{apiVersion: v1, kind: Pod}' " +
		"> manifests/pod.yaml"}},
	{"convert --from cloudformation", exampleLine{before: "echo '{Resources: {Q: {Type: AWS::SQS::Queue}}}' " +
		"> template.yaml"}},
	{"yamlhost watch", exampleLine{why: "runs until it is interrupted; TestWatch runs it"}},
	{"yamlhost schema check", exampleLine{before: `echo '{"name": "zoo"}' > schema.json`}},
	{"config env rm", exampleLine{before: makeEnvironment + "yamlhost config env add base\n"}},
	{"config env", exampleLine{before: makeEnvironment}},
	{"yamlhost env", exampleLine{before: makeEnvironment}},
	{"config copy region", exampleLine{before: "yamlhost config set region north"}},
	{"package remove random", exampleLine{before: "yamlhost package add random"}},
	{"package rm network", exampleLine{before: "yamlhost package add random; mv sdks/random sdks/network"}},
	{"package add ./network", exampleLine{why: "needs the built program, which is the host of the package's language"}},
	{"terraform-provider", exampleLine{why: network}},
	{"get-mapping", exampleLine{why: network}},
	{"plugin bundle", exampleLine{why: network}},
	{"plugin run --kind", exampleLine{why: "needs a converter; TestPluginRun runs one"}},
	{"pulumi-tool-report", exampleLine{before: "mkdir bin; printf '#!/bin/sh\\n' > bin/pulumi-tool-report; chmod +x bin/*"}},
	{"random@4.16.0", exampleLine{why: network}},
	{"| source", exampleLine{why: "is for fish"}},
	{"source <(yamlhost completion zsh)", exampleLine{why: "is for zsh"}},
	{"fpath", exampleLine{before: "fpath=(. .)"}},
	{"$PROFILE", exampleLine{before: "PROFILE=profile"}},
	{"completions/yamlhost.fish", exampleLine{before: "mkdir -p ~/.config/fish/completions"}},
	{"/etc/bash_completion.d", exampleLine{before: "mkdir bash_completion.d"}},
	{"file:///srv/states", exampleLine{before: "mkdir states"}},
	{"node deploy.js", exampleLine{before: "yamlhost shim ~/.yamlhost/shim"}},
	{"stack init dev", exampleLine{before: "yamlhost stack rm dev --force --yes"}},
	{"stack init prod", exampleLine{before: "yamlhost stack rm prod --force --yes"}},
	{"state move", exampleLine{answer: "yes", before: "yamlhost destroy --yes --stack prod --target '**::pet' " +
		"--target '**::app-id' --target '**::app'"}},
	{"new --list", exampleLine{}},
	{"new hello", exampleLine{before: "rm -r shop; yamlhost stack rm dev --force --yes"}},
	{"yamlhost new", exampleLine{before: "rm -r *", answer: "hello\n\n\n\n"}},
	{"change-secrets-provider passphrase", exampleLine{answer: "y\ny"}},
	{"yamlhost test", exampleLine{before: `mkdir tested
printf 'name: tested\nruntime: yaml\noutputs: {size: 1}\n' > tested/Pulumi.yaml
printf 'cases: {prod: {expect: {outputs: {size: 1}}}}\n' > tested/size.test.yaml`}},
	{"lsp", exampleLine{after: "</dev/null"}},
	{"mcp", exampleLine{after: "</dev/null"}},
	{"yamlhost ui", exampleLine{after: ` --no-browser --ready-file ready.json &
for i in $(seq 300); do [ -e ready.json ] && break; sleep 0.1; done
grep -q '{"url":"http://127.0.0.1:[0-9]*/#token=' ready.json
kill $!; wait $!`}},
	{"dot -Tsvg", exampleLine{before: "dot() { cat; }"}},
}

// showExamples runs each example of a command's help in a copy of the stage.
func showExamples(t *testing.T, s *stage, b block) {
	inTheFolder := strings.NewReplacer("/etc/bash_completion.d", "bash_completion.d", "file:///srv/states",
		"file://$PWD/states")
	for line := range strings.Lines(b.text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var e exampleLine
		for _, known := range exampleLines {
			if strings.Contains(line, known.has) {
				e = known.exampleLine
				break
			}
		}
		if e.why != "" {
			t.Logf("%s: %s", line, e.why)
			continue
		}
		p, before := s.copied(t), "yamlhost stack select dev\n"+e.before
		var output string
		var code int
		if own := inTheFolder.Replace(line); own == line && plain(line) && e.after == "" {
			output, code = p.shell(before)
			require.Zero(t, code, output)
			output, code = p.typed(t, line, strings.Split(cmp.Or(e.answer, "yes"), "\n")...)
		} else {
			output, code = p.shell(before + "\n" + own + e.after)
		}
		require.Zero(t, code, "%s\n%s", line, output)
	}
}

// onEmpty returns a function that runs a block in an empty folder.
func onEmpty(before string) func(*testing.T, *stage, block) {
	return func(t *testing.T, s *stage, b block) {
		output, code := s.empty(t).shell(before + "\n" + b.text)
		require.Zero(t, code, output)
	}
}

func withExamples(t *testing.T, s *stage) *play {
	t.Helper()
	p := s.empty(t)
	require.NoError(t, os.CopyFS(filepath.Join(p.dir, "examples"), os.DirFS("../../../examples")))
	return p
}

// petName matches a name of two words as random:RandomPet generates them.
var petName = regexp.MustCompile(`(Hello, |")[a-z]+-[a-z]+\b`)

// showFirstScreen compares the first block of the README with the output for the example hello, with a mistake and
// without.
func showFirstScreen(t *testing.T, s *stage, b block) {
	p := withExamples(t, s)
	p.dir = filepath.Join(p.dir, "examples", "hello")
	program, err := os.ReadFile(filepath.Join(p.dir, "Pulumi.yaml"))
	require.NoError(t, err)
	p.write(t, "Pulumi.yaml", strings.Replace(string(program), "length:", "legnth:", 1))
	faults, code := p.shell("yamlhost check")
	require.Equal(t, 12, code, faults)
	p.write(t, "Pulumi.yaml", string(program))
	run, code := p.shell("yamlhost run")
	require.Zero(t, code, run)
	same := func(text string) string {
		text = petName.ReplaceAllString(text, "${1}PET")
		for _, v := range volatile {
			text = v.pattern.ReplaceAllString(text, v.with)
		}
		return strings.TrimSpace(text)
	}
	require.Equal(t, same(b.text), same("$ yamlhost check\n"+faults+"\n$ yamlhost run\n"+run))
}

// showLookAround runs the commands that the README suggests. The last one needs a passphrase: it fails and creates
// nothing.
func showLookAround(t *testing.T, s *stage, b block) {
	p := withExamples(t, s)
	for i, env := range p.env {
		if strings.HasPrefix(env, "PULUMI_CONFIG_PASSPHRASE=") {
			p.env[i] = "LANG=C"
		}
	}
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(b.text, "bin/yamlhost", "yamlhost")), "\n")
	for i, line := range lines {
		output, code := p.shell(line)
		last := i == len(lines)-1
		require.Equal(t, last, code != 0, "%s\n%s", line, output)
		if last {
			require.Contains(t, output, "PULUMI_CONFIG_PASSPHRASE")
			require.NotContains(t, output, "created")
		}
	}
}

const labelCode = `export default { async create(inputs: any) { return { id: "1", outs: { ...inputs, url: "u" } }; } };
`

// showPackage runs a program that uses the page's package of components and types.
func showPackage(t *testing.T, s *stage, b block) {
	p := s.empty(t)
	p.write(t, "labels/PulumiPlugin.yaml", b.text)
	p.write(t, "labels/label.ts", labelCode)
	p.write(t, "Pulumi.yaml", someProject+"packages: {labels: ./labels}\nresources:\n"+
		"  a: {type: labels:Label, properties: {name: n}}\noutputs: {url: \"${a.url}\"}\n")
	output, code := p.shell("yamlhost check; yamlhost run; yamlhost stack output url")
	require.Zero(t, code, output)
	require.True(t, strings.HasSuffix(output, "\nu\n"), output)
}

// showBundled makes an archive of the page's handler.
func showBundled(t *testing.T, s *stage, b block) {
	p := s.empty(t)
	p.write(t, "handler.ts", b.text)
	p.write(t, "Pulumi.yaml", someProject+"variables:\n  code:\n    fn::bundle:\n      entry: ./handler.ts\n"+
		"      export: handler\n      capture: {table: t}\noutputs: {code: \"${code}\"}\n")
	output, code := p.shell("yamlhost check; yamlhost run")
	require.Zero(t, code, output)
}

// showEditorSettings parses settings in JSON. In settings of other languages it only looks for the command or the
// schema.
func showEditorSettings(t *testing.T, _ *stage, b block) {
	if !strings.HasPrefix(strings.TrimSpace(b.text), "{") {
		require.Regexp(t, `(?s)yamlhost.*lsp|program\.schema\.json`, b.text)
		return
	}
	var settings map[string]any
	require.NoError(t, json.Unmarshal([]byte(b.text), &settings), b.text)
}

// showBothForms calls a function in both of its forms.
func showBothForms(t *testing.T, s *stage, b block) {
	p := s.empty(t)
	p.write(t, "Pulumi.yaml", someProject+b.text+"outputs: {a: \"${a}\", same: \"${a == b}\"}\n")
	output, code := p.shell("yamlhost run; yamlhost stack output")
	require.Zero(t, code, output)
	require.Regexp(t, `a +eu-west-1\n *same +true\n`, output)
}

// showJSON validates the output of a command with the script of the page.
func showJSON(t *testing.T, s *stage, b block) {
	page, err := os.ReadFile("../../../docs/json.md")
	require.NoError(t, err)
	p := s.copied(t)
	require.NoError(t, os.CopyFS(filepath.Join(p.dir, "docs/schemas"), os.DirFS("../../../docs/schemas")))
	if _, code := p.shell("python3 -c 'import jsonschema'"); code != 0 {
		t.Skip("Python or its package jsonschema is not here")
	}
	for _, python := range blocksOf(string(page)) {
		if python.kind == "python" {
			p.write(t, "validate.py", python.text)
		}
	}
	output, code := p.shell(b.text + "python3 validate.py")
	require.Zero(t, code, output)
}

// showTemplate makes a project from the page's template.
func showTemplate(t *testing.T, s *stage, b block) {
	p := s.empty(t)
	p.write(t, "folder/Pulumi.yaml", b.text)
	output, code := p.shell("yamlhost new ./folder --dir db --yes --config password=hush; cat db/Pulumi.yaml; " +
		"cd db; yamlhost config --show-secrets; yamlhost check")
	require.Zero(t, code, output)
	require.Contains(t, output, "\nname: db\ndescription: A database\nruntime: yaml\n")
	require.NotContains(t, output, "\ntemplate:")
	require.Contains(t, output, "It takes a minute.")
	for _, setting := range []string{`size +10`, `password +hush`, `aws-native:region +eu-central-1`} {
		require.Regexp(t, setting, output)
	}
}

// showNew runs the first steps and answers the questions.
func showNew(t *testing.T, s *stage, b block) {
	p := s.empty(t)
	for line := range strings.Lines(b.text) {
		line = strings.TrimSpace(line)
		if dir, ok := strings.CutPrefix(line, "cd "); ok {
			p.dir = filepath.Join(p.dir, dir)
			continue
		}
		answers := []string{"", "", "", ""} // the defaults
		if line == "yamlhost up" {
			answers = []string{"yes"}
		}
		output, code := p.typed(t, line, answers...)
		require.Zero(t, code, output)
	}
}

// showQuery parses a query as import does.
func showQuery(t *testing.T, _ *stage, b block) {
	q, found := project.ParseQuery(diag.NewSource("query.yaml", []byte(b.text)))
	require.Empty(t, found)
	require.NotEmpty(t, q.Resources)
	require.Equal(t, "web-a", q.Resources[0].NameOf("id", "a"))
}

// showAutonaming previews with the page's settings of a stack; a misspelt setting is an error.
func showAutonaming(t *testing.T, s *stage, b block) {
	p := s.copied(t)
	p.write(t, "Pulumi.test.yaml", b.text+"  shop:prefix: our\n")
	output, code := p.shell("yamlhost preview --stack test")
	require.Zero(t, code, output)
	p.write(t, "Pulumi.test.yaml", strings.Replace(b.text, "enforce: true", "enforced: true", 1)+
		"  shop:prefix: our\n")
	output, code = p.shell("yamlhost preview --stack test")
	require.NotZero(t, code, "what is wrong in it is found: %s", output)
}

// showTransformed expects the text of the page in a preview, which names the transform of a property.
func showTransformed(t *testing.T, s *stage, b block) {
	p := s.empty(t)
	program := func(team string) {
		p.write(t, "Pulumi.yaml", someProject+"resources:\n  first: {type: random:RandomPet}\n"+
			strings.Repeat("#\n", 15)+"transforms:\n  - match: {name: first}\n"+
			"    properties: {keepers: {team: "+team+"}}\n")
	}
	program("platform")
	output, code := p.shell("yamlhost run")
	require.Zero(t, code, output)
	program("other")
	output, code = p.shell("yamlhost preview --diff")
	require.Zero(t, code, output)
	require.Contains(t, output, b.text)
}

// showProjects runs the page's commands for many projects on three projects.
func showProjects(t *testing.T, s *stage, b block) {
	p := s.empty(t)
	for dir, name := range map[string]string{"network": "network", "apps/web": "web", "infra": "infra"} {
		p.write(t, dir+"/Pulumi.yaml", "name: "+name+"\nruntime: yaml\nresources:\n  pet: {type: random:RandomPet}\n")
	}
	output, code := p.shell(b.text)
	require.Zero(t, code, output)
}
