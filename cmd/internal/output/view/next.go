package view

import (
	"fmt"
	"io"
	"slices"
)

// next writes one line with the next step after an operation.
func (r report) next(w io.Writer) {
	s := r.board.summary
	if s == nil || r.o.Command == "" || r.o.Followed && s.Result != "failed" {
		return
	}
	if text := nextStep(r.o.Command, s.Planning, r.changesAnything(), s.Result); text != "" {
		fmt.Fprintln(w, r.p.paint(dim, "Next: "+text))
	}
}

// changesAnything reports whether the operation changes, or would change, any resource.
func (r report) changesAnything() bool {
	return slices.ContainsFunc(r.board.order, (*row).changes)
}

// nextStep returns the advice after a command with a result; empty where the user has nothing to do.
func nextStep(command string, planning, changes bool, result string) string {
	does := command
	if command == "preview" || command == "plan" {
		does = "up"
	}
	switch {
	case result == "failed" && planning:
		return "correct the errors; nothing was changed."
	case result == "failed":
		return fmt.Sprintf("correct the errors and run `yamlhost %s` again; what is done stays.", command)
	case result == "canceled" && !planning:
		return fmt.Sprintf("`yamlhost %s` goes on where this has stopped.", command)
	case result == "canceled":
		return ""
	case planning && changes:
		return fmt.Sprintf("`yamlhost %s` does this; nothing is changed yet.", does)
	case planning || !changes:
		return ""
	}
	switch command {
	case "refresh":
		return "`yamlhost preview` shows how what exists differs from the program."
	case "up", "run":
		return "`yamlhost stack` shows what exists now."
	}
	return ""
}
