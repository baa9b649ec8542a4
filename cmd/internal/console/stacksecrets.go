package console

import (
	"errors"
	"fmt"
	"io"

	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// NewManager makes the manager that a stack is to change to. adopt puts it into the stack's settings, and says what it
// is.
func (a *Console) NewManager(provider, stack string) (next secrets.Manager, adopt func(*project.Settings) string,
	err error) {
	if !secrets.IsKeyURL(provider) {
		passphrase, err := a.newPassphrase(stack)
		if err != nil {
			return nil, nil, err
		}
		m, err := secrets.NewPassphrase(&a.keys, passphrase)
		return m, func(s *project.Settings) string {
			s.EncryptionSalt, s.SecretsProvider, s.EncryptedKey = m.Salt(), "", ""
			return "the new passphrase"
		}, err
	}
	var o secrets.Options
	a.withKeys(&o)
	m, err := secrets.NewCloud(provider, "", o)
	if err != nil {
		return nil, nil, err
	}
	if _, err := m.Encrypt("pulumi"); err != nil { // makes the data key, or proves that the service will not
		return nil, nil, err
	}
	return m, func(s *project.Settings) string {
		s.EncryptionSalt, s.SecretsProvider, s.EncryptedKey = "", m.URL(), m.EncryptedKey()
		return "the key " + m.URL()
	}, nil
}

// newPassphrase comes from a person or from the first line of standard input.
func (a *Console) newPassphrase(stack string) (string, error) {
	if a.Interactive() && a.Streams.ReadPassword != nil {
		return a.askPassphrase(stack, secrets.Purpose{New: true})
	}
	line, err := ReadLine(a.Streams.In)
	if line == "" {
		if err == nil || errors.Is(err, io.EOF) {
			err = errors.New("it is empty")
		}
		return "", fmt.Errorf("read the new passphrase from standard input: %w", err)
	}
	return line, nil
}
