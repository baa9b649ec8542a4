package secrets

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Key is a key that a key service keeps and never hands out: it wraps other keys. Implementations are safe for
// concurrent use. Errors name the service.
type Key interface {
	Encrypt(plain []byte) ([]byte, error)
	Decrypt(wrapped []byte) ([]byte, error)
}

// IsKeyURL reports whether a stack's secretsprovider names a key of a key service (F4.14).
func IsKeyURL(provider string) bool {
	switch provider {
	case "", "default", TypePassphrase:
		return false
	}
	return true
}

// Cloud is a manager whose data key is wrapped by a key service (F4.11). The service is asked once, when the first
// secret is sealed or opened, and not before. It is safe for concurrent use.
type Cloud struct {
	url string
	key Key
	o   Options

	mu      sync.Mutex // guards what follows
	wrapped string     // base64; empty until there is a data key
	opened  *seal
	failed  error // asking once is enough
}

var _ Manager = (*Cloud)(nil)

// NewCloud makes the manager of a wrapped data key as a stack's settings or state keep it, or of a new one if that is
// empty: it is made when the first secret is sealed. A URL that cannot be opened gives the error of Options.OpenKey,
// and without that an *UnsupportedError.
func NewCloud(url, encryptedKey string, o Options) (*Cloud, error) {
	if o.OpenKey == nil {
		return nil, &UnsupportedError{Type: TypeCloud, URL: url}
	}
	if encryptedKey != "" {
		if _, err := base64.StdEncoding.DecodeString(encryptedKey); err != nil {
			return nil, errors.New("the encrypted key of the stack is damaged: it is not base64")
		}
	}
	open := url
	if o.OverrideURL != "" {
		open = o.OverrideURL
	}
	key, err := o.OpenKey(open)
	if err != nil {
		return nil, err
	}
	return &Cloud{url: url, key: key, o: o, wrapped: encryptedKey}, nil
}

type cloudState struct {
	URL          string `json:"url"`
	EncryptedKey string `json:"encryptedkey"`
}

// Type is cloud once there is a data key, else empty.
func (c *Cloud) Type() string {
	if c.EncryptedKey() == "" {
		return ""
	}
	return TypeCloud
}

// State holds the URL and the wrapped key, if there is one (F4.11).
func (c *Cloud) State() json.RawMessage {
	key := c.EncryptedKey()
	if key == "" {
		return nil
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)               // URLs have ampersands, and others compare the text
	_ = e.Encode(cloudState{c.url, key}) // two strings
	return bytes.TrimSpace(out.Bytes())
}

// URL is where the key is.
func (c *Cloud) URL() string { return c.url }

// EncryptedKey is the wrapped data key as settings keep it, empty while there is none.
func (c *Cloud) EncryptedKey() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wrapped
}

// Encrypt seals text, after asking the service for the data key if need be.
func (c *Cloud) Encrypt(plaintext string) (string, error) {
	s, err := c.open(true)
	if err != nil {
		return "", err
	}
	return s.Encrypt(plaintext)
}

// Decrypt opens text, after asking the service for the data key if need be.
func (c *Cloud) Decrypt(ciphertext string) (string, error) {
	s, err := c.open(false)
	if err != nil {
		return "", err
	}
	return s.Decrypt(ciphertext)
}

func (c *Cloud) open(sealing bool) (*seal, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opened != nil || c.failed != nil {
		return c.opened, c.failed
	}
	var data []byte
	var err error
	switch {
	case c.wrapped != "":
		data, err = c.unwrap()
	case !sealing:
		return nil, errors.New("the secret cannot be opened: the stack has no encrypted key")
	default:
		data, err = c.create()
	}
	if err == nil && len(data) != keySize {
		err = fmt.Errorf("the data key of the stack has %d bytes instead of %d", len(data), keySize)
	}
	var s seal
	if err == nil {
		s, err = newSeal(data)
	}
	if err != nil {
		c.failed = err
		return nil, err
	}
	c.opened = &s
	return c.opened, nil
}

// doubly reports whether the service's answer is wrapped in base64 once more: the stock host has it so for Azure
// (F4.11).
func (c *Cloud) doubly() bool { return strings.HasPrefix(c.url, "azurekeyvault://") }

func (c *Cloud) unwrap() ([]byte, error) {
	wrapped, err := base64.StdEncoding.DecodeString(c.wrapped)
	if err != nil {
		return nil, errors.New("the encrypted key of the stack is damaged: it is not base64")
	}
	if c.doubly() { // one release of the stock host has left it out
		if inner, err := base64.RawURLEncoding.DecodeString(string(wrapped)); err == nil {
			if data, err := c.key.Decrypt(inner); err == nil {
				return data, nil
			}
		}
	}
	data, err := c.key.Decrypt(wrapped)
	if err != nil {
		return nil, fmt.Errorf("the data key of the stack cannot be unwrapped: %w", err)
	}
	return data, nil
}

func (c *Cloud) create() ([]byte, error) {
	data := make([]byte, keySize)
	rand.Read(data) // never fails: the process ends when the system has no randomness
	wrapped, err := c.key.Encrypt(data)
	if err != nil {
		return nil, fmt.Errorf("the data key of the stack cannot be wrapped: %w", err)
	}
	if c.doubly() {
		wrapped = base64.RawURLEncoding.AppendEncode(nil, wrapped)
	}
	text := base64.StdEncoding.EncodeToString(wrapped)
	if c.o.CreatedKey != nil {
		if err := c.o.CreatedKey(c.url, text); err != nil {
			return nil, err
		}
	}
	c.wrapped = text
	return data, nil
}
