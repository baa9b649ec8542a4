package langhost_test

import (
	"strings"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
)

// No message to the engine, no error and no diagnostic has a secret of the program or of the configuration, whatever is
// wrong with what it stands in.
func TestMessagesHaveNoSecrets(t *testing.T) {
	t.Parallel()
	values := []string{
		"${token}", "{fn::secret: canary}", "{fn::secret: {fn::toNumber: canary}}", "{fn::toNumber: '${token}'}",
		"${toNumber(token)}", "${toNumber(secret('canary'))}", `${toNumber(secret("canary"))}`,
		"{fn::fromJSON: '{${token}'}", "{fn::secret: {fn::fromJSON: '{canary'}}", "{fn::fromBase64: '!${token}'}",
		"{fn::readFile: './${token}'}", "{fn::fileAsset: './${token}'}", "{fn::select: ['${token}', [a]]}",
		"${nothing + token + secret(\"canary\")}", "{fn::secrt: canary, password: canary}",
		"{fn::secret: canary, more: 1}", "{fn::secret: \"canary ${nothing}\"}", "{fn::secret: [canary, '${1 / 0}']}",
		"{fn::nowhere:get: {password: canary}}",
		"{fn::invoke: {function: 'nowhere:get', arguments: {password: canary}}}", "{fn::secret: |\n  canary\n}",
	}
	places := []string{
		"outputs: {o: #}", "variables: {v: #}\noutputs: {o: '${v}'}", "variables: [#]\n", "outputs: [#\n",
		"resources: {r: {type: 'pkg:Thing', properties: {size: #}}}",
		"resources: {r: {type: 'pkg:Thing', properties: {sise: #}}}",
		"resources: {r: {type: 'pkg:Thng', properties: {size: #}}}",
		"resources: {r: {type: 'nowhere:Thing', properties: {password: #}}}",
		"resources: {r: {type: 'pkg:Thing', options: {protect: #}}}",
		"messages: [{message: #}]", "messages: [{message: 'a ${token}', level: warning}]",
		"config: {size: {type: integer, secret: true, default: #}}", "outputs: {o: #\n",
		"policies: {p: {match: {type: 'pkg:*'}, violation: #}}\nresources: {r: {type: 'pkg:Thing'}}",
	}
	for _, place := range places {
		t.Run(strings.ReplaceAll(place, "\n", " "), func(t *testing.T) {
			t.Parallel()
			e := startEngine(t)
			host, _ := serveHost(t, e)
			kinds := []string{"string"}
			if strings.HasPrefix(place, "outputs: {o") { // the type of the configuration is checked in one place
				kinds = []string{"string", "integer", "boolean", "list<string>", "object"}
			}
			for _, kind := range kinds {
				for _, text := range values {
					program := "config: {token: {type: " + kind + "}}\n"
					if strings.HasPrefix(place, "config:") {
						program = ""
					}
					program += strings.ReplaceAll(place, "#", text) + "\n"
					dir := writeFiles(t, map[string]string{"Pulumi.yaml": project, "Main.yaml": program})
					r := runRequest(e, serveMonitor(t, newRecorder()), dir)
					r.Config["proj:token"] = "canary"
					got, err := host.Run(t.Context(), r)
					require.NoError(t, err)
					require.NotContains(t, got.GetError(), "canary", program)
					_, err = host.GetRequiredPackages(t.Context(),
						&pulumirpc.GetRequiredPackagesRequest{Info: info(dir)})
					if err != nil {
						require.NotContains(t, err.Error(), "canary", program)
					}
					require.NotContains(t, e.said(), "canary", program)
				}
			}
			require.NotEmpty(t, e.said())
		})
	}
	t.Run("generated", func(t *testing.T) {
		t.Parallel()
		host, _ := serveHost(t, startEngine(t))
		for _, text := range []string{`secret("canary")`, `secret(toNumber("canary"))`, `secret("canary", 1)`,
			`toNumber(secret("canary"))`, `secret("canary ${nothing}")`, `secret({"canary" = nothing})`,
			`unheardOf(secret("canary"))`} {
			for _, place := range []string{"output o { value = # }\n", "a = #\n",
				"resource r \"pkg:index:Thing\" { size = # }\n", "resource r \"pkg:index:Thing\" { sise = # }\n",
				"config c \"int\" { default = # }\n"} {
				source := strings.ReplaceAll(place, "#", text)
				got, err := host.GenerateProgram(t.Context(),
					&pulumirpc.GenerateProgramRequest{Source: map[string]string{"main.pp": source}})
				if err != nil {
					require.NotContains(t, err.Error(), "canary", source)
				}
				for _, d := range got.GetDiagnostics() {
					require.NotContains(t, d.GetSummary()+d.GetDetail(), "canary", source)
				}
			}
		}
	})
}
