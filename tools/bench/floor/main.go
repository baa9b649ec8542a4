// Command floor does only the work that every host of this protocol must do: it decodes a program once, reads and
// writes a state once, makes the calls that an operation needs, and syncs the data that must be durable. Other
// figures are multiples of its cost.
//
//	floor [-huge] [-plugin FILE] check|preview|up|refresh|destroy PROGRAM STATE
//
// Without a plugin, the provider is a function in this process, and there is no gRPC. PROGRAM is one of
// tools/bench/program: references, fn::join and fn::sha1 are all that is evaluated. STATE is a checkpoint in Pulumi's
// form, which need not exist. It checks nothing, reports nothing and recovers nothing: a fault is a panic.
package main

import (
	"flag"
	"os"
	"runtime/debug"

	"github.com/yamlhost/yamlhost/internal/memory"
)

func main() {
	plugin := flag.String("plugin", "", "the provider's executable; empty for a function in this process")
	huge := flag.Bool("huge", false, "ask for huge pages, as the host does")
	flag.Parse()
	debug.SetGCPercent(300) // as much garbage as the host allows itself
	if *huge {
		memory.Bound(func(string) string { return "" })
		memory.Expect(256 << 20)
	}
	operation, ask := flag.Arg(0), provider(local)
	if *plugin != "" && operation != "check" {
		started, stop := start(*plugin)
		defer stop()
		ask = started
	}
	operate(ask, operation, flag.Arg(1), flag.Arg(2))
}

func operate(ask provider, operation, programPath, statePath string) {
	d := &deployment{preview: operation == "preview", ask: ask}
	if operation == "check" || operation == "preview" || operation == "up" {
		d.program = readProgram(programPath)
	}
	if operation == "check" {
		return
	}
	d.state = readState(statePath)
	// It takes secrets, references, old inputs, and old inputs in deletions.
	d.ask("Configure", message{}.bool(3, true).bool(4, true).bool(5, true).bool(6, true))
	d.journal.file = must(os.Create(statePath + ".journal"))
	defer os.Remove(statePath + ".journal")
	switch operation {
	case "refresh":
		each(d.state.resources, func(*resource) []*resource { return nil }, d.refresh)
	case "destroy":
		users := func(r *resource) []*resource { return r.users }
		each(d.state.resources, users, func(r *resource) { d.change("Delete", r, r) })
		d.state.resources = nil
	default: // nothing is deleted, because the program only grows
		each(d.program.resources, func(r *resource) []*resource { return r.needs }, d.register)
		d.state.resources = d.program.resources
	}
	if d.changed.Load() {
		d.state.write(statePath)
	} else if !d.preview {
		write(statePath+".history", []byte("nothing changed\n"))
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
