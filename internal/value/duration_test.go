package value

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Durations of customTimeouts (L4.13): those of Go, and days.
func TestParseDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "1d": 24 * time.Hour, "1.5d": 36 * time.Hour,
		"2d12h": 60 * time.Hour,
	} {
		d, err := ParseDuration(text)
		require.NoError(t, err, text)
		require.Equal(t, want, d, text)
	}
	for _, text := range []string{"", "5", "d", "1 d", "5 minutes", "1h1d", "1dd", "9999999d"} {
		_, err := ParseDuration(text)
		require.Error(t, err, text)
	}
}
