//go:build unix

package bundle

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

// digests returns the digests and texts of the tests' sources in a folder, bundled as providers and as handlers.
func digests(t *testing.T, dir string) (all []string) {
	for _, source := range []string{"src/label.ts", "py/main.py"} {
		for _, handler := range []*Handler{nil, {}} {
			b, err := Make(Options{Dir: dir, Source: source, Handler: handler})
			require.NoError(t, err)
			texts, err := json.Marshal(b.Texts)
			require.NoError(t, err)
			all = append(all, b.Digest, b.Code, string(texts))
		}
	}
	return all
}

// TestDigestsInOtherWorlds bundles the same sources in processes with other umasks, time zones, folders and users. All
// get the same digests and texts. Another user is included only if this process runs as root.
func TestDigestsInOtherWorlds(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv("BUNDLE_WRITE_AND_DIGEST"); dir != "" { // this is one of those processes
		for name, text := range sources {
			path := filepath.Join(dir, filepath.FromSlash(name))
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		}
		require.NoError(t, json.NewEncoder(os.Stderr).Encode(digests(t, dir)))
		return
	}
	want := digests(t, write(t, sources))
	self, err := os.Executable()
	require.NoError(t, err)
	root, err := os.MkdirTemp("", "worlds") // readable by every user
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(root)) })
	require.NoError(t, os.Chmod(root, 0o755))
	users := []*syscall.Credential{nil}
	if os.Getuid() == 0 {
		binary := filepath.Join(root, "test")
		text := testfile.Bytes(t, self)
		require.NoError(t, os.WriteFile(binary, text, 0o755))
		self, users = binary, append(users, &syscall.Credential{Uid: 65534, Gid: 65534})
	}
	for i, user := range users {
		for j, world := range []struct{ umask, zone string }{{"077", "America/Lima"}, {"002", "Asia/Tokyo"}} {
			dir := filepath.Join(root, fmt.Sprint(i, "-", j), "project")
			require.NoError(t, os.MkdirAll(dir, 0o777))
			if user != nil {
				require.NoError(t, os.Chown(dir, int(user.Uid), int(user.Gid)))
			}
			cmd := exec.Command("/bin/sh", "-c", "umask "+world.umask+"; exec \"$0\" -test.run '^TestDigestsInOtherWorlds$'", self)
			cmd.Dir, cmd.Env = "/", []string{"BUNDLE_WRITE_AND_DIGEST=" + dir, "TZ=" + world.zone, "HOME=" + dir}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user}
			var got []string
			out, err := cmd.StderrPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			decoded := json.NewDecoder(out).Decode(&got)
			require.NoError(t, cmd.Wait())
			require.NoError(t, decoded)
			require.Equal(t, want, got, "%+v as %+v", world, user)
		}
	}
}
