package eval

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
)

func TestRedact(t *testing.T) { // L9.34
	t.Parallel()
	inputs := value.MapOf(value.Entry{Key: "a", Value: value.String("hunter").Secret()},
		value.Entry{Key: "b", Value: value.List(value.String("hunter2secret"), value.Number(54321)).Secret()},
		value.Entry{Key: "c", Value: value.String("public")})
	require.Equal(t, "refused: [secret], [secret], [secret], public",
		redact("refused: hunter2secret, hunter, 54321, public", inputs))
}
