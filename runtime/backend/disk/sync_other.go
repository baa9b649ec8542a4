//go:build !linux

package disk

import "os"

// syncData is Sync: other systems have no cheaper call, or one that guarantees less.
func syncData(f *os.File) error { return f.Sync() }
