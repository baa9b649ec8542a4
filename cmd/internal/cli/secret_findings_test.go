package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
)

// secretForms are values of programs in which the literal @ is a secret. Most have a mistake, or make one of what is
// around them.
var secretForms = []string{
	`{fn::secret: @}`, `{fn::secret: "@"}`, `{fn::secret: '@'}`, `{fn::secret: [@, b]}`, `{fn::secret: {k: @}}`, `{fn::Secret: @}`,
	`{fn::secrt: @}`, `{fn::secret: @, more: 1}`, `{fn::secret: {fn::toNumber: @}}`,
	`{fn::secret: {fn::fromJSON: '{"@": }'}}`, `{fn::secret: {fn::fromJSON: "{@"}}`, `{fn::secret: {fn::fromYAML: "{@: ["}}`,
	`{fn::secret: {fn::fromBase64: "@!"}}`, `{fn::secret: {fn::select: [@, [a]]}}`, `{fn::secret: {fn::readFile: ./@}}`,
	`{fn::secret: {fn::fileAsset: ./@}}`, `{fn::secret: {fn::cidrHost: [@, 1]}}`, `{fn::secret: {fn::toNumber: "@ ${pulumi.stack}"}}`,
	`{fn::secret: {fn::invoke: {function: "std:parseint", arguments: {input: @, base: 10}, return: result}}}`,
	`{fn::secret: {fn::invoke: {function: "std:base64decode", arguments: {input: "@", nope: @}}}}`,
	`{fn::toNumber: {fn::secret: @}}`, `{fn::lookup: [{a: 1}, {fn::secret: @}]}`, `{fn::fromYAML: {fn::secret: "{@: ["}}`,
	`{fn::invoke: {function: "std:parseint", arguments: {input: {fn::secret: @}, base: 10}, return: result}}`,
	`{fn::secret: "@ ${nothing} @"}`, `{fn::secret: "@ ${pulumi.stack} @"}`, `${secret("@")}`, `${secret(toNumber("@"))}`,
	`${secret("@" + 1)}`, `${1 + secret("@ ${pulumi.stack}")}`, `${secret({"a" = 1}["@"])}`, `${nothing + secret("@")}`,
	`${secret(cidrHost("@", 1))}`, `${lookup({"a" = 1}, secret("@"))}`, `${secrt("@")}`, `${secret(["@", nothing])}`,
	`${toNumber(secret("@"))}`,
	"\n    fn::secret: |\n      @\n      @", "\n    fn::secret:\n      fn::toNumber: >\n        @", "\n    - fn::secret: @\n    - '",
}

// secretPlaces are programs with a place for such a value, on whose line there may be another mistake. Those with @ have
// a literal for what a schema or a declaration calls secret.
var secretPlaces = []string{
	"variables:\n  v: #\noutputs: {o: '${v}'}\n", "outputs:\n  o: #\n", "outputs:\n  o: #\n  o: #\n", "variables:\n  v: {a: #, nope: '${nothing}'}\n",
	"resources:\n  r: {type: 'random:RandomPet', properties: {prefix: #}}\n",
	"resources:\n  r: {type: 'random:RandomPet', properties: {length: #}}\noutputs: {o: '${r.id}'}\n",
	"resources:\n  r: {type: 'random:RandomPet', properties: {keepers: {k: #}, nope: 1}}\n",
	"resources:\n  r: {type: 'random:RandomPet', propertis: {prefix: #}}\n", "resources:\n  r: {type: 'random:RandomPet', options: {protect: #}}\n",
	"resources:\n  r: {type: 'random:Nothing', properties: {prefix: #}}\n", "config:\n  c: {default: #}\n", "nothing:\n  v: #\n",
	"messages:\n  - {level: nothing, message: #}\n", "messages:\n  - {message: #}\n",
	"transforms:\n  - {match: {type: 'random:*'}, properties: {nope: #}}\n",
	"resources: {r: {type: 'random:RandomPet'}}\npolicies:\n  p: {enforcement: advisory, match: {name: r}, violation: #}\n",
	"resources:\n  r: {type: 'tls:CertRequest', properties: {privateKeyPem: @, nope: 1}}\n",
	"variables: {key: @}\nresources:\n  r: {type: 'tls:CertRequest', properties: {privateKeyPem: '${key}', nope: 1}}\n",
	"config:\n  c: {type: string, secret: true, default: @, nope: 1}\n", "config:\n  c: {type: strin, secret: true, default: @}\n",
	"components:\n  C: {inputs: {c: {type: string, secret: true, default: @, nope: 1}}}\n",
	"dynamic:\n  D: {provider: ./d.py, inputs: {c: {type: string, secret: true, default: @, nope: 1}}}\n",
	"dynamic:\n  D: {provider: ./d.py, inputs: {c: {type: integer, secret: true}}}\nresources:\n  r: {type: 'dynamic:D', properties: {c: @}}\n",
}

// TestFindingsHaveNoSecretLiterals holds that no finding about a program, in any format, and no other output of the
// commands that read one has a literal that the program calls secret, whatever else is wrong.
func TestFindingsHaveNoSecretLiterals(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, "name: can\nruntime: yaml\n")
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=x")
	require.Zero(t, x.run("stack", "init", "dev"))
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "d.py"), []byte("class P:\n  def create(self, i): pass\n"), 0o600))
	rapid.Check(t, func(t *rapid.T) {
		canary := "canary-" + rapid.StringMatching(`[a-z0-9]{1,8}|[a-z0-9-]{9,90}[a-z0-9]`).Draw(t, "canary")
		place := rapid.SampledFrom(secretPlaces).Draw(t, "place")
		program := strings.ReplaceAll(place, "#", rapid.SampledFrom(secretForms).Draw(t, "form"))
		program = "name: can\nruntime: yaml\n" + strings.ReplaceAll(program, "@", canary)
		if strings.Contains(place, "#") && rapid.IntRange(0, 9).Draw(t, "cut") == 0 { // a syntax error
			program += "  - {\n"
		}
		require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.yaml"), []byte(program), 0o600))
		commands := [][]string{{"check"}, {"check", "--format", rapid.SampledFrom(report.Kinds()).Draw(t, "format")}}
		switch rapid.IntRange(0, 5).Draw(t, "more") {
		case 0:
			commands = append(commands, []string{"up", "--yes", "--diff"}, []string{"stack", "output"})
		case 1:
			commands = append(commands, []string{"graph", "--format", rapid.SampledFrom([]string{"dot", "json", "mermaid", "svg"}).
				Draw(t, "picture")})
		}
		for _, args := range commands {
			x.out.Reset()
			x.err.Reset()
			Run(context.Background(), args, x.streams, x.world)
			for _, text := range []string{x.out.String(), x.err.String()} {
				if i := strings.Index(strings.ToLower(text), "canary"); i >= 0 {
					t.Fatalf("%v of\n%s\n…%s…", args, program, text[max(0, i-200):min(len(text), i+100)])
				}
			}
		}
	})
}
