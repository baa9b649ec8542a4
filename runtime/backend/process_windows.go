package backend

import (
	"errors"
	"strconv"
	"time"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// machine returns the identifier that Windows gives an installation. The start of a process is exact enough to tell it
// from those before a restart.
func machine() (id, boot string, contained bool) {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`,
		registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return "", "", false
	}
	defer key.Close()
	id, _, _ = key.GetStringValue("MachineGuid") // stays empty if there is none
	return id, "", false
}

// created returns when a process was started, and whether it still runs.
func created(pid int) (at windows.Filetime, runs bool, err error) {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return at, false, err
	}
	defer func() { _ = windows.CloseHandle(process) }()
	const stillActive = 259
	code, exited := uint32(0), windows.Filetime{}
	err = windows.GetExitCodeProcess(process, &code)
	if err == nil {
		err = windows.GetProcessTimes(process, &at, &exited, &windows.Filetime{}, &windows.Filetime{})
	}
	return at, code == stillActive, err
}

// startOf returns when a process was started, in nanoseconds; empty if that is unknown.
func startOf(pid int) string {
	at, _, err := created(pid)
	if err != nil {
		return ""
	}
	return strconv.FormatInt(at.Nanoseconds(), 10)
}

// startTime returns when a process was started; zero if that is unknown.
func startTime(pid int) time.Time {
	at, _, err := created(pid)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(0, at.Nanoseconds())
}

// stopped returns false: Windows stops no processes.
func stopped(int) bool { return false }

// ended reports whether no process of that number runs. A process of another user counts as running.
func ended(pid int) bool {
	_, runs, err := created(pid)
	if err != nil {
		return errors.Is(err, windows.ERROR_INVALID_PARAMETER)
	}
	return !runs
}
