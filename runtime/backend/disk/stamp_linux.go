package disk

import (
	"syscall"
	"time"
)

// Stamp returns the identity of a file's content as the file system has it, by way of opening the File: file systems on
// other machines answer that, and not what they are only asked, with what is true now. Of a file that was changed just
// now it is the zero stamp, since clocks of file systems are coarse.
func (Real) Stamp(path string) (Stamp, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return Stamp{}, pathFault("open", path, err)
	}
	var info syscall.Stat_t
	err = syscall.Fstat(fd, &info)
	_ = syscall.Close(fd) // it was only read
	if err != nil {
		return Stamp{}, pathFault("stat", path, err)
	}
	if age := time.Since(time.Unix(0, info.Ctim.Nano())); age < stampAge {
		return Stamp{}, nil
	}
	return Stamp{Device: uint64(info.Dev), File: info.Ino, Size: info.Size, Modified: info.Mtim.Nano(),
		Changed: info.Ctim.Nano()}, nil
}
