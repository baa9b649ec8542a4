// Package stack implements the command stack and its subcommands. stack.go has those that create, select, rename and
// remove stacks, stacktransfer.go export and import, stacksecrets.go change-secrets-provider, and stacklist.go tags and
// the list; the other files are named after their commands.
package stack
