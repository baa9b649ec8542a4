//go:build !unix

package filelock

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
)

// targetOf returns the file to lock for a folder, and the flags to open it. Folders cannot be locked on this system,
// so a temporary file of the user stands for the folder. It is not removed.
func targetOf(dir string) (target string, flag int, err error) {
	if dir, err = made(dir); err != nil {
		return "", 0, err
	}
	sum := sha256.Sum256([]byte(strings.ToLower(dir)))
	return filepath.Join(os.TempDir(), "yamlhost-"+hex.EncodeToString(sum[:16])+".lock"), os.O_CREATE | os.O_RDWR, nil
}
