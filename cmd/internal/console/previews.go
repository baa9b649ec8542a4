package console

// Previews are the planned outputs of the stacks of one preview, if each stack runs in a process, or on a machine, of
// its own. Package operation defines their text, which has no secrets.
type Previews struct {
	Before  map[string][]byte // what others have planned, by PROJECT/STACK
	Planned []byte            // what this one plans; nil as long as it has planned nothing
}
