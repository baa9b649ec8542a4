package secrets

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

type vectors struct {
	Cases []struct {
		Passphrase     string `json:"passphrase"`
		EncryptionSalt string `json:"encryptionsalt"`
		SaltHex        string `json:"saltHex"`
		Values         []struct{ Ciphertext, Plaintext string }
	} `json:"cases"`
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	var v vectors
	data := testfile.Bytes(t, "testdata/passphrase.json")
	require.NoError(t, json.Unmarshal(data, &v))
	require.Len(t, v.Cases, 4)
	return v
}

func TestPassphraseVectors(t *testing.T) { // F4.1–F4.5, F4.10
	t.Parallel()
	for _, c := range readVectors(t).Cases {
		t.Run(c.Passphrase, func(t *testing.T) {
			t.Parallel()
			var keys Keyring
			m, err := OpenPassphrase(&keys, c.EncryptionSalt, c.Passphrase)
			require.NoError(t, err)
			salt, err := parseSalt(c.EncryptionSalt)
			require.NoError(t, err)
			require.Equal(t, c.SaltHex, hex.EncodeToString(salt.salt))
			for _, v := range c.Values {
				plain, err := m.Decrypt(v.Ciphertext)
				require.NoError(t, err)
				require.Equal(t, v.Plaintext, plain)
				again, err := m.Encrypt(plain)
				require.NoError(t, err)
				require.NotEqual(t, v.Ciphertext, again, "a nonce is never used twice")
				require.Len(t, again, len(v.Ciphertext))
				plain, err = m.Decrypt(again)
				require.NoError(t, err)
				require.Equal(t, v.Plaintext, plain)
			}
			_, err = OpenPassphrase(&keys, c.EncryptionSalt, c.Passphrase+"\n")
			require.ErrorIs(t, err, ErrIncorrectPassphrase, "a newline matters, F4.5")
			require.EqualError(t, err, "incorrect passphrase")
		})
	}
}

