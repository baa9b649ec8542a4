package osfile

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// patience is how long a call is tried again on Windows while another process has the file open.
const patience = 2 * time.Second

// Open opens a file for reading. Other processes may rename and remove it meanwhile.
func Open(path string) (*os.File, error) { return OpenFile(path, os.O_RDONLY, 0) }

// OpenFile is os.OpenFile, but other processes may rename and remove the file meanwhile. It opens no folders.
func OpenFile(path string, flag int, perm fs.FileMode) (f *os.File, err error) {
	err = insist(patience, hindered, func() error {
		f, err = openFile(path, flag, perm)
		return err
	})
	return f, err
}

// Rename replaces to by from. Neither may be open in this process.
func Rename(from, to string) error {
	return insist(patience, hindered, func() error { return os.Rename(from, to) })
}

// WriteFile replaces a file so that a reader sees either the old content or the new.
func WriteFile(path string, text []byte, perm fs.FileMode) error { return writeFile(path, text, perm) }

// Remove removes a file, which this process must not have open, or an empty folder.
func Remove(path string) error {
	return insist(patience, hindered, func() error { return os.Remove(path) })
}

// RemoveAll removes a file or folder with everything in it. It returns nil if there is none.
func RemoveAll(path string) error {
	return insist(patience, hindered, func() error { return removeAll(path) })
}

// IsAbsent reports whether err means that there is no file of that name, be it that a folder on the way is missing or
// is a file itself. Windows does not tell the two apart.
func IsAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// IsReaderGone reports whether a write failed because nobody reads the pipe or terminal any more.
func IsReaderGone(err error) bool {
	return slices.ContainsFunc(readerGone, func(gone error) bool { return errors.Is(err, gone) })
}

// IsFull reports whether a write failed because its disk has no room, or its user may use no more of it.
func IsFull(err error) bool {
	return slices.ContainsFunc(full, func(e error) bool { return errors.Is(err, e) })
}

// IsReadOnly reports whether a change failed because its disk cannot be written to.
func IsReadOnly(err error) bool { return errors.Is(err, readOnly) }

// Reserved returns the reason why Windows keeps a name for itself or cannot give it to a file; empty if it can. It is
// the same on all systems, because files travel.
func Reserved(name string) string {
	stem, _, _ := strings.Cut(name, ".")
	stem = strings.ToLower(strings.TrimRight(stem, " "))
	switch {
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return "it ends in a point or a space"
	case stem == "con" || stem == "prn" || stem == "aux" || stem == "nul",
		len(stem) > 3 && (strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")) &&
			utf8.RuneCountInString(stem[3:]) == 1 && strings.Contains("0123456789¹²³", stem[3:]):
		return "it is the name of a device on Windows"
	}
	return ""
}

// SyncDir makes the names in a folder durable, on systems where a folder can be synced. Windows keeps a journal of
// names itself.
func SyncDir(path string) error { return syncDir(path) }

// insist calls act until it succeeds, fails for a reason that passing rejects, or limit is over. It returns act's last
// error.
func insist(limit time.Duration, passing func(error) bool, act func() error) error {
	const longest = 100 * time.Millisecond
	began := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, longest) {
		err := act()
		if err == nil || !passing(err) || time.Since(began)+pause > limit {
			return err
		}
		time.Sleep(pause)
	}
}
