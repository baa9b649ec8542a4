package operation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/backend"
)

// Planned outputs are the same on another machine, except for secrets, which are not sent.
func TestPlannedOutputsAreCarried(t *testing.T) {
	t.Parallel()
	secret := func(text string) value.Value { return value.String(text).Secret() }
	entry := func(key string, v value.Value) value.Entry { return value.Entry{Key: key, Value: v} }
	inside := func(text string) value.Value {
		return value.MapOf(entry("user", value.String("me")), entry("password", secret(text)))
	}
	planned := value.MapOf(entry("text", value.String("x\x00y")), entry("port", value.Unknown(value.KindNumber)),
		entry("hidden", value.Unknown(value.KindBool).Secret()), entry("same", secret("hunter1")),
		entry("other", secret("hunter2")), entry("new", secret("hunter3")), entry("part", inside("hunter4")),
		entry("same part", inside("hunter5")), entry("public", secret("hunter6")))
	stored := value.MapOf(entry("text", value.String("before")), entry("same", secret("hunter1")),
		entry("other", secret("before")), entry("same part", inside("hunter5")), entry("public", value.String("hunter6")))
	text, err := pack(planned, stored)
	require.NoError(t, err)
	require.NotContains(t, string(text), "hunter")

	n, err := neighboursOf(&console.Previews{Before: map[string][]byte{"zone/dev": text}})
	require.NoError(t, err)
	outputs, names, found := n.outputs(backend.Ref{Project: "zone", Stack: "dev"})
	require.True(t, found)
	require.Equal(t, []string{"same", "same part"}, names)
	unknown := value.Unknown(value.KindAny).Secret() // the kind of an unknown secret text is not encoded (E1.12)
	want := value.MapOf(entry("text", value.String("x\x00y")), entry("port", value.Unknown(value.KindNumber)),
		entry("hidden", value.Unknown(value.KindBool).Secret()), entry("other", unknown), entry("new", unknown),
		entry("part", value.MapOf(entry("user", value.String("me")), entry("password", unknown))),
		entry("public", unknown))
	require.Equal(t, want.Keys(), outputs.Keys())
	for i, name := range want.Keys() {
		require.True(t, value.Equal(want.At(i), outputs.At(i)), "%s: %v", name, outputs.At(i))
	}

	_, _, found = n.outputs(backend.Ref{Project: "zone", Stack: "prod"})
	require.False(t, found)
	_, err = neighboursOf(&console.Previews{Before: map[string][]byte{"zone/dev": []byte("x")}})
	require.ErrorContains(t, err, "read the planned outputs of zone/dev")
}
