package embedded

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// asWritten passes a command to cmd.exe as it is written. Quotes that are escaped for other programs, cmd.exe would
// take as text. With /S it removes exactly the outer ones.
func asWritten(cmd *exec.Cmd) {
	name := strings.ToLower(strings.TrimSuffix(strings.ToLower(filepath.Base(cmd.Args[0])), ".exe"))
	if len(cmd.Args) == 3 && name == "cmd" && strings.EqualFold(cmd.Args[1], "/C") {
		cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd /S /C "` + cmd.Args[2] + `"`}
	}
}
