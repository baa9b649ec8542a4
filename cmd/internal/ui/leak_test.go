package ui

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain looks for goroutines that a test leaves behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
