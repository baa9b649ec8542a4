// Package cancel implements the command cancel, which ends the run of another process by removing its locks.
package cancel
