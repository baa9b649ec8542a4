package fleet

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails if a goroutine is still running after the tests: each has an owner that waits for it.
func TestMain(m *testing.M) {
	// A library of Pulumi ESC starts this goroutine when it is loaded.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/golang/glog.(*fileSink).flushDaemon"))
}
