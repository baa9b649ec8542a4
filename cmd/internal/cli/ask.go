package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/yamlhost/yamlhost/runtime/secrets"
)

// errDeclined ends a command that a person answered with no: it bails without another word (E8.27).
var errDeclined = &exitError{code: codeError, cause: errors.New("declined, nothing was changed")}

// confirm asks a yes-or-no question. Only yes means yes.
func (a *app) confirm(question string) error {
	fmt.Fprintf(a.streams.Err, "%s (yes/no): ", question)
	line, _ := a.answer() // no answer is a no
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return errDeclined
}

// answer is a line that a person enters; an interrupt is errDeclined.
func (a *app) answer() (string, error) {
	return a.awaitInput(func() (string, error) { return readLine(a.streams.In) })
}

// awaitInput is what a person enters; an interrupt is errDeclined. The one who reads cannot be called off: after an
// interrupt it is left to the end of the process.
func (a *app) awaitInput(input func() (string, error)) (string, error) {
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
	case <-a.signals.first:
		return "", errDeclined
	}
}

// readLine reads up to a line break, byte by byte so that nothing behind it is swallowed.
func readLine(r io.Reader) (string, error) {
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
func (a *app) passphrases(stack string) secrets.PassphraseSource {
	var prompt func(secrets.Purpose) (string, error)
	if a.interactive() && a.streams.ReadPassword != nil {
		prompt = func(p secrets.Purpose) (string, error) { return a.askPassphrase(stack, p) }
	}
	readFile := func(path string) ([]byte, error) { return os.ReadFile(a.path(path)) }
	return secrets.PassphraseFrom(a.world.lookup, readFile, prompt)
}

func (a *app) askPassphrase(stack string, p secrets.Purpose) (string, error) {
	ask := func(text string) (string, error) {
		fmt.Fprint(a.streams.Err, text)
		answer, err := a.awaitInput(a.streams.ReadPassword)
		if errors.Is(err, errDeclined) && a.streams.Restore != nil {
			a.streams.Restore() // or nobody would see what is typed from now on
		}
		fmt.Fprintln(a.streams.Err)
		return answer, err
	}
	if !p.New {
		return ask(fmt.Sprintf("Enter the passphrase of stack %s\n    (set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE to remember): ", stack))
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

// standardInput is all of the standard input, for values that are not on the command line (F3.15).
func (a *app) standardInput() (string, error) {
	text, err := io.ReadAll(bufio.NewReader(a.streams.In))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	return string(text), nil
}
