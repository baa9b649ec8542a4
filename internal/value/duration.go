package value

import (
	"fmt"
	"strconv"
	"time"

	"github.com/yamlhost/yamlhost/internal/lazyregexp"
)

var leadingDays = lazyregexp.New(`^([0-9]+(?:\.[0-9]+)?)d(.*)$`)

// ParseDuration parses a Go duration such as 1h30m, which may begin with a number of days of 24 hours, as in 1d or
// 1d12h (L4.13).
func ParseDuration(text string) (time.Duration, error) {
	m := leadingDays().FindStringSubmatch(text)
	if m == nil {
		return time.ParseDuration(text)
	}
	days, err := strconv.ParseFloat(m[1], 64)
	const most = 100_000 // about three centuries, the range of a Duration
	if err != nil || days > most {
		return 0, fmt.Errorf("%q is not a duration", text)
	}
	d := time.Duration(days * 24 * float64(time.Hour))
	if m[2] == "" {
		return d, nil
	}
	rest, err := time.ParseDuration(m[2])
	return d + rest, err
}
