// Package account implements the command line of login, logout and whoami: which backend is used.
// The flags, options and run function of each command stand together.
package account
