package functions

import (
	"errors"
	"math"
	"math/big"

	"github.com/yamlhost/yamlhost/internal/value"
)

// MostItems is how many numbers a range may have.
const MostItems = 1_000_000

// Errors in the arguments of Range.
var (
	// ErrStep is returned for a step of 0.
	ErrStep = errors.New("the step is 0")
	// ErrDirection is returned for a step that leads away from the limit.
	ErrDirection = errors.New("the step never reaches the limit")
	// ErrLong is returned for a range of more than MostItems numbers.
	ErrLong = errors.New("the range has too many numbers")
)

// Range is the numbers from start up to but not including limit. Each is start plus a multiple of step, so that errors
// of rounding do not add up. A nil step is 1, or -1 where the limit is less than the start. It returns ErrStep,
// ErrDirection or ErrLong.
func Range(start, limit float64, step *float64) (value.Value, error) {
	by_ := 1.0
	switch {
	case step != nil:
		by_ = *step
	case limit < start:
		by_ = -1
	}
	count := math.Ceil((limit - start) / by_)
	switch {
	case by_ == 0:
		return value.Null, ErrStep
	case math.IsNaN(count) || count > MostItems:
		return value.Null, ErrLong
	case count < 0:
		return value.Null, ErrDirection
	}
	items := make([]value.Value, int(count))
	for i := range items {
		items[i] = value.Number(start + float64(i)*by_)
	}
	return value.List(items...), nil
}

// Sign is -1, 0 or 1.
func Sign(n float64) float64 {
	switch {
	case n > 0:
		return 1
	case n < 0:
		return -1
	}
	return 0
}

// Errors in the arguments of ParseInt.
var (
	// ErrBase is returned for a base that is not from 2 to 62.
	ErrBase = errors.New("the base must be from 2 to 62")
	// ErrDigits is returned for a text that is no whole number in the base.
	ErrDigits = errors.New("the text is not a whole number in that base")
	// ErrExact is returned for a number with more digits than a double holds.
	ErrExact = errors.New("the number has more digits than a number can hold")
)

// ParseInt reads a whole number in a base from 2 to 62, where letters are digits, small ones first.
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
