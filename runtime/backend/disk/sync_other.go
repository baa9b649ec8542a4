//go:build !linux

package disk

import "os"

// syncData is Sync: other systems have nothing less, or promise less with it.
func syncData(f *os.File) error { return f.Sync() }
