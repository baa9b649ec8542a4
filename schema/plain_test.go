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
		"examples in YAML stay": {"What it is.\n\n## Example Usage\n\n<!--Start PulumiCodeChooser -->\n```typescript\n" +
			"const a = 1;\n# no heading\n```\n```yaml\na: 1\n```\n<!--End PulumiCodeChooser -->\n\n## Import\n\n```sh\nx\n```\n",
			"What it is.\n\n## Example Usage\n\n```yaml\na: 1\n```\n\n## Import\n\n```sh\nx\n```\n"},
		"headings without examples": {"What it is.\n## Examples\n### One\n```go\nx\n```\n### Two\n```go\nx\n```\n## Import\ntext\n",
			"What it is.\n## Import\ntext\n"},
		"comparisons": {"a < b and b > a", "a < b and b > a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, schema.Plain(c.text))
		})
	}
}
