// Package watch notices changes of files. It compares what folders hold at intervals, which works alike on every
// system, in containers and on network drives. It does not read the files and does not know what they are for.
package watch
