package mcp_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails when a goroutine outlives the tests: each has an owner who waits for it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
