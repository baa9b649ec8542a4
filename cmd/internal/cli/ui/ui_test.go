package ui

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// TestMain fails if a test leaves a goroutine behind.
func TestMain(m *testing.M) {
	// A library of Pulumi ESC starts it when it is loaded.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/golang/glog.(*fileSink).flushDaemon"))
}

func TestTheLinkIsForItsOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "link.json")
	require.NoError(t, writeReady(path, "http://127.0.0.1:1/#token=x"))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.JSONEq(t, `{"url": "http://127.0.0.1:1/#token=x"}`, string(text))
	info, err := os.Stat(path)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
}
