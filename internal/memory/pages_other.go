//go:build !linux

package memory

// hugePages reports whether a process can ask for huge pages.
const hugePages = false

// adviseHuge does nothing; nobody calls it here.
func adviseHuge([]byte) {}
