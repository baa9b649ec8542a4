package suite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// What an expectation refers to is what the run gave, and an expected text without a reference is itself, also beside
// one that has a reference.
func TestTextsOfExpectations(t *testing.T) {
	t.Parallel()
	texts := rapid.Custom(func(t *rapid.T) string {
		pieces := []string{"$", "${", "$$", "}", "y", `"`, `\`, "'", " ", "\n", ": ", "#", "<<", "\t", "é", "\u0085", "\x7f", "1"}
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "text"), "")
	})
	rapid.Check(t, func(r *rapid.T) {
		text := texts.Draw(r, "text")
		expected := texts.Filter(func(text string) bool { return !strings.Contains(text, "${") }).Draw(r, "expected")
		outputs := value.MapOf(value.Entry{Key: "v", Value: value.MapOf(value.Entry{Key: text, Value: value.String(text)})})
		trial := &trial{c: &Case{file: &File{Dir: "."}}, after: &outcome{outputs: outputs, snapshot: &state.Snapshot{}}}
		data, diags := parser.Data(diag.NewSource("t.yaml", []byte("["+literal.JSON(expected)+`, "${outputs.v}", "x`+"${"+
			`outputs.v[keys(outputs.v)[0]]}"]`)))
		require.False(r, diags.HasErrors(), "%v", diags)
		got, err := trial.value(t.Context(), data)
		require.NoError(r, err)
		want := value.List(value.String(expected), outputs.Get("v"), value.String("x"+text))
		require.True(r, value.SameContent(want, got), "%v\n%v", want, got)
	})
}
