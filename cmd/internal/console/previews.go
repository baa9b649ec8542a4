package console

// Previews are what the stacks of one preview plan where each has a process, or a machine, of its own. Their text is
// that of the package operation, and has no secrets in it.
type Previews struct {
	Before  map[string][]byte // what others have planned, by PROJECT/STACK
	Planned []byte            // what this one plans; nil as long as it has planned nothing
}
