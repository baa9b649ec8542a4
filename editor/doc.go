// Package editor answers an editor's questions about a program: its diagnostics, completions, definitions and so on. It
// knows no protocol: positions are 0-based byte offsets, answers are plain values.
//
// A Session holds the open texts. Each edit makes a new Snapshot, which is immutable; every feature is a function of a
// snapshot, a file and an offset, and has a file of its own. An Opener turns a text into a program. The command line
// implements it, so that editors and commands see the same program.
//
// The package starts no process, opens no socket, and writes nothing. Features may be called from several goroutines.
//
// session.go has sessions, snapshots and the check of a program. These files serve several features: at.go finds the
// syntax at a position, names.go the declarations and uses of a name, expression.go prints expressions, and
// complete_section.go follows the schema of the language's keys, which jsonschema*.go write. complete*.go complete,
// action*.go offer changes (actions.go has the edits of texts that all of them use), tokenparts.go and tokens.go color,
// and settings.go answers in the files of stacks and in environments.
//
// The ranges of a tree are those of parts of a text (see parser.Document), answers have ranges of the whole text, and
// Program.location converts the one into the other.
package editor
