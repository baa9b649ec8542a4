package confine

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := filepath.Join(dir, "project")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "sub"), 0o700))
	for _, path := range []string{filepath.Join(dir, "secret"), filepath.Join(root, "own"),
		filepath.Join(root, "sub", "own")} {
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}
	link := func(target, path string) { require.NoError(t, os.Symlink(target, filepath.Join(root, path))) }
	link(filepath.Join(dir, "secret"), "out")
	link(dir, "up")
	link("own", "in")
	link(filepath.Join(dir, "not there"), "dangling")
	for path, inside := range map[string]bool{
		"own": true, "sub/own": true, "in": true, ".": true, "missing": true, "missing/deeper": true, "..own": true,
		"out": false, "up/secret": false, "up/missing": false, "../secret": false, "..": false, "/proc/self/environ": false,
		"sub/../../secret": false,
	} {
		full := path
		if !filepath.IsAbs(path) {
			full = filepath.Join(root, path)
		}
		if inside {
			require.NoError(t, Path(root, full), path)
		} else {
			require.ErrorIs(t, Path(root, full), ErrOutside, path)
		}
	}
	require.ErrorIs(t, Tree(root, root), ErrOutside)
	require.NoError(t, Tree(root, filepath.Join(root, "sub")))
	// A root that is reached through a link is the same as its target.
	require.NoError(t, os.Symlink(root, filepath.Join(dir, "alias")))
	require.NoError(t, Path(filepath.Join(dir, "alias"), filepath.Join(dir, "alias", "in")))
}

func TestPublic(t *testing.T) {
	t.Parallel()
	for address, public := range map[string]bool{
		"93.184.216.34": true, "2606:2800:220:1::1": true, "64:ff9b::5db8:d822": true, "2002:5db8:d822::1": true,
		"127.0.0.1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false,
		"0.0.0.0":    false,
		"100.64.0.1": false, "224.0.0.1": false, "255.255.255.255": false, "240.0.0.1": false, "198.18.0.1": false,
		"0.1.2.3": false,
		"::1":     false, "::": false, "fe80::1": false, "fd00::1": false, "ff02::1": false, "::ffff:127.0.0.1": false,
		"64:ff9b::7f00:1": false, "64:ff9b::a9fe:a9fe": false, "2002:7f00:1::": false, "::127.0.0.1": false,
		"fe80::1%eth0":  false,
		"fd00:ec2::254": false, "64:ff9b:1::1": false, "fec0::1": false,
	} {
		require.Equal(t, public, Public(netip.MustParseAddr(address)), address)
	}
	for host, public := range map[string]bool{
		"example.com": true, "example.com.": true, "93.184.216.34": true,
		"localhost": false, "LOCALHOST": false, "a.localhost": false, "printer.local": false,
		"metadata.google.internal": false,
		"metadata":                 false, "": false, "127.1": false, "2130706433": false, "0x7f.1": false,
		"0x7f000001": false,
		"[::1]":      false,
		"127.0.0.1":  false, "127.0.0.1.": false,
	} {
		if public {
			require.NoError(t, Host(host), host)
		} else {
			require.Error(t, Host(host), host)
		}
	}
}
