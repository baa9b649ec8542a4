package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// config shows and changes settings without reading the state. Here the state is a file that cannot be read.
func TestConfigReadsNoState(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs a file that every reader fails at, root too")
	}
	dir, home := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte("name: p\nruntime: yaml\n"), 0o600))
	yamlhost := func(args ...string) (string, int) {
		var out, said bytes.Buffer
		streams, world := System("0.1.0-test")
		streams.Out, streams.Err = &out, &said
		world.Dir, world.Home = dir, home
		world.Env = []string{"PULUMI_BACKEND_URL=file://" + filepath.ToSlash(home), "HOME=" + home,
			"PULUMI_HOME=" + filepath.Join(home, ".pulumi"), "PULUMI_CONFIG_PASSPHRASE=phrase"}
		code := Run(context.Background(), args, streams, world)
		t.Log(args, code, said.String())
		return out.String(), code
	}
	for _, args := range [][]string{{"stack", "init", "dev"}, {"config", "set", "region", "north"},
		{"config", "set", "token", "hidden", "--secret"}} {
		_, code := yamlhost(args...)
		require.Zero(t, code)
	}
	path := filepath.Join(home, ".pulumi/stacks/p/dev.json")
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Symlink("/proc/self/mem", path)) // reading at offset 0 fails
	_, code := yamlhost("stack", "export", "--stack", "dev")
	require.NotZero(t, code, "a command that reads the state must fail")
	for _, stack := range [][]string{nil, {"--stack", "dev"}} {
		for key, want := range map[string]string{"region": "north\n", "token": "hidden\n"} {
			out, code := yamlhost(append([]string{"config", "get", key}, stack...)...)
			require.Zero(t, code)
			require.Equal(t, want, out)
		}
	}
	for _, args := range [][]string{{"config"}, {"config", "set", "region", "south"}, {"config", "rm", "region"}} {
		_, code := yamlhost(args...)
		require.Zero(t, code, args)
	}
}
