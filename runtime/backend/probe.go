package backend

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/yamlhost/yamlhost/runtime/backend/disk"
)

// Probe writes a small file where the backend keeps its own, reads it back and removes it again, and returns when it
// was written by the clock of anyone who keeps it. Nothing else is made; a backend without a stack stays empty.
func (b *Backend) Probe() (written time.Time, err error) {
	if b.service != nil {
		_, err := b.service.User(context.Background())
		return b.o.Now(), err
	}
	folder := b.root
	if _, err := b.disk.ModTime(folder); err != nil && b.objects == nil {
		folder = filepath.Dir(folder) // which .pulumi is going to be in
		if _, err := b.disk.ModTime(folder); err != nil {
			return written, &FileError{Doing: "write in", Path: folder, Err: err}
		}
	}
	path := filepath.Join(folder, fmt.Sprintf("probe-%d-%d", b.o.Process.PID, time.Now().UnixNano()))
	data := []byte("This file shows that the backend can be written to. It may be removed.\n")
	if err := disk.WriteDurably(b.disk, path, data); err != nil {
		return written, &FileError{Doing: "write", Path: path, Err: err}
	}
	defer func() {
		if gone := b.disk.Remove(path); gone != nil && err == nil {
			err = &FileError{Doing: "remove", Path: path, Err: gone}
		}
	}()
	read, err := b.disk.ReadFile(path)
	if err == nil && !bytes.Equal(read, data) {
		err = fmt.Errorf("it holds %d bytes, but %d were written", len(read), len(data))
	}
	if err != nil {
		return written, &FileError{Doing: "read", Path: path, Err: err}
	}
	if written, err = b.disk.ModTime(path); err != nil {
		return written, &FileError{Doing: "read", Path: path, Err: err}
	}
	return written, nil
}
