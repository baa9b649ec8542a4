package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/stretchr/testify/require"
)

// imageOf unpacks the image of this machine into a root folder and returns its run configuration.
func imageOf(t *testing.T, root string) v1.Config {
	t.Helper()
	r, layout := release(t), t.TempDir()
	out, err := exec.Command("tar", "-xzf", filepath.Join(r.first, "yamlhost_"+version+"_image.tar.gz"), "-C",
		layout).CombinedOutput()
	require.NoError(t, err, string(out))
	blob := func(digest v1.Hash) string { return filepath.Join(layout, "blobs", digest.Algorithm, digest.Hex) }
	var index v1.IndexManifest
	require.NoError(t, json.Unmarshal(read(t, filepath.Join(layout, "index.json")), &index))
	for _, m := range index.Manifests {
		if m.Platform.Architecture != runtime.GOARCH {
			continue
		}
		var manifest v1.Manifest
		require.NoError(t, json.Unmarshal(read(t, blob(m.Digest)), &manifest))
		for _, layer := range manifest.Layers {
			out, err := exec.Command("tar", "-xzf", blob(layer.Digest), "-C", root).CombinedOutput()
			require.NoError(t, err, string(out))
		}
		var config v1.ConfigFile
		require.NoError(t, json.Unmarshal(read(t, blob(manifest.Config.Digest)), &config))
		return config.Config
	}
	t.Fatalf("the image has nothing for %s", runtime.GOARCH)
	return v1.Config{}
}

// TestImage runs the life of a stack in the root folder of the image, as its user.
func TestImage(t *testing.T) {
	if os.Getuid() != 0 || runtime.GOOS != "linux" {
		t.Skip("only root may change the root folder")
	}
	root := t.TempDir()
	require.Equal(t, "65532:65532", imageOf(t, root).User)
	require.Contains(t, string(read(t, filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"))), "BEGIN CERTIFICATE")
	require.NoFileExists(t, filepath.Join(root, "bin/sh"))
	life(t, filepath.Join(root, "usr/share/man/man1"), inRoot(t, root, "/usr/bin/yamlhost"))
}

// TestImageInContainers does the same in containers of crun, with the user, folder, variables and program of the
// image's configuration. They have no network.
func TestImageInContainers(t *testing.T) {
	if _, err := exec.LookPath("crun"); err != nil || os.Getuid() != 0 {
		t.Skip("crun is not installed, or this is not root")
	}
	bundle := t.TempDir()
	for dir := bundle; dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
		require.NoError(t, os.Chmod(dir, 0o755))
	}
	root := filepath.Join(bundle, "rootfs")
	require.NoError(t, os.Mkdir(root, 0o755))
	image := imageOf(t, root)
	container := 0
	life(t, filepath.Join(root, "usr/share/man/man1"), func(args ...string) string {
		container++
		text, err := json.Marshal(map[string]any{
			"ociVersion": "1.0.0", "root": map[string]any{"path": "rootfs"},
			"process": map[string]any{
				"args": append(image.Entrypoint, args...), "env": image.Env, "cwd": image.WorkingDir,
				"user": map[string]int{"uid": user, "gid": user}, "noNewPrivileges": true,
			},
			"mounts": []map[string]any{
				{"destination": "/proc", "type": "proc", "source": "proc"},
				{"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": []string{"nosuid", "mode=755"}},
			},
			"linux": map[string]any{"namespaces": []map[string]string{{"type": "pid"}, {"type": "network"}, {"type": "ipc"},
				{"type": "uts"}, {"type": "mount"}}},
		})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(bundle, "config.json"), text, 0o644))
		// crun needs a single hierarchy of control groups, but a machine may mount two kinds. It gets only the new one.
		cmd := exec.Command("unshare", "--mount", "sh", "-c",
			`mount -t cgroup2 none /sys/fs/cgroup && exec crun --root "$1/state" --cgroup-manager=disabled run -b "$1" "$2"`,
			"sh", bundle, strings.ToLower(t.Name())+"-"+string(rune('a'+container)))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%v: %s", args, out)
		return string(out)
	})
}
