// Package explain implements the command explain, which shows the pages about diagnostic codes. The flags, options and
// run function of each command stand together.
package explain
