// Package account implements the commands login, logout, whoami and org: which backend is used, and as which user and
// organization of a service.
package account
