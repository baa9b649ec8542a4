package backend

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails if a goroutine outlives the tests.
// if the machine had been lost, do not give their leases back, so that the renewals of those go on.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/yamlhost/yamlhost/runtime/backend.(*renewer).run"))
}
