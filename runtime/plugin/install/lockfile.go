package install

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/filelock"
	"github.com/yamlhost/yamlhost/internal/osfile"
)

// LockName is the name of the lock file, beside the project file.
const LockName = "yamlhost.lock.json"

// lockFormat is the version of the format that is written.
const lockFormat = 1

// LockFile pins the plugins of a project: for each its version, its source, and the SHA-256 of its archive for each
// platform on which it was installed (F2.34). Keys has, by plugin, the public key of minisign that must have signed
// every archive, also of new versions.
type LockFile struct {
	Version int               `json:"version"`
	Plugins []LockedPlugin    `json:"plugins"`
	Keys    map[string]string `json:"keys,omitempty"`
}

// LockedPlugin is one plugin of a lock file.
type LockedPlugin struct {
	Name      string            `json:"name"`
	Version   string            `json:"version"`
	Server    string            `json:"server,omitempty"`
	Checksums map[string]string `json:"checksums"` // by platform, as hexadecimal digits
}

// anyPlatform is the platform of archives made from a repository.
const anyPlatform = "any"

// Checksum returns the checksum of the archive for a platform; empty if unknown.
func (p LockedPlugin) Checksum(platform string) string {
	return cmp.Or(p.Checksums[platform], p.Checksums[anyPlatform])
}

// restore is the way out of a damaged lock file: its digests and keys are not known anew without trust in what a
// publisher has now.
const restore = "restore it from version control. If it is not there, move the file away: the next installation pins " +
	"what it finds then"

// ReadLockFile reads the lock file of a folder; it returns nil if there is none.
func ReadLockFile(dir string) (*LockFile, error) {
	path := filepath.Join(dir, LockName)
	text, err := confine.Anywhere().ReadFile(context.Background(), path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read the lock file: %w", err)
	}
	var l LockFile
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, fmt.Errorf("the lock file %s is malformed: %w; %s", path, err, restore)
	}
	if l.Version > lockFormat {
		return nil, fmt.Errorf("the lock file %s was written by a newer version of yamlhost: its format is %d, and this "+
			"program knows %d; nothing was done", path, l.Version, lockFormat)
	}
	if l.Version < 1 {
		return nil, fmt.Errorf("the lock file %s does not say the version of its format; %s", path, restore)
	}
	return &l, nil
}

// Find returns the entry of a plugin, the first one if no version is given; nil if there is none.
func (l *LockFile) Find(name, version string) *LockedPlugin {
	if l == nil {
		return nil
	}
	for i := range l.Plugins {
		if p := &l.Plugins[i]; p.Name == name && (version == "" || SameVersion(p.Version, version)) {
			return p
		}
	}
	return nil
}

// KeyOf returns the trusted key of a plugin; nil for none.
func (l *LockFile) KeyOf(name string) (*Key, error) {
	if l == nil || l.Keys[name] == "" {
		return nil, nil
	}
	k, err := ParseKey(l.Keys[name])
	if err != nil {
		return nil, fmt.Errorf("%s has a key for the plugin %s that cannot be used: %w", LockName, name, err)
	}
	return k, nil
}

// Trust records the key that signs a plugin's archives.
func (l *LockFile) Trust(name string, k *Key) {
	l.Version = 1
	if l.Keys == nil {
		l.Keys = map[string]string{}
	}
	l.Keys[name] = k.String()
}

// Add records a checksum for this machine's platform, or for all platforms if the archive is made from a repository. A
// plugin has one entry for each version.
func (l *LockFile) Add(name, version, server, checksum string) {
	l.Version = 1
	p := l.Find(name, version)
	if p == nil {
		l.Plugins = append(l.Plugins, LockedPlugin{Name: name, Version: version, Server: server,
			Checksums: map[string]string{}})
		p = &l.Plugins[len(l.Plugins)-1]
	}
	if p.Checksums == nil {
		p.Checksums = map[string]string{}
	}
	platform := Platform()
	if strings.HasPrefix(server, gitScheme) {
		platform = anyPlatform
	}
	p.Checksums[platform] = checksum
	slices.SortStableFunc(l.Plugins, func(a, b LockedPlugin) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Version, b.Version))
	})
}

// EditLockFile lets edit change the lock file of a folder, and creates a missing one. Concurrent edits by other
// processes are not lost.
func EditLockFile(ctx context.Context, dir string, edit func(*LockFile)) error {
	release, err := filelock.Folder(ctx, dir, nil)
	if err != nil {
		return fmt.Errorf("write the lock file: %w", err)
	}
	defer release()
	l, err := ReadLockFile(dir)
	if err != nil {
		return err
	}
	if l == nil {
		l = &LockFile{}
	}
	edit(l)
	return l.Write(dir)
}

// Write writes the lock file into a folder, atomically.
func (l *LockFile) Write(dir string) error {
	text, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, LockName)
	if err := osfile.WriteFile(path, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the lock file: %w", err)
	}
	return nil
}
