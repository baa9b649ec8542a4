package value_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
)

// TestText covers the table of L5.C.
func TestText(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		v    value.Value
		want string
	}{
		"string":                     {value.String("a b"), "a b"},
		"bytes that are not UTF-8":   {value.String("\xff"), "\xff"},
		"true":                       {value.Bool(true), "true"},
		"false":                      {value.Bool(false), "false"},
		"null":                       {value.Null, ""},
		"integer":                    {value.Int(20), "20"},
		"a million":                  {value.Int(1_000_000), "1000000"},
		"2^20":                       {value.Int(1 << 20), "1048576"},
		"2^53-1":                     {value.Number(1<<53 - 1), "9007199254740991"},
		"minus 2^53-1":               {value.Number(-(1<<53 - 1)), "-9007199254740991"},
		"beyond 2^53":                {value.Number(12345678901234567890), "12345678901234567000"},
		"1e20":                       {value.Number(1e20), "100000000000000000000"},
		"1e21":                       {value.Number(1e21), "1e+21"},
		"minus zero":                 {value.Number(math.Copysign(0, -1)), "0"},
		"fraction":                   {value.Number(0.1), "0.1"},
		"pi":                         {value.Number(3.14159265358979), "3.14159265358979"},
		"a millionth":                {value.Number(1e-6), "0.000001"},
		"less than a millionth":      {value.Number(1e-7), "1e-07"},
		"infinity":                   {value.Number(math.Inf(1)), "+Inf"},
		"not a number":               {value.Number(math.NaN()), "NaN"},
		"negative fraction":          {value.Number(-2.5), "-2.5"},
		"integral beyond shortest":   {value.Number(1 << 60), "1152921504606847000"},
		"number below one, negative": {value.Number(-0.000012), "-0.000012"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := value.Text(tc.v)
			require.NoError(t, err)
			text, ok := got.AsString()
			require.True(t, ok)
			require.Equal(t, tc.want, text)
		})
	}
}

func TestTextKeepsMarks(t *testing.T) {
	t.Parallel()
	got, err := value.Text(value.Int(5).Secret().DependingOn("urn:pulumi:s::p::t::a"))
	require.NoError(t, err)
	require.True(t, value.Equal(value.String("5").Secret().DependingOn("urn:pulumi:s::p::t::a"), got))

	got, err = value.Text(value.Unknown(value.KindList).Secret())
	require.NoError(t, err)
	require.True(t, value.Equal(value.Unknown(value.KindString).Secret(), got))
}

func TestTextRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		v    value.Value
		want string
	}{
		"list": {value.List(value.Int(1)), "a list cannot be put into a text; use fn::join or fn::toJSON"},
		"map":  {value.EmptyMap(), "a map cannot be put into a text; use fn::toJSON, or name one of its members"},
		"asset": {value.NewAsset(&value.Asset{Path: "x"}),
			"an asset cannot be put into a text; use its content or its path instead"},
		"archive": {value.NewArchive(&value.Archive{Path: "x"}),
			"an archive cannot be put into a text; use its path instead"},
		"resource": {value.Resource(&value.ResourceRef{}),
			"a resource cannot be put into a text; name one of its properties, such as .id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := value.Text(tc.v)
			require.EqualError(t, err, tc.want)
		})
	}
}

func FuzzFormatNumber(f *testing.F) {
	for _, n := range []float64{0, 1, -1, 1e6, 1 << 53, 1e21, 1e-6, 1e-7, 0.1, math.MaxFloat64,
		math.SmallestNonzeroFloat64} {
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, n float64) {
		text := value.FormatNumber(n)
		back, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		if n == n {
			require.Equal(t, n+0, back+0, text)
		}
		if math.Abs(n) < 1<<53 && n == math.Trunc(n) {
			require.NotContains(t, text, "e")
		}
	})
}
