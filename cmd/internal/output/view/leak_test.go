package view

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails if a goroutine is still running after the tests: each has an owner that waits for it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
