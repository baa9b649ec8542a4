package install

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"github.com/gofrs/flock"

	"github.com/yamlhost/yamlhost/internal/osfile"
)

// DefaultServer is the default source of plugins (F2.32).
const DefaultServer = "https://get.pulumi.com/releases/plugins"

// Installation describes a plugin to install, its source and its destination.
type Installation struct {
	Home          string // the plugin goes into <home>/plugins
	Kind          string // such as converter; empty for resource
	Name, Version string // the version without a v
	// File is an archive, an executable or a folder on this machine; if it is empty, the archive is downloaded from
	// Server, a URL with the placeholders ${NAME}, ${VERSION}, ${OS} and ${ARCH} (F2.32).
	File   string
	Server string
	// Checksum is the SHA-256 that the archive must have, as hexadecimal digits; empty if unknown.
	Checksum string
	// Key is the publisher's public key of minisign that must have signed the archive, or a list of checksums that has
	// it; nil if none is trusted.
	Key       *Key
	Reinstall bool // install even if it is installed already
	// Platform is the platform of the archive, as <os>-<arch>; empty for this machine. Only Bundle accepts others.
	Platform string
	// AllowHTTP allows downloads over unencrypted connections.
	AllowHTTP bool
	Client    *http.Client
	Env       []string // of git, for a Server that is a repository: git://HOST/…
	// before the second attempt of a download, doubled for each further one; 0 for 80 ms (F2.33)
	Pause time.Duration
	// Silence is the longest time without data from a server, 0 for 30 s; Patience the longest time of a download, 0
	// for half an hour; Largest the largest size of an archive in bytes, 0 for 2 GiB.
	Silence, Patience time.Duration
	Largest           int64

	address string                     // of the archive, in place of what Server gives
	permits func(address string) error // returns an error for a forbidden address; nil to apply AllowHTTP
}

// Result is the outcome of an Installation.
type Result struct {
	Dir      string
	Checksum string // of the archive, SHA-256 in hexadecimal; empty if unknown, as for a folder
	Already  bool   // it was installed already
}

// Platform is this machine's name in the names of archives and in lists of checksums: <os>-<arch> (F2.31).
func Platform() string { return runtime.GOOS + "-" + runtime.GOARCH }

// ChecksumError is returned when an archive does not have the expected checksum.
type ChecksumError struct{ Want, Got, From string }

// Error names both checksums.
func (e *ChecksumError) Error() string {
	return fmt.Sprintf(
		"the archive from %s has the SHA-256 %s, and %s was expected: it was damaged, or replaced by another one; nothing "+
			"was installed",
		e.From, e.Got, e.Want)
}

func (i *Installation) platform() string { return cmp.Or(i.Platform, Platform()) }

func (i *Installation) kind() string { return cmp.Or(i.Kind, "resource") }

// executable returns the name of the plugin's executable, without the extension on Windows.
func (i *Installation) executable() string { return "pulumi-" + i.kind() + "-" + i.Name }

