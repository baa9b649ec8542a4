package fleet

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails when a goroutine outlives the tests: each has an owner who waits for it.
func TestMain(m *testing.M) {
	// A library of Pulumi ESC starts it when it is loaded.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/golang/glog.(*fileSink).flushDaemon"))
}
