package install

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// The limits keep a malicious archive from filling the disk.
const (
	largestPlugin = 8 << 30  // bytes, unpacked
	smallPlugin   = 64 << 20 // unpacked size in bytes that every archive may have
	mostGrowth    = 100      // times the archive's size, beyond that
	mostMembers   = 200_000
	deepestMember = 64
	longestName   = 1024
)

var errTooLarge = errors.New("the archive is too large for a plugin; it was not unpacked")

// unpack fills a plugin's folder from an archive (F2.31) or, where bare allows that, from an executable.
func unpack(dir, archive, executable string, bare bool) error {
	f, err := os.Open(archive)
	if err != nil {
		return fmt.Errorf("open the archive: %w", err)
	}
	defer f.Close()
	r := bufio.NewReader(f)
	head, _ := r.Peek(2)
	if !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		if start, _ := r.Peek(20); !bare || platformOf(start) == "" && !bytes.HasPrefix(start, []byte("#!")) &&
			!bytes.HasPrefix(start, []byte("MZ")) {
			return errors.New("it is neither an archive (.tar.gz) nor an executable; nothing was installed")
		}
		if runtime.GOOS == "windows" {
			executable += ".exe"
		}
		return writeMember(filepath.Join(dir, executable), r, 0o700)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return eachMember(f, func(h *tar.Header, content io.Reader) error { return takeMember(dir, h, content) })
}

// eachMember yields the members of an archive, within the limits.
func eachMember(f *os.File, take func(h *tar.Header, content io.Reader) error) error {
	plain, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return fmt.Errorf("the archive is damaged: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	left := min(int64(largestPlugin), smallPlugin+mostGrowth*info.Size())
	bounded := &io.LimitedReader{R: plain, N: 2 * left} // with the headers of the members and the padding at the end
	members := tar.NewReader(bounded)
	for n := 0; ; n++ {
		h, err := members.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			if bounded.N <= 0 {
				return errTooLarge
			}
			return fmt.Errorf("the archive is damaged: %w", err)
		}
		if left -= h.Size; n >= mostMembers || left < 0 {
			return errTooLarge
		}
		if err := take(h, members); err != nil {
			return err
		}
	}
	if _, err := io.Copy(io.Discard, bounded); err != nil { // reading to the end verifies the checksum
		return fmt.Errorf("the archive is damaged: %w", err)
	}
	if bounded.N <= 0 {
		return errTooLarge
	}
	return nil
}

// takeMember writes one member of an archive, never outside of the plugin's folder.
func takeMember(dir string, h *tar.Header, content io.Reader) error {
	local := filepath.FromSlash(strings.TrimSuffix(h.Name, "/"))
	if h.Typeflag == tar.TypeXGlobalHeader || local == "." {
		return nil
	}
	if len(h.Name) > longestName || strings.Count(h.Name, "/") > deepestMember {
		return fmt.Errorf(
			"the archive has a member with a path that is too long or too deep (%.40q…); nothing was installed", h.Name)
	}
	if !filepath.IsLocal(local) || strings.ContainsAny(h.Name, "\\\x00") {
		return fmt.Errorf(
			"the archive has the member %q, which would be outside of the plugin's folder; nothing was installed", h.Name)
	}
	path := filepath.Join(dir, local)
	switch h.Typeflag {
	case tar.TypeDir:
		return os.MkdirAll(path, 0o700)
	case tar.TypeReg:
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		return writeMember(path, content, 0o600|fs.FileMode(h.Mode)&0o111)
	}
	return fmt.Errorf("the archive has the member %q, which is a link or a device and no file; nothing was installed",
		h.Name)
}

func writeMember(path string, content io.Reader, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return fmt.Errorf("unpack the plugin: %w", err)
	}
	_, err = io.Copy(f, content)
	err = cmp.Or(err, f.Close())
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the archive is damaged: %w", err)
	}
	if err != nil {
		return fmt.Errorf("unpack the plugin: %w", err)
	}
	return nil
}

// fits returns an error unless the folder has that plugin for this machine.
func fits(dir, executable string) error {
	name := strings.SplitN(executable, "-", 3)[2] // pulumi-<kind>-<name>
	path, ok := Executable(dir, executable)
	if !ok {
		if _, err := os.Stat(filepath.Join(dir, ScriptFile)); err == nil {
			return nil // a program in source form
		}
		return fmt.Errorf("the archive holds no executable %s at its top; is it the plugin %s?", executable, name)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head)
	if made := platformOf(head[:n]); made != "" && made != Platform() {
		return fmt.Errorf("the plugin %s is made for %s, and this machine is %s; nothing was installed", name, made,
			Platform())
	}
	return nil
}

// platformOf returns the platform of an executable by its first bytes; empty if unknown.
func platformOf(head []byte) string {
	little := binary.LittleEndian
	switch {
	case len(head) >= 20 && string(head[:4]) == "\x7fELF":
		return named("linux", map[uint16]string{62: "amd64", 183: "arm64", 3: "386", 40: "arm"}[little.Uint16(head[18:])])
	case len(head) >= 8 && little.Uint32(head) == 0xfeedfacf:
		return named("darwin", map[uint32]string{0x01000007: "amd64", 0x0100000c: "arm64"}[little.Uint32(head[4:])])
	case len(head) >= 64 && string(head[:2]) == "MZ":
		i := int(little.Uint32(head[60:]))
		if i < 0 || i+6 > len(head) {
			return ""
		}
		return named("windows", map[uint16]string{0x8664: "amd64", 0xaa64: "arm64"}[little.Uint16(head[i+4:])])
	}
	return ""
}

func named(system, arch string) string {
	if arch == "" {
		arch = "another processor"
	}
	return system + "-" + arch
}
