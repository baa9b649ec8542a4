package cli

import (
	_ "embed"
	"strings"
)

//go:embed examples.txt
var exampleFile string

// example is a command line, without the program's name, and what it does.
type example struct{ line, does string }

// examples reads the examples of each command by its path without the program's name: at least two of each. A test
// compares every line with the commands and flags.
func examples() map[string][]example {
	byPath := map[string][]example{}
	path, typed := "", ""
	for line := range strings.Lines(exampleFile) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			path = strings.Trim(line, "[]")
		case line[0] == ' ':
			byPath[path] = append(byPath[path], example{typed, strings.TrimSpace(line)})
		default:
			typed = line
		}
	}
	return byPath
}
