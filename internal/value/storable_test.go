package value

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// F1.10: the error for a value that a state cannot store has a path, and never shows a secret.
func TestStorable(t *testing.T) {
	t.Parallel()
	reserved := func(v Value) Value { return MapOf(Entry{SignatureKey, v}) }
	nested := func(n int, v Value) Value {
		for range n {
			v = List(v)
		}
		return v
	}
	for name, c := range map[string]struct {
		v    Value
		says string // empty if the value is valid
	}{
		"plain":             {MapOf(Entry{"a", List(Int(1), String("\xff"), Null)}), ""},
		"the key as a text": {String(SignatureKey), ""},
		"deep":              {nested(MaxDepth, Int(1)), ""},
		"too deep":          {nested(MaxDepth+1, Int(1)), "nested more than 900 deep"},
		"nonsense": {MapOf(Entry{"a", List(reserved(String("nonsense")))}),
			`the value of a[0] has the unrecognized signature "nonsense"`},
		"a secret's signature": {reserved(String("1b47061264138c4ac30d75fd1eb44270")), "unrecognized signature"},
		"a number":             {reserved(Int(7)), "unrecognized signature"},
		"within a secret": {MapOf(Entry{"a", reserved(String("hidden text").Secret()).Secret()}),
			"the value of a has an unrecognized signature"},
		"a key of bytes":    {MapOf(Entry{"\xff", Int(1)}), "not UTF-8"},
		"an asset of bytes": {NewAsset(&Asset{Text: "\xff", HasText: true}), "not UTF-8"},
		"an archive in an archive": {NewArchive(&Archive{Assets: MapOf(Entry{"x", NewArchive(&Archive{
			Assets: MapOf(Entry{"y", NewAsset(&Asset{Path: "\xff"})})})})}), "not UTF-8"},
	} {
		err := Storable(c.v)
		if c.says == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, c.says, name)
		require.NotContains(t, err.Error(), "hidden", name)
		require.Less(t, len(err.Error()), 300, name)
	}
	require.Equal(t, 2, strings.Count(Storable(nested(MaxDepth+1, Int(1))).Error(), "[0][0][0][0]"),
		"the path begins at the top and is short")
}
