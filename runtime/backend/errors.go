package backend

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// AnotherBackend is the advice of errors about the URL of a backend, wherever that comes from.
const AnotherBackend = "`yamlhost login` or PULUMI_BACKEND_URL chooses another"

// UnsupportedURLError is returned when this build has no backend for a URL.
type UnsupportedURLError struct {
	URL string
	Way string // what to do instead; empty for the usual advice
}

func (e *UnsupportedURLError) Error() string {
	way := cmp.Or(e.Way, "it can keep state in a folder: file://~ or file:///path")
	return fmt.Sprintf("the backend %q is not supported by this build; %s. %s",
		PublicURL(e.URL), way, AnotherBackend)
}

// NoVersionError is returned for a version of a state that a service does not have.
type NoVersionError struct {
	Ref     Ref
	Version int
}

func (e *NoVersionError) Error() string {
	return fmt.Sprintf("the stack %q has no version %d; `yamlhost stack history` lists them", e.Ref.Stack, e.Version)
}

// NotFoundError is returned when there is no such stack.
type NotFoundError struct{ Ref Ref }

func (e *NotFoundError) Error() string {
	text := fmt.Sprintf("there is no stack %q in project %q", e.Ref.Stack, e.Ref.Project)
	if e.Ref.Owner != "" {
		text += fmt.Sprintf(" of organization %q", e.Ref.Owner)
	}
	return text
}

// TwinError is returned when the file system does not distinguish letter case, so that the files of a stack would be
// those of another one, whose name differs only in that.
type TwinError struct {
	Ref  Ref
	Twin Ref
}

func (e *TwinError) Error() string {
	what, name, twin := "stack", e.Ref.Stack, e.Twin.Stack
	if e.Ref.Project != e.Twin.Project {
		what, name, twin = "project", e.Ref.Project, e.Twin.Project
	}
	return fmt.Sprintf("there is no %s %q: the file system of the backend does not distinguish letter case, and has %q. "+
		"Write that name, or for another %s one that differs in more than letter case", what, name, twin, what)
}

// ExistsError is returned when there is such a stack already. Pulumi's automation packages recognize it by the words
// "stack" and "already exists".
type ExistsError struct{ Ref Ref }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("the stack %q of project %q already exists", e.Ref.Stack, e.Ref.Project)
}

// LostError is returned when a stack has no state, although its history and a copy show that it has resources. Nothing
// is written when it is returned: a new stack of that name would create all of them again.
type LostError struct {
	Ref      Ref
	History  string // the folder of the history
	Previous *Previous
}

func (e *LostError) Error() string {
	return fmt.Sprintf("the state of the stack %q is missing, but its history exists\n%s\nTo begin anew "+
		"instead, move %s away.",
		e.Ref.Stack, e.Previous.advice(), e.History)
}

// NotEmptyError is returned when a stack still has resources and was not removed.
type NotEmptyError struct {
	Ref       Ref
	Resources int // 0 if the service that refuses does not say how many
}

func (e *NotEmptyError) Error() string {
	const advice = "; destroy them first, or remove the stack with --force and leave them behind"
	switch e.Resources {
	case 0:
		return fmt.Sprintf("the stack %q still has resources", e.Ref.Stack) + advice
	case 1:
		return fmt.Sprintf("the stack %q still has 1 resource", e.Ref.Stack) + strings.ReplaceAll(advice, "them", "it")
	}
	return fmt.Sprintf("the stack %q still has %d resources", e.Ref.Stack, e.Resources) + advice
}

// LayoutError is returned when the folder is of a layout that this build does not know (F6.3, F6.5).
type LayoutError struct {
	Path    string
	Problem string
	Legacy  bool // it is the layout without projects, which Upgrade converts
}

func (e *LayoutError) Error() string { return fmt.Sprintf("%s: %s", e.Path, e.Problem) }

// CorruptError is returned when a file of the backend cannot be understood. Nothing is written when it is returned.
type CorruptError struct {
	Path string
	Err  error // often a *state.SyntaxError, which has the position
	// Previous is a sound copy of the state; nil if there is none, or if the file is not a state.
	Previous *Previous

	unsure bool // see Unknown
}

func (e *CorruptError) Error() string {
	text := fmt.Sprintf("the file %s is damaged: %v", e.Path, e.Err)
	if e.Unknown() {
		text = fmt.Sprintf("cannot read the state %s: %v", e.Path, e.Err)
		if p := e.Previous; p != nil {
			text += fmt.Sprintf("\nIf it is damaged instead, `yamlhost state repair --previous` puts back the newest sound "+
				"copy: %s, of %s (resources: %d).", p.Path, p.Written.Format(time.RFC3339), p.Resources)
		}
		return text
	}
	if p := e.Previous; p != nil {
		text += "\n" + p.advice()
	}
	return text
}

// Unknown reports whether the file may be sound, but of a version that this build does not know, or with secrets that
// another passphrase opens.
func (e *CorruptError) Unknown() bool { return e.unsure || errors.As(e.Err, new(*state.VersionError)) }

// advice returns the part of an error message that explains how to use the copy.
func (p *Previous) advice() string {
	if p.Mended {
		return "`yamlhost state repair` corrects the bit; nothing is lost (resources: " + fmt.Sprint(p.Resources) +
			"). If somebody has edited the file by hand, the member yamlhostChecksum at its end has to go."
	}
	return fmt.Sprintf("There is a sound copy of the state: %s, of %s (resources: %d).\n`yamlhost state repair` "+
		"shows that and puts it back; then `yamlhost refresh`, because it lacks later changes.",
		p.Path, p.Written.Format(time.RFC3339), p.Resources)
}

// Unwrap gives the cause.
func (e *CorruptError) Unwrap() error { return e.Err }

