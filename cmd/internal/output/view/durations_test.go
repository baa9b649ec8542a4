package view

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

// Seconds formats durations as the file of examples has them, with which the test of the page compares the console's.
func TestDurations(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(testfile.Text(t, "testdata/durations.txt")) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var ms int64
		var want string
		_, err := fmt.Sscan(line, &ms, &want)
		require.NoError(t, err, line)
		if want == "<0.1s" {
			want = ""
		}
		require.Equal(t, want, Seconds(time.Duration(ms)*time.Millisecond), line)
	}
}
