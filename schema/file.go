package schema

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// OpenFile opens the schema of a file by its index, which it keeps in the file at indexPath and makes anew when it is
// missing, damaged or belongs to another text. It never holds more than one definition of the schema. Any number of
// processes may do so at the same time. An index that cannot be written only costs time; an empty indexPath means no
// index. The error names the fault of the schema, or says that it cannot be read.
func OpenFile(path, indexPath string) (*Package, error) {
	if p, err := OpenKept(path, indexPath); err == nil {
		return p, nil
	}
	index, info, err := indexFile(path)
	if err != nil {
		return nil, err
	}
	p, err := openIndexed(index, fileText(path), info.Size(), stampOf(info), forget(indexPath))
	if err != nil {
		return nil, fmt.Errorf("read package schema: %w", err) // somebody writes to the file
	}
	if indexPath != "" {
		_ = Keep(indexPath, index)
	}
	return p, nil
}

// OpenKept is OpenFile for a file that may be trusted only with the index that was made of it. The error wraps
// ErrDamaged if the index is not whole, or belongs to another text.
func OpenKept(path, indexPath string) (*Package, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read package schema: %w", err)
	}
	index, err := os.ReadFile(indexPath)
	if err != nil {
		return nil, fmt.Errorf("read index of package schema: %w", err)
	}
	return openIndexed(index, fileText(path), info.Size(), stampOf(info), forget(indexPath))
}

// forget removes an index where a definition has changed though the file looks the same, so that the next to open the
// file makes it anew.
func forget(indexPath string) func() {
	return func() {
		if indexPath != "" {
			_ = os.Remove(indexPath)
		}
	}
}

// indexFile makes the index of a file.
func indexFile(path string) ([]byte, fs.FileInfo, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read package schema: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("read package schema: %w", err)
	}
	index, err := BuildIndex(file, stampOf(info))
	return index, info, err
}

// stampOf identifies a version of a file among others of the same size.
func stampOf(info fs.FileInfo) string { return strconv.FormatInt(info.ModTime().UnixNano(), 36) }

// fileText reads parts of the file of a path. It holds no file open, so that others may replace it.
type fileText string

var _ io.ReaderAt = fileText("")

// ReadAt opens the file for each reading.
func (f fileText) ReadAt(dst []byte, offset int64) (int, error) {
	file, err := os.Open(string(f))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return file.ReadAt(dst, offset)
}

// unfinished is the prefix of the names of unfinished files.
const unfinished = ".index-"

// Keep writes a file of a cache, a schema or an index, that others read either as it was or as it is now. It need not
// outlive a crash of the machine: an index has a checksum.
func Keep(path string, text []byte) error {
	return replaceFile(path, func(file *os.File) error {
		_, err := file.Write(text)
		return err
	})
}

// KeepIndexed writes the text of a schema to a file for OpenKept, with an index of the text that it has read. It
// never indexes the file, to which others may have written since. modified is the time that the file gets. kept
// reports whether both files were written; the error, whether the text is a readable schema.
func KeepIndexed(text io.Reader, path, indexPath string, modified time.Time) (kept bool, err error) {
	var index []byte
	var unsound error
	err = replaceFile(path, func(file *os.File) error {
		if err := os.Chtimes(file.Name(), modified, modified); err != nil {
			return err
		}
		info, err := file.Stat() // a file system may keep less of a time than it is given
		if err != nil {
			return err
		}
		sink := &sink{to: file}
		if index, unsound = BuildIndex(io.TeeReader(text, sink), stampOf(info)); unsound != nil {
			if sink.err != nil {
				unsound = nil
				return sink.err
			}
			return unsound
		}
		return os.Chtimes(file.Name(), modified, modified)
	})
	return err == nil && Keep(indexPath, index) == nil, unsound
}

// sink remembers why it could not write.
type sink struct {
	to  io.Writer
	err error
}

func (s *sink) Write(text []byte) (int, error) {
	n, err := s.to.Write(text)
	s.err = err
	return n, err
}

// replaceFile gives the file of a path another content at once.
func replaceFile(path string, write func(*os.File) error) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, unfinished+"*")
	if err != nil {
		return err
	}
	if info, err := file.Stat(); err == nil {
		RemoveLeftovers(dir, info.ModTime())
	}
	err = write(file)
	if err == nil {
		err = file.Chmod(0o644) // as a schema has it: there is nothing secret in it
	}
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

// RemoveLeftovers removes files from a directory of schemas whose writers were killed: those that start with a dot, as
// unfinished ones do, and were last written an hour before now, the time of the file system. A slow writer that loses
// its file loses an entry of the cache and nothing else.
func RemoveLeftovers(dir string, now time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), ".") || !entry.Type().IsRegular() {
			continue
		}
		if info, err := entry.Info(); err == nil && now.Sub(info.ModTime()) > time.Hour {
			_ = os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
}
