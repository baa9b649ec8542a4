package secrets

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Purpose describes what a passphrase is asked for.
type Purpose struct {
	New  bool // the stack has none yet: a person should be asked twice
	Seal bool // something has to be sealed; else something has to be opened
}

// PassphraseSource gives the passphrase of a stack. It returns ErrNoPassphrase, possibly wrapped, when there is none.
type PassphraseSource func(p Purpose) (string, error)

// ErrNoPassphrase is returned when a passphrase is needed and none is given (F4.5, D3).
var ErrNoPassphrase = errors.New(
	"passphrase must be set with PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE " +
		"environment variables; a new stack can also use another secrets provider, with --secrets-provider")

// PassphraseFrom is the usual order of sources (F4.5): the variable PULUMI_CONFIG_PASSPHRASE if it is set, even to
// nothing; the trimmed content of the file that PULUMI_CONFIG_PASSPHRASE_FILE names; a person. Each of the functions
// may be nil.
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

// Lazy is a passphrase manager that asks for its passphrase when the first secret is sealed or opened, and not before.
// Without a salt it makes a new one when the first secret is sealed; until then its Type is empty and its State nil.
// Once asking has failed it stays failed: a locked manager still tells its state, and each use fails alike (F4.6).
type Lazy struct {
	o Options

	mu     sync.Mutex // guards what follows
	salt   string
	opened Manager
	failed error
}

var _ Manager = (*Lazy)(nil)

// NewLazy makes a manager for a salt text, or for a new passphrase when salt is empty.
func NewLazy(salt string, o Options) *Lazy { return &Lazy{o: o, salt: salt} }

// Type is passphrase once there is a salt, else empty.
func (l *Lazy) Type() string {
	if l.Salt() == "" {
		return ""
	}
	return TypePassphrase
}

// State holds the salt, if there is one.
func (l *Lazy) State() json.RawMessage {
	salt := l.Salt()
	if salt == "" {
		return nil
	}
	return saltState(salt)
}

// Salt is the salt text, empty while there is none.
func (l *Lazy) Salt() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.salt
}

// Encrypt seals text, after asking for the passphrase if need be.
func (l *Lazy) Encrypt(plaintext string) (string, error) {
	m, err := l.open(true)
	if err != nil {
		return "", err
	}
	return m.Encrypt(plaintext)
}

// Decrypt opens text, after asking for the passphrase if need be.
func (l *Lazy) Decrypt(ciphertext string) (string, error) {
	m, err := l.open(false)
	if err != nil {
		return "", err
	}
	return m.Decrypt(ciphertext)
}

// open holds the lock while it asks, so that a person is asked once however many secrets wait.
func (l *Lazy) open(seal bool) (Manager, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opened != nil || l.failed != nil {
		return l.opened, l.failed
	}
	if l.salt == "" && !seal {
		return nil, errors.New("the secret cannot be opened: the stack has no encryption salt")
	}
	m, err := l.ask(Purpose{New: l.salt == "", Seal: seal})
	if err != nil {
		l.failed = err
		return nil, err
	}
	l.opened, l.salt = m, m.Salt()
	return m, nil
}

func (l *Lazy) ask(p Purpose) (*Passphrase, error) {
	if l.o.Passphrase == nil {
		return nil, ErrNoPassphrase
	}
	text, err := l.o.Passphrase(p)
	if err != nil {
		return nil, err
	}
	if !p.New {
		return OpenPassphrase(l.o.Keys, l.salt, text)
	}
	m, err := NewPassphrase(l.o.Keys, text)
	if err != nil {
		return nil, err
	}
	if l.o.Created != nil {
		if err := l.o.Created(m.Salt()); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func passphraseFile(path string, readFile func(string) ([]byte, error)) (string, error) {
	text, err := readFile(path)
	if err != nil {
		return "", fmt.Errorf("read the passphrase file named by PULUMI_CONFIG_PASSPHRASE_FILE: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}
