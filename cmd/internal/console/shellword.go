package console

import (
	"path/filepath"
	"strings"

	"github.com/yamlhost/yamlhost/internal/lazyregexp"
)

// onUnix reports whether shells are those of Unix.
const onUnix = filepath.Separator == '/'

// ShellWord returns a path or a name as a word of a shell. Double quotes are for all shells, also those of Windows,
// where a path has neither quotes nor, mostly, anything else that has a meaning in them.
func ShellWord(text string) string {
	switch {
	case onUnix && strings.ContainsAny(text, "\"$!`\\"):
		return literally(text)
	case strings.ContainsAny(text, " \t()[]{}<>|&;'$*?!#~`"):
		return `"` + text + `"`
	}
	return text
}

// literally returns a text in single quotes, the only ones in which a shell replaces nothing: those of Unix, and
// PowerShell.
func literally(text string) string {
	quote := "''"
	if onUnix {
		quote = `'\''`
	}
	return "'" + strings.ReplaceAll(text, "'", quote) + "'"
}

var variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ShellAssignment returns the line that sets a variable of a shell, on Windows of PowerShell, and whether there is one:
// a shell takes a line with any other name for a command.
func ShellAssignment(name, text string) (line string, ok bool) {
	line = name + "=" + literally(text)
	if !onUnix {
		line = "$" + name + " = " + literally(text)
	}
	return line, variableName().MatchString(name)
}
