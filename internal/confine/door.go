package confine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Text is the limit of a file of text, in bytes: programs, settings, environments, definitions, schemas.
const Text = 64 << 20

var (
	// ErrNoFile is returned for a device, a pipe or a socket: it has no fixed content, and may block its reader or
	// never end.
	ErrNoFile = errors.New("it is a device, a pipe or a socket, not a file")
	// ErrProcess is returned for what the kernel tells about a process, such as its environment and its memory.
	ErrProcess = errors.New("it tells about a process, which no program may read")
)

// SizeError is returned for a file that is larger than the limit of its reader.
type SizeError struct{ Limit int64 }

// Error names the limit.
func (e *SizeError) Error() string {
	if e.Limit >= 1<<20 {
		return fmt.Sprintf("the file is larger than %d MiB", e.Limit>>20)
	}
	return fmt.Sprintf("the file is larger than %d bytes", e.Limit)
}

// Door opens the files that a program, a policy pack, an environment, a template or a request of an editor names. All
// such files are opened through a Door. It lets through regular files and folders, and nothing that tells about a
// process. The zero value lets through all other files that the user may read.
type Door struct {
	// Folder is the absolute path of the only folder in which files are opened; empty for any folder. Links are
	// followed as long as they lead to places inside, also while links change.
	Folder string
	// Limit is the largest size of a file for ReadFile, in bytes; 0 for Text.
	Limit int64
}

// Anywhere returns the door without a folder.
func Anywhere() Door { return Door{} }

// Open opens a regular file or a folder. A relative path begins in the working directory.
func (d Door) Open(path string) (*os.File, error) {
	file, _, err := d.open(path)
	return file, err
}

// ReadFile reads a regular file up to the limit; a larger one is a *SizeError. It ends with the error of ctx once that
// is done.
func (d Door) ReadFile(ctx context.Context, path string) ([]byte, error) {
	file, info, err := d.open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	limit := d.Limit
	if limit == 0 {
		limit = Text
	}
	if info.Size() > limit && info.Mode().IsRegular() {
		return nil, refusal(path, &SizeError{limit})
	}
	return read(ctx, file, path, info.Size(), limit)
}

// read reads a file of about size bytes, and at most limit.
func read(ctx context.Context, file io.Reader, path string, size, limit int64) ([]byte, error) {
	data := make([]byte, 0, max(0, min(size, limit))+512)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := file.Read(data[len(data):min(cap(data), len(data)+1<<20)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > limit:
			return nil, refusal(path, &SizeError{limit})
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, err
		}
	}
}

// Stat describes what is at a path after links are followed, whatever it is.
func (d Door) Stat(path string) (fs.FileInfo, error) {
	if d.Folder == "" {
		return os.Stat(path)
	}
	root, name, err := d.enter(path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(name)
	return info, d.failure(path, err)
}

// ReadDir returns the entries of a folder, sorted by name.
func (d Door) ReadDir(path string) ([]fs.DirEntry, error) {
	folder, info, err := d.open(path)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	entries, err := folder.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// WalkDir is filepath.WalkDir, which follows no links, for a path that the door lets through.
func (d Door) WalkDir(path string, visit fs.WalkDirFunc) error {
	if d.Folder == "" {
		return filepath.WalkDir(path, visit)
	}
	if err := d.Check(path); err != nil {
		return err
	}
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		var entry fs.DirEntry
		if err == nil {
			entry = fs.FileInfoToDirEntry(info)
		}
		if err = visit(path, entry, err); errors.Is(err, fs.SkipDir) || errors.Is(err, fs.SkipAll) {
			return nil
		}
		return err
	}
	root, name, err := d.enter(path)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), filepath.ToSlash(name), func(found string, entry fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(name, filepath.FromSlash(found)) // found lies in name
		return visit(filepath.Join(path, rel), entry, err)
	})
}

