package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/schema"
)

// L4.22: a version may have a leading v and leave out numbers; the Pulumi CLI reads neither.
func TestPlainVersion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"v4.21.2": "4.21.2", "4.21.2": "4.21.2", "1.2": "1.2.0", "v1": "1.0.0", "v1.2-beta.1+x": "1.2.0-beta.1+x",
		"": "", "latest": "latest", "vault": "vault", "0.0.0-xabc": "0.0.0-xabc",
	} {
		require.Equal(t, want, schema.PlainVersion(text), text)
	}
}
