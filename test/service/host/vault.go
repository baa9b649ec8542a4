package host

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"net/http"
)

// vault encrypts the secrets of a stack.
type vault struct{ aead cipher.AEAD }

func newVault(key []byte) (*vault, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	return &vault{aead}, err
}

func (v *vault) seal(stack string, plain []byte) ([]byte, error) {
	nonce := make([]byte, v.aead.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	return v.aead.Seal(nonce, nonce, plain, []byte(stack)), nil
}

func (v *vault) open(stack string, sealed []byte) ([]byte, error) {
	n := v.aead.NonceSize()
	if len(sealed) < n {
		return nil, fail(http.StatusBadRequest, "invalid ciphertext")
	}
	plain, err := v.aead.Open([]byte{}, sealed[:n], sealed[n:], []byte(stack))
	if err != nil {
		return nil, fail(http.StatusBadRequest, "invalid ciphertext")
	}
	return plain, nil
}
