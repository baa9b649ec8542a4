package secrets

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Purpose is the reason for asking for a passphrase.
type Purpose struct {
	New  bool // the stack has no passphrase yet; a prompt asks twice
	Seal bool // a secret has to be sealed, not opened
}

// PassphraseSource returns the passphrase of a stack, or an error that wraps ErrNoPassphrase if there is none.
type PassphraseSource func(p Purpose) (string, error)

// ErrNoPassphrase is returned when a passphrase is needed and no source has one (F4.5, D3).
var ErrNoPassphrase = errors.New(
	"passphrase must be set with PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE " +
		"environment variables; a new stack can also use another secrets provider: " +
		"`yamlhost stack init --secrets-provider`")

// PassphraseFrom returns the passphrase from the first source (F4.5): the variable PULUMI_CONFIG_PASSPHRASE, even if it
// is empty; the trimmed content of the file named by PULUMI_CONFIG_PASSPHRASE_FILE; prompt. Each of the functions may
// be nil.
func PassphraseFrom(lookup func(name string) (string, bool), readFile func(path string) ([]byte, error),
	prompt func(Purpose) (string, error)) PassphraseSource {
	return func(p Purpose) (string, error) {
		if lookup != nil {
			if text, ok := lookup("PULUMI_CONFIG_PASSPHRASE"); ok {
				return text, nil
			}
			if path, ok := lookup("PULUMI_CONFIG_PASSPHRASE_FILE"); ok && path != "" && readFile != nil {
				return passphraseFile(path, readFile)
			}
		}
		if prompt != nil {
			return prompt(p)
		}
		return "", ErrNoPassphrase
	}
}

// Lazy is a passphrase manager that asks for its passphrase when the first secret is sealed or opened. Without a salt
// it creates one when the first secret is sealed; until then its Type is empty and its State nil. It is safe for
// concurrent use.
type Lazy struct {
	deferred
	o Options
}

var _ Manager = (*Lazy)(nil)

var errNoSalt = errors.New("the stack has no encryption salt")

// NewLazy returns a manager for a salt text, or for a new passphrase if salt is empty.
func NewLazy(salt string, o Options) *Lazy {
	l := &Lazy{deferred: deferred{kind: TypePassphrase, missing: errNoSalt, record: salt}, o: o}
	l.ask = l.askPassphrase
	return l
}

// State holds the salt, if there is one.
func (l *Lazy) State() json.RawMessage {
	salt := l.Salt()
	if salt == "" {
		return nil
	}
	return saltState(salt)
}

// Salt returns the salt text; empty while there is none.
func (l *Lazy) Salt() string { return l.kept() }

func (l *Lazy) askPassphrase(salt string, sealing bool) (*seal, string, error) {
	if l.o.Passphrase == nil {
		return nil, "", ErrNoPassphrase
	}
	text, err := l.o.Passphrase(Purpose{New: salt == "", Seal: sealing})
	if err != nil {
		return nil, "", err
	}
	var m *Passphrase
	if salt != "" {
		m, err = OpenPassphrase(l.o.Keys, salt, text)
	} else if m, err = NewPassphrase(l.o.Keys, text); err == nil && l.o.Created != nil {
		err = l.o.Created(m.Salt())
	}
	if err != nil {
		return nil, "", err
	}
	return &m.seal, m.Salt(), nil
}

func passphraseFile(path string, readFile func(string) ([]byte, error)) (string, error) {
	text, err := readFile(path)
	if err != nil {
		return "", fmt.Errorf("read the passphrase file named by PULUMI_CONFIG_PASSPHRASE_FILE: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}
