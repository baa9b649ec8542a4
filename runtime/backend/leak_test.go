package backend

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails when a goroutine outlives the tests: each has an owner who waits for it. Runs that a test cuts off, as
// if the machine had been lost, do not give their leases back, so that the renewals of those go on.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/yamlhost/yamlhost/runtime/backend.(*renewer).run"))
}
