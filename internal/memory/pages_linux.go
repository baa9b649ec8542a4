package memory

import "syscall"

// hugePages reports whether a process can ask for huge pages.
const hugePages = true

// adviseHuge asks for huge pages for a block of memory of its own pages. A system that has none does nothing.
func adviseHuge(block []byte) { _ = syscall.Madvise(block, syscall.MADV_HUGEPAGE) }
