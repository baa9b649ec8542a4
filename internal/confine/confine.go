// Package confine restricts an untrusted program to its own folder and to public networks (D13). The package only
// decides; the code that reads files and opens connections asks it.
package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
)

// ErrOutside is returned when a path leads out of the program's folder.
var ErrOutside = errors.New("it is outside of the project, where an untrusted program may not read")

// Within reports whether path lies in root, judged by the names alone. Both must be absolute.
func Within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// Path returns an error that wraps ErrOutside unless the absolute path lies in root both before and after links are
// followed. For a file that does not exist, its name and the links on the way to it decide.
func Path(root, path string) error {
	if !Within(root, path) {
		return ErrOutside
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return err
	}
	for dir := path; Within(root, dir); dir = filepath.Dir(dir) {
		target, err := filepath.EvalSymlinks(dir)
		if err == nil {
			if !Within(real, target) {
				return ErrOutside
			}
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Tree applies Path to a folder and everything in it, because packing the folder follows the links in it.
func Tree(root, dir string) error {
	if err := Path(root, dir); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		if d.Type()&fs.ModeSymlink == 0 {
			return nil
		}
		if err := Path(root, path); err != nil {
			return fmt.Errorf("the link %s in it: %w", d.Name(), err)
		}
		return nil
	})
}

// AddressError is returned for an address outside the public network.
type AddressError struct{ Address string }

// Error names the address.
func (e *AddressError) Error() string {
	return e.Address + " is not a public address, and an untrusted program may reach no other"
}

// notPublic lists ranges outside the public network: this network, providers and their customers (RFC 6598), protocols,
// benchmarks (RFC 2544), and unassigned ranges.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("fec0::/10"),
}

// These IPv6 ranges embed an IPv4 address that a gateway connects to: in the last four bytes, or for sixTo4 after the
// first two.
var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96")
	nat64l = netip.MustParsePrefix("64:ff9b:1::/48")
	sixTo4 = netip.MustParsePrefix("2002::/16")
	compat = netip.MustParsePrefix("::/96")
)

// Public reports whether a belongs to the public network: it is neither private nor local to this machine or its links.
func Public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsGlobalUnicast() || a.IsPrivate() ||
		slices.ContainsFunc(notPublic, func(p netip.Prefix) bool { return p.Contains(a) }) {
		return false
	}
	bytes := a.As16()
	switch {
	case a.Is4():
	case nat64.Contains(a), compat.Contains(a):
		return Public(netip.AddrFrom4([4]byte(bytes[12:])))
	case nat64l.Contains(a):
		return false
	case sixTo4.Contains(a):
		return Public(netip.AddrFrom4([4]byte(bytes[2:6])))
	}
	return true
}

// Host returns an *AddressError if host is a non-public address or names this machine or the local network. Dialer
// checks other names when connecting.
func Host(host string) error {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if a, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		if !Public(a) {
			return &AddressError{host}
		}
		return nil
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case name == "", !strings.Contains(name, "."), last == "localhost", last == "local", last == "internal",
		strings.Trim(last, "0123456789") == "", strings.HasPrefix(last, "0x"): // as resolvers accept
		return &AddressError{host}
	}
	return nil
}
