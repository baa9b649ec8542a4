package secrets

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Key is a key inside a key service; it encrypts and decrypts data keys. Implementations are safe for concurrent use.
// Errors name the service.
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

// Cloud is a manager whose data key is wrapped by a key service (F4.11). The service is called once, when the first
// secret is sealed or opened. It is safe for concurrent use.
type Cloud struct {
	deferred // the record is the wrapped data key in base64
	url      string
	key      Key
	created  func(url, encryptedKey string) error // see Options.CreatedKey
}

var _ Manager = (*Cloud)(nil)

var errNoKey = errors.New("the stack has no encrypted key")

// NewCloud returns the manager for a wrapped data key from a stack's settings or state. If encryptedKey is empty, a new
// key is created when the first secret is sealed. NewCloud returns the error of Options.OpenKey, or an
// *UnsupportedError if OpenKey is nil.
func NewCloud(url, encryptedKey string, o Options) (*Cloud, error) {
	if o.OpenKey == nil {
		return nil, &UnsupportedError{Type: TypeCloud, URL: url}
	}
	if encryptedKey != "" {
		if _, err := base64.StdEncoding.DecodeString(encryptedKey); err != nil {
			return nil, errors.New("the encrypted key of the stack is damaged: it is not base64")
		}
	}
	key, err := o.OpenKey(cmp.Or(o.OverrideURL, url))
	if err != nil {
		return nil, err
	}
	c := &Cloud{deferred: deferred{kind: TypeCloud, missing: errNoKey, record: encryptedKey}, url: url, key: key,
		created: o.CreatedKey}
	c.ask = c.askService
	return c, nil
}

type cloudState struct {
	URL          string `json:"url"`
	EncryptedKey string `json:"encryptedkey"`
}

// State holds the URL and the wrapped key, if there is one (F4.11).
func (c *Cloud) State() json.RawMessage {
	key := c.EncryptedKey()
	if key == "" {
		return nil
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)               // URLs contain ampersands, and other tools compare the text
	_ = e.Encode(cloudState{c.url, key}) // cannot fail
	return bytes.TrimSpace(out.Bytes())
}

// URL returns the URL of the key.
func (c *Cloud) URL() string { return c.url }

// EncryptedKey returns the wrapped data key in base64, for the stack's settings; empty while there is none.
func (c *Cloud) EncryptedKey() string { return c.kept() }

func (c *Cloud) askService(wrapped string, _ bool) (key *seal, record string, err error) {
	var data []byte
	if record = wrapped; record != "" {
		data, err = c.unwrap(record)
	} else {
		data, record, err = c.create()
	}
	if err == nil && len(data) != keySize {
		err = fmt.Errorf("the data key of the stack has %d bytes instead of %d", len(data), keySize)
	}
	if err != nil {
		return nil, "", err
	}
	s, err := newSeal(data)
	return &s, record, err
}

// doubly reports whether wrapped keys are encoded in base64 twice, as Pulumi does for Azure (F4.11).
func (c *Cloud) doubly() bool { return strings.HasPrefix(c.url, "azurekeyvault://") }

func (c *Cloud) unwrap(record string) ([]byte, error) {
	wrapped, err := base64.StdEncoding.DecodeString(record)
	if err != nil {
		return nil, errors.New("the encrypted key of the stack is damaged: it is not base64")
	}
	if c.doubly() { // one release of Pulumi encoded only once
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

func (c *Cloud) create() (data []byte, record string, err error) {
	data = make([]byte, keySize)
	rand.Read(data) // never fails: the process ends when the system has no randomness
	wrapped, err := c.key.Encrypt(data)
	if err != nil {
		return nil, "", fmt.Errorf("the data key of the stack cannot be wrapped: %w", err)
	}
	if c.doubly() {
		wrapped = base64.RawURLEncoding.AppendEncode(nil, wrapped)
	}
	record = base64.StdEncoding.EncodeToString(wrapped)
	if c.created != nil {
		err = c.created(c.url, record)
	}
	return data, record, err
}
