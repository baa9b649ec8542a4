package install

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/git"
	"github.com/yamlhost/yamlhost/internal/osfile"
)

// gitScheme is the prefix of sources that are repositories with plugins in source form (F2.32).
const gitScheme = "git://"

func (i *Installation) fromGit() bool { return strings.HasPrefix(i.Server, gitScheme) }

// folder returns the path of the plugin in the unpacked repository.
func (i *Installation) folder() string {
	if p, err := git.ParsePackage(i.Server, ""); err == nil && i.fromGit() {
		return filepath.FromSlash(p.Folder)
	}
	return ""
}

// RepositoryFolder returns the folder of an installed plugin of a repository, below a home directory. found is false if
// there is none, or if the lock file of lockDir has another checksum.
func RepositoryFolder(home, lockDir, name, version string) (dir string, found bool) {
	label, err := confine.NewName("a plugin", "resource-"+name+"-v"+version)
	if err != nil {
		return "", false
	}
	dir = label.In(Folder(home), "")
	lock, err := ReadLockFile(lockDir)
	if err != nil || !complete(dir) {
		return dir, false
	}
	locked := lock.Find(name, version)
	return dir, locked == nil || locked.Checksum(Platform()) == Receipt(dir)
}

// archive writes an archive of the plugin's repository at its version. It is not compressed, so that its checksum
// depends only on the commit.
func (i *Installation) archive(ctx context.Context, folder, label string) (path string, err error) {
	p, err := git.ParsePackage(i.Server, i.Version)
	if err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(folder, label+".tmp")
	if err != nil {
		return "", fmt.Errorf("make a folder for the repository: %w", err)
	}
	defer func() { _ = osfile.RemoveAll(work) }()
	tar := work + ".tar"
	defer func() { _ = osfile.Remove(tar) }()
	if err := p.Archive(ctx, work, i.Env, tar); err != nil {
		return "", err
	}
	src, err := os.Open(tar)
	if err != nil {
		return "", err
	}
	defer src.Close()
	out, err := os.Create(work + ".tar.gz")
	if err != nil {
		return "", err
	}
	packed, err := gzip.NewWriterLevel(out, gzip.NoCompression)
	if err == nil {
		_, err = io.Copy(packed, src)
		err = errors.Join(err, packed.Close())
	}
	if err = errors.Join(err, out.Close()); err != nil {
		_ = osfile.Remove(out.Name())
	}
	return out.Name(), err
}
