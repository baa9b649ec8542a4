package value_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
)

func TestPrint(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		v    value.Value
		want string
	}{
		"null":   {value.Null, `null`},
		"text":   {value.String("a\"b"), `"a\"b"`},
		"number": {value.Int(1 << 20), `1048576`},
		"nested": {value.Map(map[string]value.Value{"b": value.List(value.Bool(true), value.Null),
			"a": value.Int(1)}), `{"a": 1, "b": [true, null]}`},
		"secret":         {value.String("hunter2").Secret(), `[secret]`},
		"secret inside":  {value.List(value.Int(1), value.String("hunter2").Secret()), `[1, [secret]]`},
		"unknown":        {value.Unknown(value.KindString), `[unknown]`},
		"secret unknown": {value.Unknown(value.KindString).Secret(), `[secret]`},
		"asset":          {value.NewAsset(&value.Asset{Text: "x", HasText: true}), `asset(text "x")`},
		"archive": {value.NewArchive(&value.Archive{Assets: value.Map(
			map[string]value.Value{"a": value.NewAsset(&value.Asset{Path: "p"})})}), `archive({"a": asset(path "p")})`},
		"elided": {value.NewArchive(&value.Archive{Hash: "00ff"}), `archive(hash 00ff)`},
		"remote": {value.NewAsset(&value.Asset{URI: "https://x"}), `asset(uri "https://x")`},
		"resource": {value.Resource(&value.ResourceRef{URN: "urn:pulumi:s::p::t::a"}),
			`resource(urn:pulumi:s::p::t::a)`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, tc.v.String())
		})
	}
}

// TestNoVerbLeaks tries every verb and flag of package fmt, and the places that print structures.
func TestNoVerbLeaks(t *testing.T) {
	t.Parallel()
	const text = "hunter2"
	secrets := []value.Value{
		value.String(text).Secret(),
		value.Map(map[string]value.Value{"k": value.List(value.String(text).Secret())}),
		value.NewAsset(&value.Asset{Text: text, HasText: true}).Secret(),
		value.NewArchive(&value.Archive{Assets: value.Map(map[string]value.Value{"a": value.NewAsset(&value.Asset{Text: text,
			HasText: true}).Secret()})}),
		value.Resource(&value.ResourceRef{URN: "urn:pulumi:s::p::t::a", ID: value.String(text).Secret()}),
	}
	for _, v := range secrets {
		for _, flags := range []string{"", "+", "#", "10", " ", "-", "0", ".3"} {
			for verb := 'A'; verb <= 'z'; verb++ {
				for _, wrapped := range []any{v, &v, []value.Value{v}, struct{ V value.Value }{v}, map[string]value.Value{"x": v}} {
					format := "%" + flags + string(verb)
					if verb == 'w' || verb == 'p' || verb >= '[' && verb <= '`' {
						continue // %w and %p pass over all methods of what is no error or pointer; go vet refuses them
					}
					out := fmt.Sprintf(format, wrapped)
					require.NotContains(t, out, text, format)
					require.NotContains(t, strings.ToLower(out), "68756e74657232", format) // in hexadecimal
				}
			}
		}
		var b strings.Builder
		slog.New(slog.NewTextHandler(&b, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "v", v)
		require.NotContains(t, b.String(), text)
		require.NotContains(t, fmt.Errorf("about %v", v).Error(), text)
	}
}