// DamagedJournalError is returned when the journal of an interrupted run is damaged, and its readable parts depend on
// lost ones. Nothing is written when it is returned.
type DamagedJournalError struct {
	Path   string
	Damage *journal.DamageError
}

func (e *DamagedJournalError) Error() string {
	return fmt.Sprintf("%s: %v\n`yamlhost state repair` shows the readable part, and continues with it.", e.Path,
		e.Damage)
}

// Unwrap gives the cause.
func (e *DamagedJournalError) Unwrap() error { return e.Damage }

// UnreadableError is returned when a state was not written because its text cannot be read back. The former state and
// the journal stay.
type UnreadableError struct {
	Path string
	Err  error
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("the state %s was not replaced: the new state could not be read back: %v",
		e.Path, e.Err)
}

// Unwrap gives the cause.
func (e *UnreadableError) Unwrap() error { return e.Err }

// LockedError is returned when others hold the stack's lock (F6.9).
type LockedError struct {
	Ref   Ref
	Locks []Lock
}

// Lock is one lock file.
type Lock struct {
	Path      string
	PID       int
	User      string
	Host      string
	Timestamp time.Time
	Owner     Owner // whether the process that took it still runs
	Foreign   bool  // not taken by yamlhost, but by the Pulumi CLI or another tool
	// Operation is the operation that holds a stack in a service, where there is no lock to delete; else empty.
	Operation string
	// Until is when the lock expires unless it is renewed; zero if it does not expire.
	Until time.Time

	file lockFile // zero in a service
}

func (e *LockedError) Error() string {
	var b strings.Builder
	if len(e.Locks) == 1 && e.Locks[0].Operation != "" {
		l := e.Locks[0]
		fmt.Fprintf(&b, "the stack %q is held by %s", e.Ref.Stack, l.Operation)
		if l.User != "" {
			fmt.Fprintf(&b, " of %s since %s", l.User, l.Timestamp.Format(time.RFC3339))
		}
		fmt.Fprintf(&b, ". Either wait for it to end, or end it with 'cancel'. Without renewal its lease runs out within a "+
			"few minutes.\n  %s", l.Path)
		return b.String()
	}
	fmt.Fprintf(&b,
		"the stack is currently locked by %d lock(s). Either wait for the other process(es) to end or delete the "+
			"lock with 'cancel'.", len(e.Locks))
	for _, l := range e.Locks {
		if l.PID == 0 && l.Host == "" && l.User == "" {
			fmt.Fprintf(&b, "\n  %s: it is damaged, or another program's, and does not say who made it", l.Path)
			continue
		}
		fmt.Fprintf(&b, "\n  %s: created by %s@%s (pid %d) at %s", l.Path, l.User, l.Host, l.PID,
			l.Timestamp.Format(time.RFC3339))
		switch l.Owner {
		case OwnerGone:
			b.WriteString("; that process has ended")
		case OwnerStopped:
			fmt.Fprintf(&b, "; that process is stopped: let it go on with 'kill -CONT %d', or end it with 'kill -9 %d'", l.PID,
				l.PID)
		case OwnerRunning:
			b.WriteString("; that process still runs")
		}
		if !l.Until.IsZero() {
			fmt.Fprintf(&b, "; renewed as long as that process runs, else it runs out at %s", l.Until.Format(time.RFC3339))
		}
	}
	return b.String()
}

// HeldUpError is returned when another process has begun to take a stack's lock, or to remove a file of the stack, and
// makes no progress: it is stopped, or its disk hangs. Nothing was done.
type HeldUpError struct {
	Ref    Ref
	Folder string // of the locks
	PID    int    // of the process; 0 if unknown
}

func (e *HeldUpError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf(
			"another process has begun a change to the stack %q and makes no progress; it holds the folder %s. "+
				"Let it go on, or end it, and run this command again. Nothing was done.", e.Ref.Stack, e.Folder)
	}
	return fmt.Sprintf(
		"the process %d has begun a change to the stack %q and makes no progress. Let it go on with "+
			"'kill -CONT %d', or end it with 'kill -9 %d', and run this command again. Nothing was done.", e.PID, e.Ref.Stack,
		e.PID, e.PID)
}

// FileError is returned when a file or folder of the backend cannot be read or written.
type FileError struct {
	Doing string // such as "write the state"
	Path  string
	Err   error
}

func (e *FileError) Error() string { return e.text(true) }

// Reason returns the text of the error without the advice to run the command again.
func (e *FileError) Reason() string { return e.text(false) }

func (e *FileError) text(again bool) string {
	why := osfile.PlainError(e.Err)
	hint, repeat := "", ", and run the command again"
	if !again || strings.HasSuffix(e.Doing, "the journal") { // the end of the run reports what comes first
		repeat = ""
	}
	switch {
	case errors.Is(why, fs.ErrPermission):
		hint = "; check who owns the folder and who may write to it"
	case errors.Is(why, fs.ErrNotExist):
		hint = "; create the folder, or choose another backend with PULUMI_BACKEND_URL or login"
	case osfile.IsFull(why):
		hint = "; make room there" + repeat
	case osfile.IsReadOnly(why):
		hint = "; make the disk writable again" + repeat
	case errors.As(why, new(*awayError)) && !errors.Is(why, ErrUnprepared): // which tells what is missing
		hint = "; check the connection to the store" + repeat
	}
	return fmt.Sprintf("cannot %s %s: %v%s", e.Doing, e.Path, why, hint)
}

// Unwrap gives the cause.
func (e *FileError) Unwrap() error { return e.Err }

// fileError returns err as a *FileError; nil for nil.
func fileError(doing, path string, err error) error {
	if err == nil {
		return nil
	}
	return &FileError{Doing: doing, Path: path, Err: err}
}
