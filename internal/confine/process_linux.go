package confine

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// procfs is the type of the file system that tells about processes.
const procfs = 0x9fa0

// aboutProcess reports whether a file tells about a process: it lies in procfs below a folder with a process's number.
func aboutProcess(file *os.File) bool {
	var about syscall.Statfs_t
	if err := syscall.Fstatfs(int(file.Fd()), &about); err != nil || about.Type != procfs {
		return false
	}
	path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", file.Fd()))
	if err != nil {
		return true
	}
	for part := range strings.SplitSeq(path, "/") {
		if part != "" && strings.Trim(part, "0123456789") == "" {
			return true
		}
	}
	return false
}
