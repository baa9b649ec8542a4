// Package console is the environment of every command: its streams and its view of the machine, the flags that all
// commands have, messages and questions, exit codes, interrupts and crash reports, and the way to a backend, a stack
// and its secrets. Its central type is Console, which is one run of the command line. It knows no command and no
// operation of the engine.
package console
