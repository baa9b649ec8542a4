package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/schema"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"names by language": {"use <span pulumi-lang-nodejs=\"`minUpper`\" " +
			"pulumi-lang-yaml=\"`minUpper`\">`minUpper`</span> instead.",
			"use `minUpper` instead."},
		"a link":         {`see <a href="https://example.com">there</a>`, "see there"},
		"an empty tag":   {"one<br/>two<BR />", "onetwo"},
		"line ends":      {"one\r\ntwo", "one\ntwo"},
		"placeholders":   {"`projects/<project>/zones/<zone>`", "`projects/<project>/zones/<zone>`"},
		"bare addresses": {"<https://example.com>", "<https://example.com>"},
		"comparisons":    {"a < b and b > a", "a < b and b > a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, schema.Plain(c.text))
		})
	}
}
