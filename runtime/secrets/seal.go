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

// seal turns plain text into a value text and back, with AES-256-GCM (F4.2, F4.3).
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

// Decrypt opens a value text. It returns an error for text in another form, by another key, or with damage.
func (s seal) Decrypt(ciphertext string) (string, error) {
	version, rest, _ := strings.Cut(ciphertext, ":")
	nonceText, sealedText, ok := strings.Cut(rest, ":")
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
		return "", errors.New("the ciphertext cannot be opened: it is damaged or was sealed with another key")
	}
	return string(plain), nil
}

// deferred is a manager that asks for its key when the first secret is sealed or opened. Without a record of the key it
// creates one when the first secret is sealed; until then its Type is empty. After a failure every use returns the same
// error, but the state stays readable (F4.6).
type deferred struct {
	kind    string // of the manager, once there is a record
	missing error  // is returned for a secret to be opened without a record
	// ask returns the key of a record, or a new key and its record if that is empty. sealing is false if it is needed
	// for opening.
	ask func(record string, sealing bool) (key *seal, now string, err error)

	mu     sync.Mutex // guards the fields below; held while asking, so that concurrent callers ask once
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

// Type returns the kind of the manager once there is a record, else an empty text.
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
