package check_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// A number in its usual form for a text has exactly one finding, a warning, if the text has other characters than the
// program: 1.30 becomes 1.3. One with an exponent is meant as a number.
func TestNumbersForTexts(t *testing.T) {
	t.Parallel()
	numerals := rapid.StringMatching(`[-+]?(0|[1-9][0-9]{0,5}|0[0-9]{1,3}|[1-9]_[0-9]{3}|[0-9]{1,3}\.[0-9]{1,4}|\.[0-9]{1,2})`)
	uses := []string{
		"resources:\n  r: {type: 'random:RandomPet', properties: {prefix: %s}}\n",
		"resources:\n  r: {type: 'random:RandomPet', properties: {keepers: {a: %s}}}\n",
		"resources:\n  r: {type: 'random:RandomPet', properties: {prefix: {fn::secret: %s}}}\n",
		"variables: {n: %s}\nresources:\n  r: {type: 'random:RandomPet', properties: {prefix: '${n}'}}\n",
		"variables: {n: %s, m: '${n}'}\nresources:\n  r: {type: 'random:RandomPet', properties: {prefix: '${m}'}}\n",
		"variables: {n: %s}\noutputs: {image: 'nginx:${n}'}\n",
	}
	rapid.Check(t, func(rt *rapid.T) {
		written := numerals.Draw(rt, "number")
		number, err := strconv.ParseFloat(strings.ReplaceAll(written, "_", ""), 64)
		require.NoError(rt, err)
		warned := strconv.FormatFloat(number+0, 'f', -1, 64) != written // minus zero is zero
		if rapid.Bool().Draw(rt, "exponent") {
			written, warned = written+"e3", false
		}
		text := fmt.Sprintf(rapid.SampledFrom(uses).Draw(rt, "use"), written)
		_, found := checkText(t, "Main.yaml", text)
		found = withoutNotes(found)
		if !warned {
			require.Empty(rt, found, text)
			return
		}
		require.Len(rt, found, 1, text)
		require.Equal(rt, diag.NotAssignable, found[0].Code, text)
		require.Equal(rt, diag.Warning, found[0].Severity, text)
	})
}
