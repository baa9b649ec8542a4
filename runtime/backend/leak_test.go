package backend

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails if a goroutine outlives the tests. It ignores renewals of leases: tests that simulate the loss of a
// machine do not release theirs.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/yamlhost/yamlhost/runtime/backend.(*renewer).run"))
}
