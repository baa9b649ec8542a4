// Package account has the command line of login, logout and whoami: which backend is used.
// Each command has its flags, options and run function side by side.
package account
