package life

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// packs holds one policy pack twice: in JavaScript with Pulumi's library, and in YAML.
var packs = map[string]map[string]string{
	"node": {
		"PulumiPolicy.yaml": "name: rules\nversion: 1.0.0\nruntime: nodejs\n",
		"package.json":      `{"name": "rules", "version": "1.0.0", "main": "index.js"}`,
		"index.js": `const policy = require("@pulumi/policy");
new policy.PolicyPack("rules", { policies: [
  { name: "words", description: "Names are long enough", enforcementLevel: "mandatory",
    configSchema: { properties: { least: { type: "integer", default: 3, minimum: 1 } } },
    validateResource: (args, report) => {
      const least = args.getConfig().least;
      if (args.type === "random:index/randomPet:RandomPet" && args.props.length < least)
        report(args.name + " has " + args.props.length + " words, not " + least);
    } },
  { name: "prefix", description: "Pets have a kind", enforcementLevel: "advisory",
    validateResource: (args, report) => {
      if (args.type !== "random:index/randomPet:RandomPet") return;
      for (const kind of ["cat", "dog"])
        if (args.props.prefix !== kind) report(args.name + " is no " + kind);
    } },
  { name: "separator", description: "Words are joined by a dash", enforcementLevel: "remediate",
    remediateResource: args => {
      if (args.type === "random:index/randomPet:RandomPet" && args.props.separator === "_")
        return { ...args.props, separator: "-" };
    } },
  { name: "few", description: "Few pets are enough", enforcementLevel: "advisory",
    validateStack: (args, report) => {
      const pets = args.resources.filter(r => r.type === "random:index/randomPet:RandomPet");
      if (pets.length > 1) report(pets.length + " pets in " + args.getConfig().place);
      for (const r of pets) if (r.opts.protect) report(r.name + " is protected", r.urn);
    },
    configSchema: { properties: { place: { type: "string", default: "here" } } } },
  { name: "never", description: "Nothing is right", enforcementLevel: "disabled",
    validateResource: (args, report) => report("wrong") },
]});
`},
	"yaml": {"PulumiPolicy.yaml": `name: rules
version: 1.0.0
runtime: yaml
policies:
  words:
    description: Names are long enough
    enforcement: mandatory
    config: {least: {type: integer, default: 3, minimum: 1}}
    match: {type: random:RandomPet}
    when: ${resource.length < config.least}
    violation: ${args.name} has ${resource.length} words, not ${config.least}
  prefix:
    description: Pets have a kind
    match: {type: random:RandomPet}
    violation: '${[for kind in ["cat", "dog"] : "${args.name} is no ${kind}" if resource.prefix != kind]}'
  separator:
    description: Words are joined by a dash
    enforcement: remediate
    match: {type: random:RandomPet}
    when: ${resource.separator == "_"}
    remedy: {separator: "-"}
  few:
    description: Few pets are enough
    stack: true
    config: {place: {type: string, default: here}}
    match: {type: random:RandomPet}
    violation:
      - '${length(resources) > 1 ? "${length(resources)} pets in ${config.place}" : null}'
      - '${[for r in resources : {message: "${r.name} is protected", urn: r.urn} if r.options.protect]}'
  never:
    description: Nothing is right
    enforcement: disabled
    violation: wrong
`},
}

// TestPacksSideBySide runs one program with a policy pack in JavaScript and with the same pack in YAML, under the
// Pulumi CLI and under yamlhost: the same resources are made or refused, with the same violations and remedies.
func TestPacksSideBySide(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed")
	}
	installed, err := automation()
	require.NoError(t, err)
	plugins, err := examplePlugins()
	require.NoError(t, err)
	wanted := map[string][]string{
		"refused": {
			"few 2 pets in here", "few rex is protected", "prefix kitty is no dog", "prefix rex is no cat", "prefix rex is no dog",
			"words rex has 1 words, not 3"},
		"allowed": {
			"few 2 pets in there", "few rex is protected", "prefix kitty is no dog", "prefix rex is no cat", "prefix rex is no dog"},
	}
	for name, files := range packs {
		for _, program := range []string{"pulumi", "yamlhost"} {
			t.Run(name+" under "+program, func(t *testing.T) {
				t.Parallel()
				s := newSandbox(t)
				for file, text := range files {
					s.write("pack/"+file, text)
				}
				if name == "node" {
					require.NoError(t, os.Symlink(filepath.Join(installed, "node_modules"), filepath.Join(s.dir, "pack/node_modules")))
				}
				s.write("config.json", `{"words": {"least": 1}, "few": {"place": "there"}}`)
				s.write("Pulumi.yaml", `name: pets
runtime: yaml
resources:
  rex: {type: random:RandomPet, properties: {length: 1, prefix: cow, separator: _}, options: {protect: true}}
  kitty: {type: random:RandomPet, properties: {length: 4, prefix: cat}}
  other: {type: random:RandomInteger, properties: {min: 1, max: 2}}
`)
				s.run(0, "stack", "init", "dev")
				if program == "pulumi" { // which has no provider built in
					s.env = append(s.env, "PULUMI_DEBUG_COMMANDS=true", "PATH="+plugins+":"+s.bin+":/usr/bin:/bin")
				}
				for outcome, violations := range wanted {
					args := []string{"preview", "--non-interactive", "--policy-pack", "pack", "--event-log", outcome + ".log"}
					code := 1
					if outcome == "allowed" {
						args, code = append(args, "--policy-pack-config", "config.json"), 0
					}
					if program == "yamlhost" && code != 0 {
						code = 14
					}
					s.program(code, program, args...)
					got, remedied := policyEvents(t, filepath.Join(s.dir, outcome+".log"))
					require.Equal(t, violations, got)
					require.Equal(t, []string{"separator rex"}, remedied)
				}
			})
		}
	}
}

// policyEvents returns the violations in a log of events, each with the name of its policy, and the remedies, in order.
func policyEvents(t *testing.T, path string) (violations, remedies []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		var event struct {
			PolicyEvent            *struct{ PolicyName, Message, ResourceURN string }
			PolicyRemediationEvent *struct{ PolicyName, ResourceURN string }
		}
		require.NoError(t, json.Unmarshal([]byte(line), &event), line)
		if e := event.PolicyEvent; e != nil {
			message := strings.TrimSpace(e.Message)
			violations = append(violations, e.PolicyName+" "+message[strings.LastIndex(message, "\n")+1:])
		}
		if e := event.PolicyRemediationEvent; e != nil {
			remedies = append(remedies, e.PolicyName+" "+e.ResourceURN[strings.LastIndex(e.ResourceURN, "::")+2:])
		}
	}
	slices.Sort(violations)
	return violations, slices.Compact(remedies)
}
