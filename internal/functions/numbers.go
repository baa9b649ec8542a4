package functions

import (
	"errors"
	"math"
	"math/big"

	"github.com/yamlhost/yamlhost/internal/value"
)

// MostItems is the maximum length of a range.
const MostItems = 1_000_000

// The errors of Range.
var (
	// ErrStep is returned for a step of 0.
	ErrStep = errors.New("the step is 0")
	// ErrDirection is returned for a step that leads away from the limit.
	ErrDirection = errors.New("the step never reaches the limit")
	// ErrLong is returned for a range of more than MostItems numbers.
	ErrLong = errors.New("the range has too many numbers")
)

// Range returns the numbers from start up to but not including limit. Each number is start plus a multiple of step, so
// that rounding errors do not accumulate. A nil step means 1, or -1 if limit is less than start. Range returns ErrStep,
// ErrDirection or ErrLong if the arguments are invalid.
func Range(start, limit float64, step *float64) (value.Value, error) {
	stride := 1.0
	switch {
	case step != nil:
		stride = *step
	case limit < start:
		stride = -1
	}
	count := math.Ceil((limit - start) / stride)
	switch {
	case stride == 0:
		return value.Null, ErrStep
	case math.IsNaN(count) || count > MostItems:
		return value.Null, ErrLong
	case count < 0:
		return value.Null, ErrDirection
	}
	items := make([]value.Value, int(count))
	for i := range items {
		items[i] = value.Number(start + float64(i)*stride)
	}
	return value.List(items...), nil
}

// Sign returns -1, 0 or 1.
func Sign(n float64) float64 {
	switch {
	case n > 0:
		return 1
	case n < 0:
		return -1
	}
	return 0
}

// The errors of ParseInt.
var (
	// ErrBase is returned for a base outside of 2 to 62.
	ErrBase = errors.New("the base must be from 2 to 62")
	// ErrDigits is returned for a text that is not a whole number in the base.
	ErrDigits = errors.New("the text is not a whole number in that base")
	// ErrExact is returned for a number that a double cannot represent exactly.
	ErrExact = errors.New("the number has more digits than a number can hold")
)

// ParseInt parses a whole number in a base from 2 to 62. Digits above 9 are letters, in lower case first.
func ParseInt(text string, base int) (float64, error) {
	if base < 2 || base > big.MaxBase {
		return 0, ErrBase
	}
	n, ok := new(big.Int).SetString(text, base)
	if !ok {
		return 0, ErrDigits
	}
	f, exact := new(big.Float).SetInt(n).Float64()
	if exact != big.Exact {
		return 0, ErrExact
	}
	return f, nil
}
