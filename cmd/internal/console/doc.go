// Package console provides the environment that every command runs in: its streams and its view of the machine, the
// global flags, messages and questions, exit codes, interrupts and crash reports, and access to backends, stacks and
// their secrets. The central type is Console, which represents one run of the command line. The package depends on no
// command and on no operation of the engine.
package console
