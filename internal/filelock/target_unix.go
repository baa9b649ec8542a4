//go:build unix

package filelock

import "os"

// targetOf returns the path to lock for a folder, and the flags to open it: the folder itself, so that no file stays
// behind.
func targetOf(dir string) (target string, flag int, err error) {
	target, err = made(dir)
	return target, os.O_RDONLY, err
}
