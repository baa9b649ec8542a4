package secrets

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// seal converts plain text to ciphertext, v1:<nonce>:<sealed>, and back with AES-256-GCM (F4.2, F4.3).
type seal struct{ aead cipher.AEAD }

func newSeal(key []byte) (seal, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return seal{}, err
	}
	aead, err := cipher.NewGCM(block)
	return seal{aead}, err
}

// Encrypt seals text under a new random nonce (F4.2, F4.3).
func (s seal) Encrypt(plaintext string) (string, error) {
	var nonce [nonceSize]byte
	rand.Read(nonce[:])
	sealed := s.aead.Seal(nil, nonce[:], []byte(plaintext), nil)
	enc := base64.StdEncoding
	out := make([]byte, 0, len(tag)+2+enc.EncodedLen(nonceSize)+enc.EncodedLen(len(sealed)))
	out = append(append(out, tag...), ':')
	out = append(enc.AppendEncode(out, nonce[:]), ':')
	return string(enc.AppendEncode(out, sealed)), nil
}

// Decrypt opens a ciphertext. It returns an error for a ciphertext that is damaged, of another form or by another key.
func (s seal) Decrypt(ciphertext string) (string, error) {
	version, rest, _ := strings.Cut(ciphertext, ":")
	nonceText, sealedText, ok := strings.Cut(rest, ":")
	if isForeign(ciphertext) {
		return "", errForeign
	}
	if !ok || strings.Contains(sealedText, ":") {
		return "", errors.New("the ciphertext is damaged: it should have three parts separated by colons")
	}
	if version != tag {
		return "", fmt.Errorf("the ciphertext is of the form %q, which is not supported by this build", version)
	}
	nonce, err := base64.StdEncoding.DecodeString(nonceText)
	if err != nil || len(nonce) != nonceSize {
		return "", errors.New("the ciphertext is damaged: its second part is not a nonce")
	}
	sealed, err := base64.StdEncoding.DecodeString(sealedText)
	if err != nil {
		return "", errors.New("the ciphertext is damaged: its third part is not base64")
	}
	plain, err := s.aead.Open(sealed[:0], nonce, sealed, nil)
	if err != nil {
		return "", errors.New("the ciphertext is damaged or was sealed with another key")
	}
	return string(plain), nil
}

// errForeign is the error for a text that a service has sealed with a key of its own.
var errForeign = errors.New("it was sealed by a service, and no passphrase or key of the stack opens it: set it again")

// isForeign reports whether a ciphertext has the form that services give theirs: base64 without parts.
func isForeign(ciphertext string) bool {
	sealed, err := base64.StdEncoding.DecodeString(ciphertext)
	return err == nil && len(sealed) > nonceSize
}

// deferred is a manager that obtains its key when the first secret is sealed or opened. Without a record of a key it
// creates a key when the first secret is sealed; until then its Type is empty. After a failure every call returns the
// same error, but the state stays readable (F4.6).
type deferred struct {
	kind    string // of the manager, once there is a record
	missing error  // is returned by Decrypt while there is no record
	// ask returns the key of a record. If record is empty, it creates a key and returns it with its record. sealing
	// reports whether Encrypt needs the key, not Decrypt.
	ask func(record string, sealing bool) (key *seal, now string, err error)

	mu     sync.Mutex // guards the fields below; held during ask, so that concurrent callers ask once
	record string     // empty while there is none
	opened *seal
	failed error
}

// kept returns the record; empty while there is none.
func (d *deferred) kept() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.record
}

// Type returns the type of the manager, or an empty string while there is no record.
func (d *deferred) Type() string {
	if d.kept() == "" {
		return ""
	}
	return d.kind
}

// Encrypt seals text, after asking for the key if necessary.
func (d *deferred) Encrypt(plaintext string) (string, error) {
	s, err := d.open(true)
	if err != nil {
		return "", err
	}
	return s.Encrypt(plaintext)
}

// Decrypt opens text, after asking for the key if necessary.
func (d *deferred) Decrypt(ciphertext string) (string, error) {
	if isForeign(ciphertext) {
		return "", errForeign // no passphrase helps
	}
	s, err := d.open(false)
	if err != nil {
		return "", err
	}
	return s.Decrypt(ciphertext)
}

func (d *deferred) open(sealing bool) (*seal, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.opened != nil || d.failed != nil {
		return d.opened, d.failed
	}
	if d.record == "" && !sealing {
		return nil, d.missing
	}
	key, record, err := d.ask(d.record, sealing)
	if err != nil {
		d.failed = err
		return nil, err
	}
	d.opened, d.record = key, record
	return key, nil
}
