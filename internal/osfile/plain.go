package osfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// PlainError returns a fault of a file without its name and without the words of the system, for messages that name the
// file already. Other errors are returned as they are.
func PlainError(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return plainFault{reason(p), err}
	}
	return err
}

// plainFault is a fault of a file in our words.
type plainFault struct {
	text  string
	cause error
}

func (f plainFault) Error() string { return f.text }
func (f plainFault) Unwrap() error { return f.cause }

func reason(p *fs.PathError) string {
	switch info, _ := os.Stat(p.Path); {
	case errors.Is(p.Err, fs.ErrNotExist):
		if dir := filepath.Dir(p.Path); missing(dir) {
			return "there is no folder " + dir
		}
		return "it does not exist"
	case errors.Is(p.Err, fs.ErrPermission) && p.Op == "fork/exec":
		return "it is no program that this user may run"
	case errors.Is(p.Err, fs.ErrPermission):
		return "this user may not open it"
	case errors.Is(p.Err, syscall.EISDIR):
		return "it is a folder"
	case errors.Is(p.Err, syscall.ENOTDIR) && info != nil && !info.IsDir():
		return "it is no folder"
	case errors.Is(p.Err, syscall.ENOTDIR):
		return "its path has a file where a folder must be"
	}
	return p.Err.Error()
}

func missing(dir string) bool {
	_, err := os.Lstat(dir)
	return errors.Is(err, fs.ErrNotExist)
}
