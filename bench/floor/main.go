// Command floor does only the work that every host of this protocol must do: it decodes a program once, reads and
// writes a state once, makes the calls that an operation needs, and syncs the data that must be durable. Other
// figures are multiples of its cost.
//
//	floor [-plugin FILE] check|preview|up|refresh|destroy PROGRAM STATE
//
// Without a plugin, the provider is a function in this process, and there is no gRPC. PROGRAM is one of bench/program:
// references, fn::join and fn::sha1 are all that is evaluated. STATE is a checkpoint in Pulumi's form, which need not
// exist. It checks nothing, reports nothing and recovers nothing.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
)

func main() {
	plugin := flag.String("plugin", "", "the provider's executable; empty for a function in this process")
	flag.Parse()
	debug.SetGCPercent(300) // as much garbage as the host allows itself
	if err := run(*plugin, flag.Arg(0), flag.Arg(1), flag.Arg(2)); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func run(plugin, operation, programPath, statePath string) error {
	ask := provider(local)
	if plugin != "" && operation != "check" {
		started, stop, err := start(plugin)
		if err != nil {
			return err
		}
		defer stop()
		ask = started
	}
	return operate(ask, operation, programPath, statePath)
}

func operate(ask provider, operation, programPath, statePath string) (err error) {
	d := &deployment{preview: operation == "preview", ask: ask}
	var declared []*resource
	if operation == "check" || operation == "preview" || operation == "up" {
		if d.program, declared, err = readProgram(programPath); err != nil || operation == "check" {
			return err
		}
	}
	if d.state, err = readState(statePath); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// It takes secrets, references, old inputs, and old inputs in deletions.
	if _, err := d.ask("Configure", message{}.bool(3, 1).bool(4, 1).bool(5, 1).bool(6, 1)); err != nil {
		return err
	}
	if d.journal.file, err = os.Create(statePath + ".journal"); err != nil {
		return err
	}
	defer os.Remove(statePath + ".journal")
	switch operation {
	case "refresh":
		err = each(d.state.apart(), d.refresh)
	case "destroy":
		err = each(d.state.backwards(), func(r *resource) error { return d.change("Delete", r, r) })
	default: // nothing is deleted: the program's writer takes nothing away
		err = each(declared, d.register)
		d.state.resources = declared
	}
	switch {
	case err != nil || d.preview:
		return err
	case d.changed.Load():
		return d.state.write(statePath)
	}
	return write(statePath+".history", []byte("nothing changed\n"))
}
