package secrets

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
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

// Decrypt opens a value text. Text of another form, another key's text and damaged text are errors.
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
