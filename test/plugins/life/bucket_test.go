package life

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// gateway is versitygw, an S3 server over a folder; without it, tests on a bucket are skipped.
var gateway = os.Getenv("YAMLHOST_GATEWAY")

// newStoreSandbox returns a sandbox with yamlhost and the Pulumi CLI for state in a store.
func newStoreSandbox(t *testing.T) *sandbox {
	t.Helper()
	s := newSandbox(t)
	s.bin = t.TempDir()
	cmd := exec.Command("go", "build", "-o", filepath.Join(s.bin, "yamlhost"), "./cmd/yamlhost")
	cmd.Dir = "../../.."
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, string(text))
	built, err := binaries()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(filepath.Join(built, "pulumi"), filepath.Join(s.bin, "pulumi")))
	s.env = slices.DeleteFunc(s.env, func(e string) bool { return strings.HasPrefix(e, "PULUMI_BACKEND_URL=") })
	return s
}

// newBucketSandbox returns a sandbox with its state in a bucket, and the folder that contains the bucket.
func newBucketSandbox(t *testing.T) (s *sandbox, folder string) {
	t.Helper()
	if gateway == "" {
		t.Skip("needs a server of S3: set YAMLHOST_GATEWAY to the program versitygw, or run make store-test")
	}
	s = newStoreSandbox(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	root := t.TempDir()
	folder = filepath.Join(root, "pail")
	require.NoError(t, os.Mkdir(folder, 0o700))
	server := exec.Command(gateway, "--port", address, "posix", root)
	server.Env = append(os.Environ(), "ROOT_ACCESS_KEY=key", "ROOT_SECRET_KEY=secretsecret")
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}, time.Minute, 10*time.Millisecond, "the server does not answer")

	s.env = append(s.env, "AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=secretsecret", "AWS_EC2_METADATA_DISABLED=true",
		"AWS_CONFIG_FILE=/dev/null", "AWS_SHARED_CREDENTIALS_FILE=/dev/null",
		"PULUMI_BACKEND_URL=s3://pail/some/prefix?region=us-east-1&use_path_style=true&disable_https=true&endpoint=http://"+
			address)
	return s, folder
}

// TestMovingOnABucket lets the Pulumi CLI and yamlhost take turns at one stack with its state in a bucket (F6.1):
// neither sees a change after the other, each respects the other's lock, and neither leaves objects behind.
func TestMovingOnABucket(t *testing.T) {
	t.Parallel()
	s, folder := newBucketSandbox(t)
	movingOn(t, s, func() int {
		locks, err := filepath.Glob(filepath.Join(folder, "some/prefix/.pulumi/locks/organization/library/dev/*.json"))
		require.NoError(t, err)
		return len(locks)
	})
	var plain, left []string
	journals := map[string]string{} // the last link of each, by folder
	require.NoError(t, filepath.WalkDir(folder, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "borrowed from Ann") {
			plain = append(plain, path)
		}
		if strings.Contains(path, "/locks/") {
			left = append(left, path)
		}
		if strings.Contains(path, "/journal/") {
			journals[filepath.Dir(path)] = string(text) // the walk is in lexical order, the order of the links
		}
		return err
	}))
	require.Empty(t, plain, "secrets are sealed wherever they are")
	require.Empty(t, left, "no lock is left")
	for folder, last := range journals { // a fence stays for a while: requests may still be in flight
		require.True(t, strings.HasPrefix(last, "yhsettled"), "%s: %s", folder, last)
	}
}

// movingOn lets the two take turns at one stack and kills them; locks returns the number of the stack's locks.
func movingOn(t *testing.T, s *sandbox, locks func() int) {
	t.Helper()
	x := beginTurns(t, s)
	s.pulumi("refresh", "--yes", "--skip-preview")
	x.neither("refreshed by Pulumi")
	x.handOver()
	require.Contains(t, s.pulumi("stack", "ls"), "dev")

	// killed begins an update and kills the program as soon as it has a lock.
	killed := func(name, title string) {
		t.Helper()
		s.run(0, "config", "set", "title", title)
		cmd := exec.Command(filepath.Join(s.bin, name), "up", "--yes", "--skip-preview")
		cmd.Dir, cmd.Env = s.dir, s.env
		require.NoError(t, cmd.Start())
		require.Eventually(t, func() bool { return locks() > 0 }, 2*time.Minute, time.Millisecond)
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}
	killed("pulumi", "Walden Three")
	_, said := s.run(15, "up", "--yes", "--skip-preview")
	require.Contains(t, said, "locked by 1 lock")
	s.run(0, "cancel", "--yes")
	s.run(0, "up", "--yes", "--skip-preview")
	x.neither("killed under Pulumi, cancelled and finished by yamlhost")
	killed("yamlhost", "Walden Four")
	_, said = s.program(1, "pulumi", "up", "--yes", "--skip-preview", "--non-interactive")
	require.Contains(t, said, "locked by 1 lock")
	s.run(0, "up", "--yes", "--skip-preview")
	x.neither("killed under yamlhost and finished by it, without a word of anybody")

	x.end()
}
