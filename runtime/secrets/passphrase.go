package secrets

import (
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
)

const (
	iterations = 1_000_000 // F4.1
	keySize    = 32
	saltSize   = 8
	nonceSize  = 12
	tag        = "v1"
	verifier   = "pulumi" // plain text of the last part of a salt text, which verifies a passphrase (F4.4)
)

// ErrIncorrectPassphrase is returned when the passphrase does not match the salt (F4.5).
var ErrIncorrectPassphrase = errors.New("incorrect passphrase")

// Keyring caches derived keys by salt and passphrase (F4.1). The zero value is ready for use. It is safe for concurrent
// use; concurrent callers with the same key share one derivation.
type Keyring struct {
	mu   sync.Mutex
	keys map[keyName]func() (cipher.AEAD, error)
}

type keyName struct{ salt, passphrase string }

func (k *Keyring) derive(salt []byte, passphrase string) (cipher.AEAD, error) {
	if k == nil {
		return deriveKey(salt, passphrase)
	}
	k.mu.Lock()
	if k.keys == nil {
		k.keys = map[keyName]func() (cipher.AEAD, error){}
	}
	name := keyName{string(salt), passphrase}
	derived := k.keys[name]
	if derived == nil {
		derived = sync.OnceValues(func() (cipher.AEAD, error) { return deriveKey(salt, passphrase) })
		k.keys[name] = derived
	}
	k.mu.Unlock()
	return derived()
}

func deriveKey(salt []byte, passphrase string) (cipher.AEAD, error) {
	key, err := pbkdf2.Key(sha256.New, passphrase, salt, iterations, keySize)
	var s seal
	if err == nil {
		s, err = newSeal(key)
	}
	if err != nil {
		return nil, fmt.Errorf("derive a key from the passphrase: %w", err)
	}
	return s.aead, nil
}

// Passphrase is a manager whose key comes from a passphrase and a salt (F4.1–F4.6).
type Passphrase struct {
	salt  string // F4.4
	state json.RawMessage
	seal
}

var _ Manager = (*Passphrase)(nil)

// OpenPassphrase returns the manager of an existing salt. It returns ErrIncorrectPassphrase for a wrong passphrase. It
// takes about half a second if keys does not hold the key yet; keys may be nil.
func OpenPassphrase(keys *Keyring, salt, passphrase string) (*Passphrase, error) {
	parsed, err := parseSalt(salt)
	if err != nil {
		return nil, err
	}
	aead, err := keys.derive(parsed.salt, passphrase)
	if err != nil {
		return nil, err
	}
	p := &Passphrase{salt: salt, state: saltState(salt), seal: seal{aead}}
	if plain, err := p.Decrypt(parsed.verifier); err != nil || plain != verifier {
		return nil, ErrIncorrectPassphrase
	}
	return p, nil
}

// NewPassphrase returns a manager with a new random salt.
func NewPassphrase(keys *Keyring, passphrase string) (*Passphrase, error) {
	salt := make([]byte, saltSize)
	rand.Read(salt) // never fails: the process ends when the system has no randomness
	aead, err := keys.derive(salt, passphrase)
	if err != nil {
		return nil, err
	}
	p := &Passphrase{seal: seal{aead}}
	sealed, err := p.Encrypt(verifier)
	if err != nil {
		return nil, err
	}
	p.salt = tag + ":" + base64.StdEncoding.EncodeToString(salt) + ":" + sealed
	p.state = saltState(p.salt)
	return p, nil
}

// Salt returns the salt text for the stack's settings file (encryptionsalt).
func (p *Passphrase) Salt() string { return p.salt }

// Type is passphrase.
func (p *Passphrase) Type() string { return TypePassphrase }

// State holds the salt (F4.6).
func (p *Passphrase) State() json.RawMessage { return p.state }

type saltText struct {
	salt     []byte
	verifier string // ciphertext of the constant verifier
}

func parseSalt(text string) (saltText, error) {
	version, rest, _ := strings.Cut(text, ":")
	salt64, sealed, ok := strings.Cut(rest, ":")
	if !ok || strings.Count(sealed, ":") != 2 {
		return saltText{}, errors.New("the encryption salt is damaged: it should have five parts separated by colons")
	}
	if version != tag {
		return saltText{}, fmt.Errorf("the encryption salt is of the form %q, which is not supported by this build", version)
	}
	salt, err := base64.StdEncoding.DecodeString(salt64)
	if err != nil || len(salt) == 0 {
		return saltText{}, errors.New("the encryption salt is damaged: its second part is not base64")
	}
	return saltText{salt: salt, verifier: sealed}, nil
}

func saltState(salt string) json.RawMessage {
	// The salt is base64 with colons, or comes from JSON: marshalling cannot fail.
	text, _ := json.Marshal(struct {
		Salt string `json:"salt"`
	}{salt})
	return text
}
