package console

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/runtime/secrets"
)

// ErrDeclined is returned when a person answers no. The command ends without a further message (E8.27).
var ErrDeclined = &ExitError{Code: CodeError, Cause: errors.New("declined, nothing was changed")}

// A Prompt asks a person questions on standard error and reads the answers from standard input.
type Prompt struct {
	streams     Streams
	screen      io.Writer       // the unfiltered standard error, for menus
	color       bool            // of standard error
	moves       bool            // the terminal can move its cursor
	present     bool            // a person can be asked
	interrupted <-chan struct{} // closed to stop waiting for an answer; may be nil
}

// Prompt returns a Prompt for this console's streams and interrupts.
func (a *Console) Prompt() Prompt {
	p := Prompt{streams: a.Streams, screen: a.Screen, color: a.Color(a.Streams.ErrTerminal), present: a.Interactive(),
		moves: a.World.Getenv("TERM") != "dumb"}
	if a.Signals != nil {
		p.interrupted = a.Signals.First
	}
	return p
}

// canHide reports whether a person can be asked for a value without showing it on the terminal.
func (p Prompt) canHide() bool { return p.present && p.streams.ReadPassword != nil }

// Confirm asks a yes-or-no question. It returns ErrDeclined for any answer but yes.
func (p Prompt) Confirm(question string) error { return p.ConfirmDetails(question, nil) }

// Confirm asks the person to confirm action, unless yes is set. Without a terminal it returns an error. action
// describes what the command would do, as in "remove a stack".
func (a *Console) Confirm(yes bool, action, question string) error {
	switch {
	case yes:
		return nil
	case !a.Interactive():
		return WithCode(CodeUsage, "--yes must be passed in to %s when running in non-interactive mode", action)
	}
	return a.Prompt().Confirm(question)
}

// ConfirmDetails is like Confirm, but the person may also answer "details": then it calls details and asks again. A nil
// details takes that answer away.
func (p Prompt) ConfirmDetails(question string, details func()) error {
	choices := "yes/no"
	if details != nil {
		choices += "/details"
	}
	for {
		fmt.Fprintf(p.streams.Err, "%s (%s): ", question, choices)
		line, err := p.Answer() // a missing answer means no
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return nil
		case "d", "details":
			if err == nil && details != nil {
				details()
				continue
			}
		}
		return ErrDeclined
	}
}

// Answer reads a line that a person enters. It returns ErrDeclined after an interrupt.
func (p Prompt) Answer() (string, error) {
	return p.await(func() (string, error) { return ReadLine(p.streams.In) })
}

// Line asks for a line, and returns it without the spaces around it. An error is returned only without a line.
func (p Prompt) Line(question string) (string, error) {
	fmt.Fprintf(p.streams.Err, "%s: ", question)
	line, err := p.Answer()
	if line = strings.TrimSpace(line); line != "" {
		err = nil
	}
	return line, err
}

// await returns the user's input, or ErrDeclined after an interrupt. The reading goroutine cannot be cancelled: after
// an interrupt it stays until the process ends.
func (p Prompt) await(input func() (string, error)) (string, error) {
	type entered struct {
		line string
		err  error
	}
	read := make(chan entered, 1)
	go func() {
		line, err := input()
		read <- entered{line, err}
	}()
	select {
	case e := <-read:
		return e.line, e.err
	case <-p.interrupted:
		return "", ErrDeclined
	}
}

// ReadLine reads up to a line break, one byte at a time so that it consumes nothing after the line.
func ReadLine(r io.Reader) (string, error) {
	var line []byte
	one := make([]byte, 1)
	for {
		n, err := r.Read(one)
		if n > 0 {
			if one[0] == '\n' {
				return strings.TrimSuffix(string(line), "\r"), nil
			}
			line = append(line, one[0])
		}
		if err != nil {
			return string(line), err
		}
	}
}

// Hidden asks for a line that is not shown while a person enters it. It returns ErrDeclined after an interrupt. Hidden
// requires Streams.ReadPassword.
func (p Prompt) Hidden(question string) (string, error) {
	fmt.Fprint(p.streams.Err, question)
	answer, err := p.await(p.streams.ReadPassword)
	if errors.Is(err, ErrDeclined) && p.streams.Restore != nil {
		p.streams.Restore() // otherwise the terminal would stay without echo
	}
	fmt.Fprintln(p.streams.Err)
	return answer, err
}

// Token asks for the access token of the service at url.
func (p Prompt) Token(url string) (string, error) {
	if !p.canHide() {
		return "", fmt.Errorf("there is no token for %s: set %s, or log in on a terminal, which asks for it", url,
			AccessToken)
	}
	token, err := p.Hidden("Enter your access token for " + url + ": ")
	if err == nil && token == "" {
		err = fmt.Errorf("without a token, %s cannot be used", url)
	}
	return strings.TrimSpace(token), err
}

// passphrase asks for the passphrase of a stack; a new one is asked for twice.
func (p Prompt) passphrase(stack string, purpose secrets.Purpose) (string, error) {
	ask := p.Hidden
	if !purpose.New {
		return ask(fmt.Sprintf(
			"Enter the passphrase of stack %s\n    (set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE to remember): ", stack))
	}
	first, err := ask(fmt.Sprintf("Enter a passphrase to protect the secrets of stack %s: ", stack))
	if err != nil {
		return "", err
	}
	second, err := ask("Enter it again: ")
	if err != nil {
		return "", err
	}
	if first != second {
		return "", errors.New("the two passphrases differ")
	}
	return first, nil
}

// answers holds the passphrases that a person has entered in this process, by stack. It is safe for concurrent use:
// concurrent callers that need the same passphrase share one question.
type answers struct {
	mu    sync.Mutex
	known map[string]string
}

// once returns the passphrase entered earlier for stack, or calls ask. A new passphrase is always asked for.
func (a *answers) once(stack string, p secrets.Purpose, ask func() (string, error)) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if text, known := a.known[stack]; known && !p.New {
		return text, nil
	}
	text, err := ask()
	if err != nil {
		return "", err
	}
	if a.known == nil {
		a.known = make(map[string]string)
	}
	a.known[stack] = text
	return text, nil
}

// StandardInput reads the whole standard input, for values that are not on the command line (F3.15).
func (p Prompt) StandardInput() (string, error) {
	text, err := io.ReadAll(bufio.NewReader(p.streams.In))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	return string(text), nil
}

// newPassphrase asks a person for a new passphrase, or else reads the first line of standard input.
func (p Prompt) newPassphrase(stack string) (string, error) {
	if p.canHide() {
		return p.passphrase(stack, secrets.Purpose{New: true})
	}
	line, err := ReadLine(p.streams.In)
	if line == "" {
		if err == nil || errors.Is(err, io.EOF) {
			err = errors.New("it is empty")
		}
		return "", fmt.Errorf("read the new passphrase from standard input: %w", err)
	}
	return line, nil
}