func TestConfigSecrets(t *testing.T) { // F4.8: the raw text, no JSON
	t.Parallel()
	m, err := OpenPassphrase(nil, "v1:dMmROWX71KE=:v1:lb7zYU9V0nc7HAyA:l5RD5iU8j7sg3Jb6KVN+dHGr9aMAow==", "x")
	require.NoError(t, err)
	var expected map[string]map[string]string
	data := testfile.Bytes(t, "testdata/secrets-expected.json")
	require.NoError(t, json.Unmarshal(data, &expected))
	require.NotEmpty(t, expected["Pulumi.dev.yaml"])
	for ciphertext, want := range expected["Pulumi.dev.yaml"] {
		got, err := m.Decrypt(ciphertext)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestNewPassphrase(t *testing.T) { // F4.4
	t.Parallel()
	var keys Keyring
	m, err := NewPassphrase(&keys, "new")
	require.NoError(t, err)
	require.Equal(t, 4, strings.Count(m.Salt(), ":"))
	require.JSONEq(t, `{"salt":"`+m.Salt()+`"}`, string(m.State()))
	sealed, err := m.Encrypt("text")
	require.NoError(t, err)
	other, err := OpenPassphrase(&keys, m.Salt(), "new")
	require.NoError(t, err)
	plain, err := other.Decrypt(sealed)
	require.NoError(t, err)
	require.Equal(t, "text", plain)
	require.Len(t, keys.keys, 1, "derived once per salt and passphrase, F4.1")
}

func TestDamagedText(t *testing.T) {
	t.Parallel()
	c := readVectors(t).Cases[0]
	m, err := OpenPassphrase(nil, c.EncryptionSalt, c.Passphrase)
	require.NoError(t, err)
	good := c.Values[0].Ciphertext
	for name, text := range map[string]string{
		"empty":         "",
		"two parts":     "v1:OFelziMjX4xKUg5+",
		"four parts":    good + ":x",
		"version":       "v2" + good[2:],
		"nonce":         "v1:OFel:" + good[20:],
		"not base64":    good[:len(good)-3] + "!!!",
		"altered":       strings.Replace(good, "Qrxi", "Qrxj", 1),
		"another key's": readVectors(t).Cases[1].Values[0].Ciphertext,
	} {
		_, err := m.Decrypt(text)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "cipher:", name)
	}
	for name, salt := range map[string]string{
		"empty": "", "four parts": "v1:AA==:v1:AA==", "version": "v9" + c.EncryptionSalt[2:], "base64": "v1:!:v1:a:b",
	} {
		_, err := OpenPassphrase(nil, salt, "x")
		require.ErrorContains(t, err, "salt", name)
	}
}

func TestLazyAsksOnlyWhenNeeded(t *testing.T) { // D3
	t.Parallel()
	c := readVectors(t).Cases[0]
	var asked atomic.Int32
	m, err := ForStack("", c.EncryptionSalt, "", Options{Keys: &Keyring{}, Passphrase: func(p Purpose) (string, error) {
		asked.Add(1)
		require.Equal(t, Purpose{}, p)
		return c.Passphrase, nil
	}})
	require.NoError(t, err)
	require.Equal(t, TypePassphrase, m.Type())
	require.JSONEq(t, `{"salt":"`+c.EncryptionSalt+`"}`, string(m.State()))
	require.Zero(t, asked.Load())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			plain, err := m.Decrypt(c.Values[1].Ciphertext)
			if err != nil || plain != c.Values[1].Plaintext {
				t.Errorf("decrypt: %q, %v", plain, err)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, asked.Load(), "however many wait, a person is asked once")
}

// A text that a service has sealed is told from a damaged one, without a question for the passphrase.
func TestSealedByService(t *testing.T) {
	t.Parallel()
	asked := func(Purpose) (string, error) {
		t.Error("asked for a passphrase")
		return "", ErrNoPassphrase
	}
	sealed := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 40))
	for _, salt := range []string{"", "v1:nApVG/BPNYo=:v1:z9nHwmyDsdP6VFnP:L7VCw7Vi7030vC906zmeQ/RlTnjnjg=="} {
		_, err := NewLazy(salt, Options{Passphrase: asked}).Decrypt(sealed)
		require.ErrorContains(t, err, "sealed by a service")
	}
	m, err := NewPassphrase(new(Keyring), "p")
	require.NoError(t, err)
	_, err = m.Decrypt(sealed)
	require.ErrorContains(t, err, "sealed by a service")
	_, err = m.Decrypt(sealed[:8])
	require.ErrorContains(t, err, "damaged")
}

func TestLazyMakesSalt(t *testing.T) { // D3, F4.14
	t.Parallel()
	var kept string
	m := NewLazy("", Options{
		Passphrase: func(p Purpose) (string, error) {
			require.Equal(t, Purpose{New: true, Seal: true}, p)
			return "p", nil
		},
		Created: func(salt string) error { kept = salt; return nil },
	})
	require.Empty(t, m.Type())
	require.Nil(t, m.State())
	_, err := m.Decrypt("v1:a:b")
	require.ErrorContains(t, err, "no encryption salt")
	sealed, err := m.Encrypt("text")
	require.NoError(t, err)
	require.Equal(t, kept, m.Salt())
	require.Equal(t, TypePassphrase, m.Type())
	plain, err := m.Decrypt(sealed)
	require.NoError(t, err)
	require.Equal(t, "text", plain)
}