// Install installs a plugin: into a folder of its own, which does not count as installed before it is complete (F2.28).
// An interrupted download is resumed up to five times.
func Install(ctx context.Context, i Installation) (Result, error) {
	i.Version = strings.TrimPrefix(i.Version, "v")
	if _, err := semver.NewVersion(i.Version); err != nil {
		return Result{}, fmt.Errorf("%q is not a version of a plugin", i.Version)
	}
	label := i.kind() + "-" + i.Name + "-v" + i.Version
	if !pluginDirectory().MatchString(label) || strings.ContainsAny(label, `/\`) {
		return Result{}, fmt.Errorf("%q is not a name of a plugin", i.Name)
	}
	folder := Folder(i.Home)
	dir := filepath.Join(folder, label)
	installed := func() bool {
		return complete(dir) && !i.Reinstall &&
			(!i.fromGit() || i.Checksum == "" || i.Checksum == Receipt(dir)) // the tag may have moved
	}
	if !installed() {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return Result{}, fmt.Errorf("make the plugin folder: %w", err)
		}
		release, err := alone(ctx, dir)
		if err != nil {
			return Result{}, fmt.Errorf("wait for another installation of plugin %s: %w", i.Name, err)
		}
		defer release()
	}
	if installed() { // installed before, or by another process meanwhile
		return Result{Dir: dir, Already: true, Checksum: Receipt(dir)}, nil
	}
	if info, err := os.Stat(i.File); i.File != "" && err == nil && info.IsDir() {
		if i.Key != nil {
			return Result{}, &SignatureError{From: i.File, Problem: "a folder has no signature"}
		}
		return Result{Dir: dir}, unpackInto(dir, func() error {
			if err := os.CopyFS(dir, os.DirFS(i.File)); err != nil {
				return fmt.Errorf("copy the plugin: %w", err)
			}
			return fits(dir, i.executable())
		})
	}
	archive, sum, err := i.obtain(ctx, folder, label)
	if i.File == "" && archive != "" {
		defer func() { _ = osfile.Remove(archive) }()
	}
	if err != nil {
		return Result{}, err
	}
	return Result{Dir: dir, Checksum: sum}, unpackInto(dir, func() error {
		if err := unpack(dir, archive, i.executable(), i.File != ""); err != nil {
			return err
		}
		fault := fits(filepath.Join(dir, i.folder()), i.executable())
		if fault != nil && i.fromGit() {
			fault = fmt.Errorf("there is no package in %s: its folder has no %s", i.Server, ScriptFile)
		}
		if fault != nil {
			return fault
		}
		return writeReceipt(dir, sum)
	})
}

// receiptName is the file in a plugin's folder with the SHA-256 of its archive.
const receiptName = ".yamlhost-archive"

// Receipt returns the SHA-256 of the archive of an installed plugin, in hexadecimal digits; empty if it was not kept.
func Receipt(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, receiptName))
	if err != nil {
		return ""
	}
	sum := strings.TrimSpace(string(text))
	if raw, err := hex.DecodeString(sum); err != nil || len(raw) != sha256.Size {
		return ""
	}
	return sum
}

// writeReceipt stores the checksum of an archive. It replaces a member of the archive with that name.
func writeReceipt(dir, sum string) error {
	path := filepath.Join(dir, receiptName)
	if err := osfile.RemoveAll(path); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(sum+"\n"), 0o600)
}

func (i *Installation) from() string { return cmp.Or(i.File, i.url()) }

// url returns the address of the archive, which ends with the asset's name (F2.32).
func (i *Installation) url() string {
	if i.address != "" {
		return i.address
	}
	server := cmp.Or(i.Server, DefaultServer)
	system, arch, _ := strings.Cut(i.platform(), "-")
	for name, text := range map[string]string{"NAME": i.Name, "VERSION": i.Version, "OS": system, "ARCH": arch} {
		server = strings.ReplaceAll(server, "${"+name+"}", text)
		server = strings.ReplaceAll(server, "$%7B"+name+"%7D", text)
	}
	return strings.TrimSuffix(server, "/") + "/" + i.asset()
}

// asset returns the name of the archive (F2.31).
func (i *Installation) asset() string {
	return fmt.Sprintf("%s-v%s-%s.tar.gz", i.executable(), i.Version, i.platform())
}

// fetch returns the path of the archive and its SHA-256.
func (i *Installation) fetch(ctx context.Context, folder, label string) (path, sum string, err error) {
	switch path = i.File; {
	case path == "" && i.fromGit():
		path, err = i.archive(ctx, folder, label)
	case path == "":
		path, err = i.download(ctx, folder, label)
	}
	if err != nil {
		return "", "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", "", fmt.Errorf("open the archive: %w", err)
	}
	defer f.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, f); err != nil {
		return "", "", fmt.Errorf("read the archive %s: %w", path, err)
	}
	return path, hex.EncodeToString(digest.Sum(nil)), nil
}

// obtain is fetch with verification of the known checksums and of the signature by the trusted key. With an error it
// also returns the path of a downloaded archive.
func (i *Installation) obtain(ctx context.Context, folder, label string) (path, sum string, err error) {
	if path, sum, err = i.fetch(ctx, folder, label); err != nil {
		return path, "", err
	}
	if i.Checksum != "" && !strings.EqualFold(i.Checksum, sum) {
		return path, "", &ChecksumError{strings.ToLower(i.Checksum), sum, i.from()}
	}
	if err := i.signed(ctx, path, sum); err != nil || i.File != "" || i.fromGit() {
		return path, sum, err
	}
	return path, sum, i.published(ctx, sum)
}

// unpackInto fills a plugin's folder. Until it has succeeded, the plugin does not exist (F2.28).
func unpackInto(dir string, fill func() error) error {
	mark := dir + ".partial"
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return fmt.Errorf("begin the installation: %w", err)
	}
	err := osfile.RemoveAll(dir)
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	if err == nil {
		err = fill()
	}
	if err != nil {
		if cleaning := osfile.RemoveAll(dir); cleaning == nil {
			_ = osfile.Remove(mark)
		}
		return err
	}
	if err := osfile.Remove(mark); err != nil {
		return fmt.Errorf("finish the installation: %w", err)
	}
	return nil
}

// Remove uninstalls a plugin.
func Remove(p Plugin) error {
	mark := p.Path + ".partial"
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return fmt.Errorf("remove plugin %s %s: %w", p.Name, p.Version, err)
	}
	err := osfile.RemoveAll(p.Path)
	for _, side := range []string{".lastused", ".lock", ".partial"} {
		if removed := osfile.Remove(p.Path + side); err == nil && removed != nil &&
			!errors.Is(removed, fs.ErrNotExist) {
			err = removed
		}
	}
	if err != nil {
		return fmt.Errorf("remove plugin %s %s: %w", p.Name, p.Version, err)
	}
	return nil
}

// alone locks the folder of a plugin for its installation, with the lock file beside it that the Pulumi CLI uses too
// (F2.28). It blocks while another process holds the lock, until release is called.
func alone(ctx context.Context, dir string) (release func(), err error) {
	lock := flock.New(dir + ".lock")
	_, err = lock.TryLockContext(ctx, 50*time.Millisecond)
	var missing *fs.PathError
	if ctx.Err() != nil || errors.As(err, &missing) {
		_ = lock.Close()
		return nil, err
	}
	return func() { _ = lock.Close() }, nil // install without a lock if the file system has none
}