// Glob is filepath.Glob for a pattern relative to dir, with the folders opened through the door. dir itself is no
// pattern, whatever characters its name has; an absolute pattern needs none. A match that the door does not let through
// is an error.
func (d Door) Glob(dir, pattern string) ([]string, error) {
	if filepath.IsAbs(pattern) {
		dir = filepath.VolumeName(pattern) + string(filepath.Separator)
		pattern = strings.TrimLeft(pattern[len(dir)-1:], string(filepath.Separator))
	}
	pattern = filepath.Clean(pattern)
	if whole := filepath.Join(dir, pattern); d.Folder != "" && !Within(d.Folder, filepath.Dir(whole)) {
		return nil, refusal(whole, ErrOutside)
	}
	if _, err := filepath.Match(pattern, ""); err != nil {
		return nil, err
	}
	paths, err := d.matches(dir, pattern)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if err := d.Check(path); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// matches returns the paths below dir that match a sound pattern.
func (d Door) matches(dir, pattern string) ([]string, error) {
	if !strings.ContainsAny(pattern, wildcards) {
		path := filepath.Join(dir, pattern)
		if _, err := os.Lstat(path); err != nil {
			return nil, nil
		}
		return []string{path}, nil
	}
	above, name := filepath.Split(pattern)
	dirs := []string{dir}
	if above != "" {
		var err error
		if dirs, err = d.matches(dir, filepath.Clean(above)); err != nil {
			return nil, err
		}
	}
	var paths []string
	for _, dir := range dirs {
		if info, err := d.Stat(dir); errors.Is(err, ErrOutside) {
			return nil, err
		} else if err != nil || !info.IsDir() {
			continue
		}
		entries, err := d.ReadDir(dir)
		if errors.Is(err, ErrOutside) {
			return nil, err
		}
		for _, entry := range entries { // none of a folder that cannot be read, as in filepath.Glob
			if matched, _ := filepath.Match(name, entry.Name()); matched {
				paths = append(paths, filepath.Join(dir, entry.Name()))
			}
		}
	}
	return paths, nil
}

// Check returns the error, an *fs.PathError, that opening a path would have because of where it leads; nil for a path
// with nothing there.
func (d Door) Check(path string) error {
	if d.Folder == "" {
		return nil
	}
	if err := Path(d.Folder, path); err != nil {
		return refusal(path, err)
	}
	return nil
}

func (d Door) open(path string) (*os.File, fs.FileInfo, error) {
	if d.Folder == "" {
		info, err := os.Stat(path)
		if err == nil {
			err = ordinary(path, info)
		}
		if err != nil {
			return nil, nil, err
		}
		file, err := os.OpenFile(path, os.O_RDONLY|withoutWaiting, 0)
		if err != nil {
			return nil, nil, err
		}
		return opened(file, path)
	}
	root, name, err := d.enter(path)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	info, err := root.Stat(name)
	if err == nil {
		err = ordinary(path, info)
	}
	if err != nil {
		return nil, nil, d.failure(path, err)
	}
	file, err := root.OpenFile(name, os.O_RDONLY|withoutWaiting, 0)
	if err != nil {
		return nil, nil, d.failure(path, err)
	}
	return opened(file, path)
}

// opened judges a file once more, now that nobody can exchange it.
func opened(file *os.File, path string) (*os.File, fs.FileInfo, error) {
	info, err := file.Stat()
	if err == nil {
		err = ordinary(path, info)
	}
	if err == nil && info.Mode().IsRegular() && info.Size() == 0 && aboutProcess(file) {
		err = refusal(path, ErrProcess)
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// enter opens the folder and returns the path as seen from it, with its links resolved, as os.Root follows no link with
// an absolute target.
func (d Door) enter(path string) (*os.Root, string, error) {
	if err := d.Check(path); err != nil {
		return nil, "", err
	}
	folder, err := filepath.EvalSymlinks(d.Folder)
	if err != nil {
		return nil, "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, "", err
	}
	name, err := filepath.Rel(folder, real)
	if err != nil {
		return nil, "", refusal(path, ErrOutside)
	}
	root, err := os.OpenRoot(folder)
	return root, name, err
}

// failure is an error of os.Root about a path.
func (d Door) failure(path string, err error) error {
	if err != nil && Path(d.Folder, path) != nil { // a link has been exchanged
		return refusal(path, ErrOutside)
	}
	return err
}

// ordinary returns an error for what is neither a regular file nor a folder.
func ordinary(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() || info.IsDir() {
		return nil
	}
	return refusal(path, ErrNoFile)
}

func refusal(path string, err error) error { return &fs.PathError{Op: "open", Path: path, Err: err} }
