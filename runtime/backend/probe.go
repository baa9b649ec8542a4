package backend

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"
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
			return written, fileError("write in", folder, err)
		}
	}
	path := filepath.Join(folder, fmt.Sprintf("probe-%d-%d", b.o.Process.PID, time.Now().UnixNano()))
	data := []byte("This file shows that the backend can be written to. It may be removed.\n")
	if err := b.write("write", path, data); err != nil {
		return written, err
	}
	defer func() { err = cmp.Or(err, fileError("remove", path, b.disk.Remove(path))) }()
	read, err := b.disk.ReadFile(path)
	if err == nil && !bytes.Equal(read, data) {
		err = fmt.Errorf("it holds %d bytes, but %d were written", len(read), len(data))
	}
	if err == nil {
		written, err = b.disk.ModTime(path)
	}
	return written, fileError("read", path, err)
}
