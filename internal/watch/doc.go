// Package watch detects changes of files. It compares the content of folders at intervals, which works the same on
// every system, in containers and on network drives. It never reads the files and does not know their purpose.
package watch
