package disk

import (
	"syscall"
	"time"
)

// ReadUnless reads a file unless its stamp is the one that was seen. It opens the file in either case, because network
// file systems revalidate their cached attributes on open but not on stat. The stamp of a file that was changed just
// now is zero, because the clocks of file systems are coarse. ReadUnless is meant for small files that are polled
// often: it makes four system calls, os.ReadFile a dozen.
func (Real) ReadUnless(path string, seen Stamp) (text []byte, now Stamp, err error) {
	var fd int
	if err := again(func() (err error) {
		fd, err = syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		return err
	}); err != nil {
		return nil, Stamp{}, pathFault("open", path, err)
	}
	defer func() { _ = syscall.Close(fd) }() // it was only read
	var info syscall.Stat_t
	if err := again(func() error { return syscall.Fstat(fd, &info) }); err != nil {
		return nil, Stamp{}, pathFault("stat", path, err)
	}
	if age := time.Since(time.Unix(0, info.Ctim.Nano())); age >= stampAge {
		now = Stamp{Device: uint64(info.Dev), File: info.Ino, Size: info.Size, Modified: info.Mtim.Nano(),
			Changed: info.Ctim.Nano()}
	}
	if now != (Stamp{}) && now == seen {
		return nil, now, nil
	}
	text = make([]byte, 0, info.Size+1) // one byte more, to notice that the file has grown
	for {
		var n int
		if err := again(func() (err error) {
			n, err = syscall.Read(fd, text[len(text):cap(text)])
			return err
		}); err != nil {
			return nil, Stamp{}, pathFault("read", path, err)
		}
		text = text[:len(text)+n]
		if n == 0 || int64(len(text)) == info.Size {
			return text, now, nil
		}
		if len(text) == cap(text) { // the file has grown
			text = append(text, 0)[:len(text)]
		}
	}
}

// again repeats a system call as long as signals interrupt it.
func again(call func() error) error {
	for {
		if err := call(); err != syscall.EINTR {
			return err
		}
	}
}
