package check_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// D3: FirstSecret finds the first secret of a program, also inside the components that it uses.
func TestFirstSecret(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"none":               {"resources: {a: {type: 'zoo:Echo'}}", ""},
		"a call":             {"variables: {a: {fn::secret: x}}", "fn::secret"},
		"an output":          {"resources: {t: {type: 'zoo:Typed', properties: {s: x}}}", "t.osec"},
		"environment":        {"variables: {a: {fn::env: HOME}}", "fn::env"},
		"public environment": {"pulumi: {publicEnv: [HOME]}\nvariables: {a: {fn::env: HOME}}", ""},
		"in a component": {"components: {C: {resources: {t: {type: 'zoo:Typed', properties: {s: x}}}}}\nresources: " +
			"{c: {type: 'components:C'}}", "t.osec"},
		"in a component of one": {"components: {D: {resources: {c: {type: 'components:C'}}}, C: {variables: {v: " +
			"{fn::secret: x}}}}\nresources: {d: {type: 'components:D'}}", "fn::secret"},
		"an input": {"components: {C: {inputs: {i: {type: string, secret: true}}}}\nresources: {c: {type: " +
			"'components:C', properties: {i: x}}}", "input i"},
		"an input with default": {"components: {C: {inputs: {i: {type: string, secret: true, default: x}}}}\nresources: " +
			"{c: {type: 'components:C'}}", "input i"},
		"code": {"dynamic: {Note: {provider: ./notes.ts, inputs: {}}}\nresources: {n: {type: 'dynamic:Note'}}",
			"the code of notes.ts"},
		"code that nothing uses": {"dynamic: {Note: {provider: ./notes.ts, inputs: {}}}", ""},
		"in an unused component": {"components: {C: {variables: {v: {fn::secret: x}}}}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, diags := checkText(t, "Main.yaml", c.text)
			require.False(t, diags.HasErrors(), diags)
			secret := program.FirstSecret()
			if c.want == "" {
				require.Nil(t, secret)
				return
			}
			require.NotNil(t, secret)
			require.Equal(t, c.want, secret.What)
		})
	}
}
