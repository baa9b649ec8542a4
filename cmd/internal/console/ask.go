package console

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/yamlhost/yamlhost/runtime/secrets"
)

// ErrDeclined ends a command that a person answered with no: it bails without another word (E8.27).
var ErrDeclined = &ExitError{Code: CodeError, Cause: errors.New("declined, nothing was changed")}

// Confirm asks a yes-or-no question. Only yes means yes.
func (a *Console) Confirm(question string) error {
	fmt.Fprintf(a.Streams.Err, "%s (yes/no): ", question)
	line, _ := a.Answer() // no answer is a no
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return ErrDeclined
}

// ConfirmDetails is Confirm for a question that can be asked for more: details tells it, and the question comes again.
func (a *Console) ConfirmDetails(question string, details func()) error {
	for {
		fmt.Fprintf(a.Streams.Err, "%s (yes/no/details): ", question)
		line, err := a.Answer()
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return nil
		case "d", "details":
			if err == nil {
				details()
				continue
			}
		}
		return ErrDeclined
	}
}

// Answer is a line that a person enters; an interrupt is errDeclined.
func (a *Console) Answer() (string, error) {
	return a.awaitInput(func() (string, error) { return ReadLine(a.Streams.In) })
}

// awaitInput is what a person enters; an interrupt is errDeclined. The one who reads cannot be called off: after an
// interrupt it is left to the end of the process.
func (a *Console) awaitInput(input func() (string, error)) (string, error) {
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
	case <-a.Signals.First:
		return "", ErrDeclined
	}
}

// ReadLine reads up to a line break, byte by byte so that nothing behind it is swallowed.
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

// passphrases is where a stack's passphrase comes from (F4.5): the environment, a file, or a person, in this order.
func (a *Console) passphrases(stack string) secrets.PassphraseSource {
	var prompt func(secrets.Purpose) (string, error)
	if a.Interactive() && a.Streams.ReadPassword != nil {
		prompt = func(p secrets.Purpose) (string, error) { return a.askPassphrase(stack, p) }
	}
	readFile := func(path string) ([]byte, error) { return os.ReadFile(a.Path(path)) }
	return secrets.PassphraseFrom(a.World.Lookup, readFile, prompt)
}

// HiddenAnswer asks for a line that is not shown while a person enters it; an interrupt is ErrDeclined. It needs
// Streams.ReadPassword.
func (a *Console) HiddenAnswer(question string) (string, error) {
	fmt.Fprint(a.Streams.Err, question)
	answer, err := a.awaitInput(a.Streams.ReadPassword)
	if errors.Is(err, ErrDeclined) && a.Streams.Restore != nil {
		a.Streams.Restore() // or nobody would see what is typed from now on
	}
	fmt.Fprintln(a.Streams.Err)
	return answer, err
}

func (a *Console) askPassphrase(stack string, p secrets.Purpose) (string, error) {
	ask := a.HiddenAnswer
	if !p.New {
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

// StandardInput is all of the standard input, for values that are not on the command line (F3.15).
func (a *Console) StandardInput() (string, error) {
	text, err := io.ReadAll(bufio.NewReader(a.Streams.In))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	return string(text), nil
}
