//go:build unix

package filelock

import "os"

// targetOf is what is locked for a folder, and how it is opened: the folder itself, so that no file stays behind.
func targetOf(dir string) (target string, flag int, err error) {
	target, err = existing(dir)
	return target, os.O_RDONLY, err
}
