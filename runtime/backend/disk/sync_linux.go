package disk

import (
	"os"
	"syscall"
)

// syncData makes the data and the size of a file durable, but not its times.
func syncData(f *os.File) error {
	connection, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var fault error
	if err := connection.Control(func(fd uintptr) {
		fault = again(func() error { return syscall.Fdatasync(int(fd)) })
	}); err != nil {
		return err
	}
	if fault != nil {
		return pathFault("sync", f.Name(), fault)
	}
	return nil
}
