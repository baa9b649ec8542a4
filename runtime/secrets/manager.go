package secrets

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
)

// Manager seals and opens text. Implementations are safe for concurrent use.
type Manager interface {
	// Type is the manager's type in the state file: passphrase, b64, …; empty while it has no record (see Lazy).
	Type() string
	// State is the manager's record in the state file; nil if there is none. The caller must not modify it.
	State() json.RawMessage
	// Encrypt seals text. The ciphertext differs from call to call: never compare ciphertexts (F0.5).
	Encrypt(plaintext string) (string, error)
	// Decrypt opens a ciphertext from Encrypt.
	Decrypt(ciphertext string) (string, error)
}

// Batch is a Manager that seals and opens many secrets faster in one call than one by one.
type Batch interface {
	Manager
	// Prepare announces plain texts for later calls of Encrypt. A text that is sealed twice is announced twice.
	Prepare(plaintexts []string)
	// Expect announces ciphertexts for later calls of Decrypt. Some may be invalid.
	Expect(ciphertexts []string)
}

// SameState reports whether two records of managers are equal as JSON values.
func SameState(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// The types of managers as state files name them.
const (
	TypePassphrase = "passphrase"
	TypeB64        = "b64"
	TypeCloud      = "cloud"
	TypeService    = "service"
)

// Options are the settings for opening a manager.
type Options struct {
	Keys       *Keyring         // caches derived keys; may be nil
	Passphrase PassphraseSource // called when a passphrase is needed; nil for none
	// Created is called with the salt of a new passphrase before any ciphertext is returned, so that the salt can be
	// stored first (F4.14). It may be nil.
	Created func(salt string) error

	// OpenKey opens the key of a key service by its URL, without calling the service; nil if unsupported (F4.11).
	OpenKey func(url string) (Key, error)
	// CreatedKey is called with a new wrapped data key before any ciphertext is returned. It may be nil.
	CreatedKey func(url, encryptedKey string) error
	// OpenService returns the manager for a record of the type service, without calling the service; nil if unsupported
	// (F4.12).
	OpenService func(state json.RawMessage) (Manager, error)
	// OverrideURL replaces the URL of the key for opening it, if it is not empty (F4.11).
	OverrideURL string
}

// Open returns the manager for a state file's secrets provider (F5.5). The manager asks for a passphrase, and reports a
// wrong one, only when the first secret is sealed or opened, so that the state itself stays readable (F4.6). typ is
// empty for a state without secrets. Open returns an *UnsupportedError for types that this build does not support.
func Open(typ string, state json.RawMessage, o Options) (Manager, error) {
	switch typ {
	case "":
		return NewLazy("", o), nil
	case TypePassphrase:
		var kept struct {
			Salt string `json:"salt"`
		}
		if err := json.Unmarshal(state, &kept); err != nil || kept.Salt == "" {
			return nil, fmt.Errorf("the state's passphrase settings hold no salt")
		}
		if _, err := parseSalt(kept.Salt); err != nil {
			return nil, err
		}
		return NewLazy(kept.Salt, o), nil
	case TypeB64:
		return B64{}, nil
	case TypeCloud:
		if o.OpenKey == nil {
			return nil, &UnsupportedError{Type: typ}
		}
		var kept cloudState
		if err := json.Unmarshal(state, &kept); err != nil || kept.URL == "" || kept.EncryptedKey == "" {
			return nil, fmt.Errorf("the state's settings of its key service hold no URL or no key")
		}
		return NewCloud(kept.URL, kept.EncryptedKey, o)
	case TypeService:
		if o.OpenService == nil {
			return nil, &UnsupportedError{Type: typ}
		}
		return o.OpenService(state)
	default:
		return nil, &UnsupportedError{Type: typ}
	}
}

// ForStack returns the manager for a stack's settings file: provider, salt and encryptedKey are its secretsprovider,
// encryptionsalt and encryptedkey, each empty when absent (F4.14).
func ForStack(provider, salt, encryptedKey string, o Options) (Manager, error) {
	if IsKeyURL(provider) {
		return NewCloud(provider, encryptedKey, o)
	}
	if salt != "" {
		if _, err := parseSalt(salt); err != nil {
			return nil, err
		}
	}
	return NewLazy(salt, o), nil
}

// UnsupportedError is returned for a type of manager that this build does not support (F4.11, F4.12).
type UnsupportedError struct {
	Type string
	URL  string // from the stack's settings; empty if it comes from a state file
}

// Error names the type of manager and how to change it.
func (e *UnsupportedError) Error() string {
	const way = "; secrets of this kind can be opened by the Pulumi CLI, which can also change the stack to a " +
		"passphrase: pulumi stack change-secrets-provider passphrase"
	switch {
	case e.Type == TypeService:
		return "secrets of this stack are kept by Pulumi Cloud, which is not supported by this build" + way
	case e.URL != "":
		return fmt.Sprintf("the secrets provider %q is not supported by this build", e.URL) + way
	case e.Type == TypeCloud:
		return "secrets of this stack are kept by a cloud key service, which is not supported by this build" + way
	default:
		return fmt.Sprintf("secrets of the kind %q are not supported by this build", e.Type) + way
	}
}

// B64 does not encrypt: its ciphertext is the base64 of the plain text (F4.13). It is meant for tests.
type B64 struct{}

var _ Manager = B64{}

// Type is b64.
func (B64) Type() string { return TypeB64 }

// State is nil: there is nothing to keep.
func (B64) State() json.RawMessage { return nil }

// Encrypt never fails.
func (B64) Encrypt(plaintext string) (string, error) {
	return base64.StdEncoding.EncodeToString([]byte(plaintext)), nil
}

// Decrypt fails for text that is not base64.
func (B64) Decrypt(ciphertext string) (string, error) {
	plain, err := base64.StdEncoding.DecodeString(ciphertext)
	if err != nil {
		return "", fmt.Errorf("the ciphertext is damaged: it is not base64")
	}
	return string(plain), nil
}
