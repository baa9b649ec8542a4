//go:build linux

package kill

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A crash leaks no secret: not in a core dump, not in the output, not in any file. The case "asked for" shows that the
// process dumps core once the user allows it.
func TestCoreDumps(t *testing.T) {
	t.Parallel()
	const program = `name: kill
runtime: yaml
config:
  word: {type: string}
resources:
  i0: {type: "drawer:index:Item", properties: {title: "${word}", kind: {"fn::secret": "canary-of-the-program"}}}
`
	for name, c := range map[string]struct {
		signal syscall.Signal
		asked  bool
	}{
		"SIGABRT": {syscall.SIGABRT, false}, "SIGQUIT": {syscall.SIGQUIT, false}, "SIGSEGV from outside": {syscall.SIGSEGV,
			false},
		"asked for": {syscall.SIGABRT, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFault(t, doKey+"=freeze", "GOTRACEBACK=crash", "PULUMI_CONFIG_PASSPHRASE=canary-passphrase")
			b.environ = append(b.environ, "TMPDIR="+b.dir)
			require.Equal(t, 0, b.run("", 0, "config", "set", "--secret", "word", "canary-of-the-stack").code, b.said)
			require.NoError(t, os.WriteFile(filepath.Join(b.dir, "project", "Pulumi.yaml"), []byte(program), 0o600))
			b.within = []string{"/bin/sh", "-c", `ulimit -c unlimited && exec "$0" "$@"`}
			if c.asked {
				b.environ = append(b.environ, "YAMLHOST_CORE_DUMPS=true")
			}
			sent := b.signalWhen(c.signal)
			e := b.run("plugin create done:0", 0, "up", "--yes", "--skip-preview")
			sent()
			require.Equal(t, -1, e.code, "it ended by a signal: %s", b.said)
			if c.asked {
				if !e.dumped {
					t.Skip("this machine dumps no memory, so that what forbids it cannot be seen at work; see `ulimit -Hc`")
				}
				return
			}
			require.False(t, e.dumped, "its memory was dumped")
			require.Contains(t, b.said, "goroutine ", "the runtime tells where it was")
			require.NotContains(t, b.said, "canary-")
			looked := 0
			require.NoError(t, filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || d.Type()&fs.ModeSymlink != 0 ||
					path == filepath.Join(b.dir, "project", "Pulumi.yaml") {
					return err
				}
				if filepath.Dir(path) == b.drawer {
					return nil // the provider's own files may hold secrets
				}
				looked++
				text, err := os.ReadFile(path)
				require.False(t, bytes.Contains(text, []byte("canary-")), path)
				return err
			}))
			require.Greater(t, looked, 3)
		})
	}
}
