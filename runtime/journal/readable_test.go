package journal

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// D14: Encode refuses every record that could not be read, and accepted records are readable.
func TestWhatIsJournaledCanBeRead(t *testing.T) {
	t.Parallel()
	output := func(v value.Value) func(*state.Resource) {
		return func(r *state.Resource) { r.Outputs = value.MapOf(value.Entry{Key: "x", Value: v}) }
	}
	distant := time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		change  func(*state.Resource)
		refused bool
	}{
		"plain":                     {output(value.String("x")), false},
		"a byte string":             {output(value.String("\xff")), false},
		"a special number":          {output(value.Number(math.NaN())), false},
		"a secret":                  {output(value.List(value.String("x").Secret()).Secret()), false},
		"an unknown":                {output(value.Unknown(value.KindString)), false},
		"an empty text in a secret": {output(value.String("").Secret()), false},
		"a reserved key": {output(value.MapOf(value.Entry{Key: value.SignatureKey, Value: value.String("x")})),
			true},
		"an ID that is not UTF-8": {func(r *state.Resource) { r.ID = "\xff" }, true},
		"an archive of a text": {output(value.NewArchive(
			&value.Archive{Assets: value.MapOf(value.Entry{Key: "x", Value: value.Int(1)})})), true},
		"a special number as a time": {func(r *state.Resource) { r.CustomTimeouts.Create = math.NaN() }, true},
		"a moment of five digits":    {func(r *state.Resource) { r.Created = &distant }, true},
		"a stack trace cut off":      {func(r *state.Resource) { r.StackTrace = json.RawMessage(`[{"x":`) }, true},
		"an unknown member cut off": {func(r *state.Resource) {
			r.Unknown = map[string]json.RawMessage{"x": json.RawMessage(
				`"`)}
		}, true},
	} {
		r := res(1)
		c.change(r)
		for place, e := range map[string]Entry{
			"begin": {Step: 1, Begin: &state.Operation{Resource: r, Kind: state.Creating}},
			"add":   {Step: 1, Add: []Amended{{1, r}}},
			"amend": {Step: 1, Remove: []ID{4, 5}, Amend: []Amended{{1, r}}},
		} {
			record, err := Encode(e, secrets.B64{})
			if c.refused {
				require.Error(t, err, "%s, %s", name, place)
				continue
			}
			require.NoError(t, err, "%s, %s", name, place)
			k, payload, rest, ok := nextRecord(record)
			require.True(t, ok)
			require.Equal(t, kindEntry, k)
			require.Empty(t, rest)
			got, err := decodeEntry(payload, secrets.B64{})
			require.NoError(t, err, "%s, %s", name, place)
			require.Equal(t, e.Remove, got.Remove)
			require.EqualValues(t, 1, got.Step)
			again, err := Encode(got, secrets.B64{})
			require.NoError(t, err)
			require.Equal(t, record, again, "%s, %s", name, place)
		}
	}
}
