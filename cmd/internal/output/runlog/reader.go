package runlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/internal/osfile"
)

const extension = ".jsonl"

// Record is an operation in a list of operations.
type Record struct {
	ID string `json:"id"`
	Head
	End *Line `json:"end,omitempty"` // nil while it runs, and after a crash
}

var idForm = lazyregexp.New(`^[0-9]{1,20}-[0-9]{1,10}$`)

// names returns the names of the records in a folder, newest first; none if there is no folder.
func names(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the records of operations: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), extension); ok && idForm().MatchString(id) {
			ids = append(ids, id)
		}
	}
	moment := func(id string) int64 {
		digits, _, _ := strings.Cut(id, "-")
		n, _ := strconv.ParseInt(digits, 10, 64) // only digits match
		return n
	}
	slices.SortFunc(ids, func(a, b string) int {
		return int(max(-1, min(1, moment(b)-moment(a))))
	})
	return ids, nil
}

// forget removes the oldest records, to make room for one more.
func forget(dir string) {
	ids, _ := names(dir)
	for len(ids) >= kept {
		_ = osfile.Remove(filepath.Join(dir, ids[len(ids)-1]+extension)) // another process may have removed it
		ids = ids[:len(ids)-1]
	}
}

// List returns the records in a folder, newest first. Unreadable records are omitted.
func List(dir string) ([]Record, error) {
	ids, err := names(dir)
	records := make([]Record, 0, len(ids))
	for _, id := range ids {
		if r, ok := recordOf(filepath.Join(dir, id+extension)); ok {
			r.ID = id
			records = append(records, r)
		}
	}
	return records, err
}

// recordOf reads the first and the last line of a file.
func recordOf(path string) (r Record, ok bool) {
	file, err := os.Open(path)
	if err != nil {
		return r, false
	}
	defer file.Close()
	const most = 8 << 10
	head := make([]byte, most)
	n, _ := io.ReadFull(file, head)
	first, _, found := bytes.Cut(head[:n], []byte("\n"))
	if !found || json.Unmarshal(first, &r.Head) != nil {
		return r, false
	}
	info, err := file.Stat()
	if err != nil {
		return r, false
	}
	tail := make([]byte, min(most, info.Size()))
	n, _ = file.ReadAt(tail, info.Size()-int64(len(tail)))
	lines := bytes.Split(bytes.TrimSuffix(tail[:n], []byte("\n")), []byte("\n"))
	var last Line
	if json.Unmarshal(lines[len(lines)-1], &last) == nil && last.Kind == End {
		r.End = &last
	}
	return r, true
}

// Read returns the complete lines of a record from a byte offset on, and the offset to continue at. from is 0 for the
// first lines, or the next of an earlier call. It returns fs.ErrNotExist if there is no such record.
func Read(dir, id string, from int64) (lines []Line, next int64, err error) {
	const most = 4 << 20 // of one answer, in bytes
	if !idForm().MatchString(id) || from < 0 {
		return nil, 0, fs.ErrNotExist
	}
	file, err := os.Open(filepath.Join(dir, id+extension))
	if err != nil {
		return nil, 0, fmt.Errorf("read the record of an operation: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.NewSectionReader(file, from, most))
	if err != nil {
		return nil, 0, fmt.Errorf("read the record of an operation: %w", err)
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	next = from + int64(len(text))
	for i, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		var l Line
		if from == 0 && i == 0 || json.Unmarshal(line, &l) != nil || l.Kind == "" {
			continue
		}
		lines = append(lines, l)
	}
	return lines, next, nil
}
