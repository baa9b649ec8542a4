package eval_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/monitor/monitortest"
)

const messageProgram = `resources:
  r: {type: 'pkg:Thing', properties: {size: 3}}
  none: {type: 'pkg:Thing', if: false}
variables: {password: {fn::secret: hush}}
messages:
  - plain ${r.size}
  - {level: warning, message: "careful", resource: "${r}", if: "${r.size > 2}"}
  - {level: warning, message: "never", if: "${r.size > 3}"}
  - {level: debug, message: "with ${password}!", resource: "${none}"}
  - {message: "the id is ${r.id}"}
  - {level: error, message: "too much"}
outputs: {o: 1}
`

func sayMessages(t *testing.T, m *monitortest.Recorder) ([]eval.Message, eval.Result) {
	t.Helper()
	file, diags := parser.Parse(diag.NewSource("Main.yaml", []byte(messageProgram)), parser.Options{})
	require.False(t, diags.HasErrors(), diags)
	program, diags := check.Check(t.Context(), file, check.Options{Project: "p"})
	require.False(t, diags.HasErrors(), diags)
	var said []eval.Message
	result, diags := eval.Run(t.Context(), program, m, eval.Options{Cwd: "/dir",
		Message: func(_ context.Context, m eval.Message) { said = append(said, m) }})
	require.Empty(t, diags)
	return said, result
}

// L10.C20: messages come in the order of the program, with their level and resource; secrets are hidden; an error fails
// the run.
func TestMessages(t *testing.T) {
	t.Parallel()
	said, result := sayMessages(t, &monitortest.Recorder{Deployment: monitor.Info{Project: "p", Stack: "s"}})
	var texts []string
	for _, m := range said {
		texts = append(texts, m.Severity.String()+": "+m.Text)
	}
	require.Equal(t, []string{"info: plain 3", "warning: careful", "info: with [secret]!", "info: the id is id-r",
		"error: too much"}, texts)
	require.Equal(t, "r", said[1].URN.Name())
	require.True(t, said[2].Debug)
	require.Empty(t, said[2].URN)
	require.Equal(t, 1, result.Failed)
	require.Equal(t, 1, result.Outputs.Len(), "the rest of the program is not concerned")
}

// L10.C20: a preview leaves out messages that are unknown.
func TestMessagesOfPreviews(t *testing.T) {
	t.Parallel()
	said, _ := sayMessages(t, &monitortest.Recorder{Deployment: monitor.Info{Project: "p", Stack: "s", DryRun: true}})
	for _, m := range said {
		require.NotContains(t, m.Text, "the id")
	}
	require.Len(t, said, 4)
}