func TestLazyFailures(t *testing.T) {
	t.Parallel()
	c := readVectors(t).Cases[0]
	t.Run("no passphrase", func(t *testing.T) {
		t.Parallel()
		_, err := NewLazy("", Options{}).Encrypt("hidden text")
		require.ErrorIs(t, err, ErrNoPassphrase)
		for _, name := range []string{"PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE", "--secrets-provider"} {
			require.ErrorContains(t, err, name)
		}
		require.NotContains(t, err.Error(), "hidden text")
	})
	t.Run("wrong passphrase stays locked and keeps its state", func(t *testing.T) { // F4.6
		t.Parallel()
		asked := 0
		m := NewLazy(c.EncryptionSalt, Options{Passphrase: func(Purpose) (string, error) { asked++; return "wrong", nil }})
		for range 2 {
			_, err := m.Decrypt(c.Values[0].Ciphertext)
			require.ErrorIs(t, err, ErrIncorrectPassphrase)
		}
		require.Equal(t, 1, asked)
		require.Equal(t, c.EncryptionSalt, m.Salt())
	})
	t.Run("salt that cannot be kept", func(t *testing.T) {
		t.Parallel()
		full := errors.New("disk full")
		m := NewLazy("", Options{
			Passphrase: func(Purpose) (string, error) { return "p", nil },
			Created:    func(string) error { return full },
		})
		_, err := m.Encrypt("x")
		require.ErrorIs(t, err, full)
		require.Empty(t, m.Type())
	})
}

func TestPassphraseFrom(t *testing.T) { // F4.5
	t.Parallel()
	files := func(path string) ([]byte, error) {
		if path == "/pass" {
			return []byte("from file \n"), nil
		}
		return nil, os.ErrNotExist
	}
	prompt := func(Purpose) (string, error) { return "asked", nil }
	for _, c := range []struct {
		name   string
		env    map[string]string
		prompt func(Purpose) (string, error)
		want   string
		err    error
	}{
		{"variable", map[string]string{"PULUMI_CONFIG_PASSPHRASE": "v\n", "PULUMI_CONFIG_PASSPHRASE_FILE": "/pass"}, prompt,
			"v\n", nil},
		{"empty variable", map[string]string{"PULUMI_CONFIG_PASSPHRASE": ""}, prompt, "", nil},
		{"file, trimmed", map[string]string{"PULUMI_CONFIG_PASSPHRASE_FILE": "/pass"}, prompt, "from file", nil},
		{"missing file", map[string]string{"PULUMI_CONFIG_PASSPHRASE_FILE": "/none"}, prompt, "", os.ErrNotExist},
		{"a person", nil, prompt, "asked", nil},
		{"nothing", nil, nil, "", ErrNoPassphrase},
	} {
		got, err := PassphraseFrom(func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }, files,
			c.prompt)(Purpose{})
		require.ErrorIs(t, err, c.err, c.name)
		require.Equal(t, c.want, got, c.name)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	m, err := Open("b64", nil, Options{}) // F4.13
	require.NoError(t, err)
	sealed, err := m.Encrypt("text")
	require.NoError(t, err)
	require.Equal(t, "dGV4dA==", sealed)
	plain, err := m.Decrypt(sealed)
	require.NoError(t, err)
	require.Equal(t, "text", plain)

	m, err = Open("", nil, Options{})
	require.NoError(t, err)
	require.Empty(t, m.Type())

	var unsupported *UnsupportedError
	for _, typ := range []string{"cloud", "service", "vault"} { // F4.12
		_, err = Open(typ, json.RawMessage(`{}`), Options{})
		require.ErrorAs(t, err, &unsupported)
		require.ErrorContains(t, err, "not supported by this build")
	}
	_, err = ForStack("awskms://alias/key", "", "", Options{}) // F4.11
	require.ErrorAs(t, err, &unsupported)
	require.ErrorContains(t, err, "awskms://alias/key")
	_, err = Open("passphrase", json.RawMessage(`{}`), Options{})
	require.ErrorContains(t, err, "no salt")
}

func FuzzDecrypt(f *testing.F) {
	m, err := NewPassphrase(nil, "x")
	require.NoError(f, err)
	f.Add("v1:OFelziMjX4xKUg5+:QrxiuvdUqhwaPT5exI9AMQxYqR8xYlyY")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := m.Decrypt(text); err == nil {
			t.Fatalf("opened %q", text)
		}
		sealed, err := m.Encrypt(text)
		require.NoError(t, err)
		plain, err := m.Decrypt(sealed)
		require.NoError(t, err)
		require.Equal(t, text, plain)
		_, _ = parseSalt(text)
	})
}
