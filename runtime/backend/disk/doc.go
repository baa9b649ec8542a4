// Package disk is the file system under the files of stacks: durable writes that readers see whole or not at all, and
// guards against other processes of the machine. Disk is the contract and Real the machine's file system; functions
// such as WriteDurably work with any Disk. The package does not know stacks.
package disk
