package schema

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/internal/osfile"
)

// OpenFile opens the schema in a file by its index in the file at indexPath, which it rebuilds if it is missing,
// damaged or belongs to another text. It holds at most one definition of the schema in memory. Several processes may do
// so at the same time. An index that cannot be written only costs time; an empty indexPath means no index. The error is
// a fault of the schema, or that of reading the file.
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
		return nil, fmt.Errorf("read package schema: %w", err) // the file is being written
	}
	if indexPath != "" {
		_ = Keep(indexPath, index)
	}
	return p, nil
}

// OpenKept is OpenFile for a file that is trusted only with its own index. The error wraps ErrDamaged if the index is
// incomplete, or belongs to another text.
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

// forget returns a function that removes an index, for a definition that has changed although the file looks the same.
// The next OpenFile rebuilds the index.
func forget(indexPath string) func() {
	return func() {
		if indexPath != "" {
			_ = osfile.Remove(indexPath)
		}
	}
}

// indexFile builds the index of a file.
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

// stampOf returns a text that differs between versions of a file with the same size.
func stampOf(info fs.FileInfo) string { return strconv.FormatInt(info.ModTime().UnixNano(), 36) }

// fileText reads parts of the file at a path. It keeps no file open, so that others may replace it.
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

// Keep writes a file of a cache, a schema or an index, atomically for readers. The file may be lost in a crash of the
// machine, which the checksum of an index detects.
func Keep(path string, text []byte) error {
	return replaceFile(path, func(file *os.File) error {
		_, err := file.Write(text)
		return err
	})
}

// KeepIndexed writes the text of a schema to a file for OpenKept, with an index of the same text, and not of the file,
// to which others may have written since. The file gets the time modified. kept reports whether both files were
// written. The error is a fault of the schema.
func KeepIndexed(text io.Reader, path, indexPath string, modified time.Time) (kept bool, err error) {
	var index []byte
	var unsound error
	err = replaceFile(path, func(file *os.File) error {
		if err := os.Chtimes(file.Name(), modified, modified); err != nil {
			return err
		}
		info, err := file.Stat() // a file system may round the time
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

// sink is a writer that keeps its error.
type sink struct {
	to  io.Writer
	err error
}

func (s *sink) Write(text []byte) (int, error) {
	n, err := s.to.Write(text)
	s.err = err
	return n, err
}

// sweptFolders holds the folders from which this process has removed unfinished files: once, however many it keeps.
var sweptFolders sync.Map

// replaceFile replaces the content of a file atomically.
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
		if _, swept := sweptFolders.LoadOrStore(dir, true); !swept {
			RemoveLeftovers(dir, info.ModTime())
		}
	}
	err = write(file)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = osfile.Rename(file.Name(), path)
	}
	if err != nil {
		_ = osfile.Remove(file.Name())
	}
	return err
}

// RemoveLeftovers removes files from a directory of schemas whose writers were killed: files that start with a dot,
// like unfinished ones, and were last written an hour before now, the time of the file system. A slow writer whose file
// is removed only loses an entry of the cache.
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
			_ = osfile.Remove(filepath.Join(dir, entry.Name()))
		}
	}
}
