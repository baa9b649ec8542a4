package schema

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// OpenFile opens the schema of a file by its index, which it keeps in the file at indexPath and makes anew when it is
// missing, damaged or that of another text. Any number of processes may do so at the same time. An index that cannot be
// written costs time and nothing else; an empty indexPath is for none at all. The error says what is wrong with the
// schema, or that it cannot be read.
func OpenFile(path, indexPath string) (*Package, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read package schema: %w", err)
	}
	stamp := strconv.FormatInt(info.ModTime().UnixNano(), 36)
	if indexPath != "" {
		if index, err := os.ReadFile(indexPath); err == nil {
			// Where a definition has changed though the file looks the same, the next to open it makes the index anew.
			forget := func() { _ = os.Remove(indexPath) }
			if p, err := openIndexed(index, fileText(path), info.Size(), stamp, forget); err == nil {
				return p, nil
			}
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read package schema: %w", err)
	}
	p, err := Parse(data)
	if err != nil || indexPath == "" || int64(len(data)) != info.Size() {
		return p, err
	}
	if index, err := BuildIndex(p, data, stamp); err == nil {
		_ = replaceFile(indexPath, index)
	}
	return p, nil
}

// fileText reads parts of the file of a path. It holds no file open, so that others may replace it.
type fileText string

// ReadAt opens the file for each reading.
func (f fileText) ReadAt(into []byte, offset int64) (int, error) {
	file, err := os.Open(string(f))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return file.ReadAt(into, offset)
}

// replaceFile writes a file that others read either as it was or as it is now. It need not outlive a crash of the machine:
// its checksum tells.
func replaceFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".index-*")
	if err != nil {
		return err
	}
	_, err = file.Write(text)
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
