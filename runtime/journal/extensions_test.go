package journal

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// E3.57, F5.7: a blob is durable before the first resource that names it, and kept as long as one does.
func TestExtensions(t *testing.T) {
	t.Parallel()
	resource := func(name, ref string) *state.Resource {
		return &state.Resource{URN: "urn:pulumi:dev::p::t:i:R::a", Type: "t:i:R", Custom: true, ID: name,
			Inputs: value.EmptyMap(), Outputs: value.EmptyMap(), ExtensionRef: ref}
	}
	base := &state.Snapshot{Resources: []*state.Resource{resource("1", "old")},
		Extensions: json.RawMessage(`{"old":{"name":"o"},"unused":{}}`)}
	entries := []Entry{
		{Extensions: map[string]json.RawMessage{"new": json.RawMessage(`{"name":"n"}`)}},
		{Add: []Amended{{ID: 2, Resource: resource("2", "new")}}},
		{Remove: []ID{1}},
	}
	var kept []string
	for i := range entries {
		payload, err := appendEntry(nil, entries[i], nil)
		require.NoError(t, err)
		entries[i], err = decodeEntry(payload, nil)
		require.NoError(t, err)
		s, err := Replay(base, entries[:i+1])
		require.NoError(t, err)
		kept = append(kept, string(s.Extensions))
	}
	require.Equal(t, []string{`{"old":{"name":"o"}}`, `{"new":{"name":"n"},"old":{"name":"o"}}`, `{"new":{"name":"n"}}`},
		kept)
}
