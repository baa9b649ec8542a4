package disk

import (
	"time"

	"github.com/yamlhost/yamlhost/internal/osfile"
)

// Guard locks a folder between the processes of this machine.
func (Real) Guard(folder string) (release func(), free bool) {
	for until := time.Now().Add(guardLimit); ; time.Sleep(time.Millisecond) {
		if release, free = osfile.Hold("guard", folder); free || time.Now().After(until) {
			return release, free
		}
	}
}

// Guarding returns 0: the process is never known on this system.
func (Real) Guarding(string) int { return 0 }
