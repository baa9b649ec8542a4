package dynamic

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// pipes are what the host script reads requests from and writes answers to: two named pipes, since Windows passes on no
// more than three open files that an interpreter finds. Only this user may open them, and only once.
type pipes struct {
	requests io.WriteCloser
	answers  io.ReadCloser
	names    []string
}

// openPipes makes the pipes and puts their name into the environment of a command that is not started yet.
func openPipes(cmd *exec.Cmd) (*pipes, error) {
	name := `\\.\pipe\yamlhost-` + rand.Text()
	p := &pipes{names: []string{name + "-requests", name + "-answers"}}
	requests, err := newPipe(p.names[0], windows.PIPE_ACCESS_OUTBOUND)
	if err != nil {
		return nil, err
	}
	answers, err := newPipe(p.names[1], windows.PIPE_ACCESS_INBOUND)
	if err != nil {
		return nil, errors.Join(err, requests.Close())
	}
	p.requests, p.answers = requests, answers
	cmd.Env = append(cmd.Env, pipeVariable+"="+name)
	return p, nil
}

// started does nothing: the command opens its ends itself.
func (p *pipes) started() {}

// ended is called when the command has ended. A pipe that it has not opened would wait for ever, so we open it instead.
func (p *pipes) ended() {
	for i, flag := range []int{os.O_RDONLY, os.O_WRONLY} {
		if f, err := os.OpenFile(p.names[i], flag, 0); err == nil {
			f.Close()
		}
	}
}

// pipe is our end of a named pipe. The first use waits for the other end.
type pipe struct {
	file    *os.File
	connect func() error
}

// newPipe makes a pipe that this user may open once.
func newPipe(name string, direction uint32) (*pipe, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, err
	}
	descriptor, err := windows.SecurityDescriptorFromString("D:P(A;;GA;;;" + user.User.Sid.String() + ")")
	if err != nil {
		return nil, err
	}
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	const size = 64 << 10
	rights := &windows.SecurityAttributes{SecurityDescriptor: descriptor}
	rights.Length = uint32(unsafe.Sizeof(*rights))
	handle, err := windows.CreateNamedPipe(path, direction|windows.FILE_FLAG_FIRST_PIPE_INSTANCE,
		windows.PIPE_TYPE_BYTE|windows.PIPE_WAIT|windows.PIPE_REJECT_REMOTE_CLIENTS, 1, size, size, 0, rights)
	if err != nil {
		return nil, err
	}
	p := &pipe{file: os.NewFile(uintptr(handle), name)}
	p.connect = sync.OnceValue(func() error {
		raw, err := p.file.SyscallConn()
		if err != nil {
			return err
		}
		var refused error
		err = raw.Control(func(fd uintptr) { refused = windows.ConnectNamedPipe(windows.Handle(fd), nil) })
		if errors.Is(refused, windows.ERROR_PIPE_CONNECTED) || errors.Is(refused, windows.ERROR_NO_DATA) {
			refused = nil // the other end was faster
		}
		return errors.Join(err, refused)
	})
	return p, nil
}

// Read reads once the other end is open.
func (p *pipe) Read(b []byte) (int, error) {
	if err := p.connect(); err != nil {
		return 0, err
	}
	return p.file.Read(b)
}

// Write writes once the other end is open.
func (p *pipe) Write(b []byte) (int, error) {
	if err := p.connect(); err != nil {
		return 0, err
	}
	return p.file.Write(b)
}

// Close closes our end.
func (p *pipe) Close() error { return p.file.Close() }
