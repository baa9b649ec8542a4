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
	"resources:\n  r: {type: 'tls:CertRequest', properties: {privateKeyPm: @, nope: 1}}\n",
	"resources:\n  r: {type: 'tls:CertReqest', properties: {privateKeyPem: @}}\n",
	"resources:\n  r: {type: CertRequest, properties: {privateKeyPem: @}}\n",
	"resources:\n  r: {typ: 'tls:CertRequest', properties: {privateKeyPem: @}}\n",
	"resources:\n  r: {type: 'tls:CertReqest', get: {id: a, state: {privateKeyPem: @}}}\n",
	"resources:\n  r: {type: 'nowhere:Thing', properties: {a: [{dbPassword: @}], api_key: @, n: '${nothing}'}}\n",
	"components: {C: {resources: {}}}\nresources:\n  r: {type: C, properties: {privateKeyPem: @}}\n",
	"variables:\n  v: {fn::invoke: {function: 'tls:nothing', arguments: {content: @}}}\n",
	"variables:\n  v: {fn::invoke: {function: 'nowhere:get', arguments: {a: [{dbPassword: @}], api_key: @, n: '${nothing}'}}}\n",
	"resources:\n  r: {type: 'nowhere:Thing'}\nvariables:\n" +
		"  v: {fn::call: {resource: '${r}', method: get, arguments: {dbPassword: @, a: '${nothing}'}}}\n",
	"resources:\n  r: {type: 'random:RandomPet'}\nvariables:\n" +
		"  v: {fn::call: {resource: '${r}', method: get, arguments: {content: @}}}\n",
	"variables:\n  v: {fn::nowhere:get: {dbPassword: @, a: '${nothing}'}}\n",
	"resources:\n  r:\n    type: tls:CertRequest\n    properties:\n      privateKeyPem: @\n      subject: {commonName: a}\n",
	"resources:\n  r:\n    type: tls:CertRequest\n    properties:\n      privateKeyPem: |\n        @\n        @\n      nope: 1\n",
	"resources:\n  r: {type: 'tls:CertRequest', properties: {privateKeyPem: @, nope: 1}\n",
	"resources:\n  r: {type: 'tls:CertRequest' properties: {privateKeyPem: @}}\n",
	"resources:\n  r: {type: 'tls:CertRequest', properties: - {privateKeyPem: @, nope: 1}}\n",
	"resources: r: {type: 'tls:CertRequest', properties: {privateKeyPem: @}}\n",
	"resources:\n  - r: {type: 'tls:CertRequest', properties: {privateKeyPem: @}}\n",
	"resources:\n  r: {type: 'tls:CertRequest', propertis: {privateKeyPem: @}, properties: {}}\n",
	"config: c: {type: string, secret: true, default: @, nope: 1}\n",
	"variables: {key: @}\nresources:\n  r: {type: 'tls:CertRequest', properties: {privateKeyPem: '${key}', nope: 1}}\n",
	"config:\n  c: {type: string, secret: true, default: @, nope: 1}\n", "config:\n  c: {type: strin, secret: true, default: @}\n",
	"components:\n  C: {inputs: {c: {type: string, secret: true, default: @, nope: 1}}}\n",
	"dynamic:\n  D: {provider: ./d.py, inputs: {c: {type: string, secret: true, default: @, nope: 1}}}\n",
	"dynamic:\n  D: {provider: ./d.py, inputs: {c: {type: integer, secret: true}}}\nresources:\n  r: {type: 'dynamic:D', properties: {c: @}}\n",
}

// A value that cannot be read is hidden by check, which reads the schema in spite of a syntax error, and by every command
// if its key sounds secret.
func TestBrokenSecretsAreHidden(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"privateKeyPem", "dbPassword", "auth_token"} {
		for _, text := range []string{"\"canary\n      nope: 1", "canary: b", "{a: canary", "\n        - canary\n      b: c: d",
			"\n        a: [canary, c: d: e", "|\n        canary\n      nope: a: b"} {
			x := newTerminal(t, "name: can\nruntime: yaml\nresources:\n  r:\n    type: tls:CertRequest\n    properties:\n"+
				"      "+key+": "+text+"\n")
			for _, command := range []string{"check", "preview", "run", "up"} {
				require.NotZero(t, x.run(command))
				require.NotContains(t, x.out.String()+x.err.String(), "canary", command)
			}
		}
	}
}

// Data of a project file that calls fn::secret is secret, although nothing calls it there.
func TestDataWithSecretsIsHidden(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, `name: can
runtime: yaml
config:
  d: {default: {fn::secret: canary-d, more: 1}}
  f: [{fn::secret: canary-f}]
  aws:h: {value: {a: {fn::secret: canary-h}}}
outputs: {d: "${d}", f: "${f}"}
`)
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=x")
	require.Zero(t, x.run("stack", "init", "dev"))
	for _, args := range [][]string{{"config"}, {"config", "--json"}, {"up", "--yes", "--diff"}, {"stack", "output", "--json"},
		{"stack", "export"}} {
		require.Zero(t, x.run(args...), x.err.String())
		require.NotContains(t, x.out.String()+x.err.String(), "canary", args)
	}
	require.Zero(t, x.run("config", "--show-secrets"))
	require.Contains(t, x.out.String(), "canary-d")
}

// Messages about texts of environments have no character of a text that cannot be decoded.
func TestEnvironmentsHideWhatTheyCannotDecode(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, "name: can\nruntime: yaml\n")
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "e.yaml"),
		[]byte("values:\n  s: {fn::secret: Xcanary}\n  j: {fn::fromJSON: \"${s}\"}\n  b: {fn::fromBase64: \"${s}\"}\n"), 0o600))
	require.NotZero(t, x.run("env", "init", "foo", "--file", "e.yaml"))
	require.Contains(t, x.err.String(), "the text is not JSON")
	require.Contains(t, x.err.String(), "the text is not base64")
	require.NotContains(t, x.err.String(), "'X'")
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
