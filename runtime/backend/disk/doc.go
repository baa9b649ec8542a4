// Package disk is what the files of stacks ask of a file system: what is written durably, seen whole or not at all, and
// guarded against others of the same machine. Disk is the contract and Real the machine's file system; what is above,
// such as WriteDurably, works with any Disk. It knows no stack.
package disk
