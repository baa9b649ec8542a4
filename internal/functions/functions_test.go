package functions

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
)

func numbers(of ...float64) value.Value {
	items := make([]value.Value, len(of))
	for i, n := range of {
		items[i] = value.Number(n)
	}
	return value.List(items...)
}

func TestRangeDoesNotAddUpErrors(t *testing.T) {
	t.Parallel()
	tenth := 0.1
	got, err := Range(0, 1, &tenth)
	require.NoError(t, err)
	require.Equal(t, 10, got.Len(), "a sum of tenths stays below 1 after ten of them")
	require.True(t, value.Equal(value.Number(0.8), got.At(8)))
}

func TestRange(t *testing.T) {
	t.Parallel()
	step := func(n float64) *float64 { return &n }
	for name, c := range map[string]struct {
		start, limit float64
		step         *float64
		want         value.Value
		err          error
	}{
		"up":        {0, 3, nil, numbers(0, 1, 2), nil},
		"down":      {0, -2, nil, numbers(0, -1), nil},
		"nothing":   {2, 2, nil, numbers(), nil},
		"step":      {1, 5, step(2), numbers(1, 3), nil},
		"no step":   {0, 1, step(0), value.Null, ErrStep},
		"away":      {0, 1, step(-1), value.Null, ErrDirection},
		"very long": {0, 1e12, nil, value.Null, ErrLong},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Range(c.start, c.limit, c.step)
			require.ErrorIs(t, err, c.err)
			require.True(t, value.Equal(c.want, got))
		})
	}
}

func TestRowsWantListsOfOneLength(t *testing.T) {
	t.Parallel()
	rows, err := Rows([]value.Value{value.String("x"), numbers(1, 2)})
	require.NoError(t, err)
	require.Len(t, rows, 2)
	require.True(t, value.Equal(value.Number(2), rows[1][1]))
	_, err = Rows([]value.Value{numbers(1), value.Null, numbers(1, 2)})
	var uneven *LengthError
	require.True(t, errors.As(err, &uneven))
	require.Equal(t, LengthError{Arg: 2, Length: 2, Earlier: 1}, *uneven)
}

func TestUUID(t *testing.T) {
	t.Parallel()
	const text = "AAbbccdd-eeff-0011-2233-445566778899"
	b, ok := ParseUUID(text)
	require.True(t, ok)
	require.Equal(t, "aabbccdd-eeff-0011-2233-445566778899", UUID(b))
	for _, bad := range []string{"", text[1:], "aabbccddeeff00112233445566778899", "xx" + text[2:], text + "0",
		"aabbccd-deeff-0011-2233-445566778899"} {
		_, ok := ParseUUID(bad)
		require.False(t, ok, bad)
	}
}

func TestMatchTellsGroupsWithoutAPart(t *testing.T) {
	t.Parallel()
	p, err := CompilePattern("(a)|(b)")
	require.NoError(t, err)
	got := p.Match("b", p.FindStringSubmatchIndex("b"), value.Null)
	require.True(t, value.Equal(value.List(value.Null, value.String("b")), got))
	_, err = CompilePattern("(a)(?P<n>b)")
	require.ErrorIs(t, err, ErrGroups)
}
