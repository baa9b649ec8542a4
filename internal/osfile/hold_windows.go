package osfile

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// Hold takes the lock of a folder, which cannot be locked itself, if no process of this machine has it. kind tells
// locks of one folder apart. Windows gives the lock back when the process ends.
func Hold(kind, folder string) (release func(), free bool) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return func() {}, true
	}
	sum := sha256.Sum256([]byte(strings.ToLower(folder)))
	name, err := windows.UTF16PtrFromString(`Global\yamlhost-` + kind + "-" + hex.EncodeToString(sum[:16]))
	if err != nil {
		return func() {}, true
	}
	// The object exists as long as a process has it open. The process that made it has the lock.
	object, err := windows.CreateEvent(nil, 1, 0, name)
	switch {
	case err == windows.ERROR_ALREADY_EXISTS:
		_ = windows.CloseHandle(object)
		return func() {}, false
	case err == windows.ERROR_ACCESS_DENIED: // that of another user
		return func() {}, false
	case err != nil:
		return func() {}, true
	}
	return func() { _ = windows.CloseHandle(object) }, true
}
