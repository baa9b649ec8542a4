package state

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/runtime/secrets"
)

// openX opens the states of testdata, whose passphrase is x.
func openX(keys *secrets.Keyring) Opener {
	return func(p SecretsProvider) (secrets.Manager, error) {
		m, err := secrets.Open(p.Type, p.State, secrets.Options{
			Keys:       keys,
			Passphrase: func(secrets.Purpose) (string, error) { return "x", nil },
		})
		if err != nil {
			return nil, err
		}
		return Remembering(m), nil
	}
}

func TestCapturedCheckpoints(t *testing.T) {
	t.Parallel()
	files := testfile.Match(t, "testdata/checkpoint-*.json")
	require.Len(t, files, 5)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			want := testfile.Bytes(t, file)

			blind, err := DecodeCheckpoint(want, nil) // F4.16: without a passphrase
			require.NoError(t, err)
			got, err := EncodeCheckpoint(blind, nil)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got), "read without opening secrets, F5.8 order, F0.4 form")

			var m secrets.Manager
			open := openX(&secrets.Keyring{})
			c, err := DecodeCheckpoint(want, func(p SecretsProvider) (secrets.Manager, error) {
				m, err = open(p)
				return m, err
			})
			require.NoError(t, err)
			got, err = EncodeCheckpoint(c, m)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got), "unchanged secrets keep their ciphertext, E6.33")
			if c.Snapshot != nil {
				require.NoError(t, c.Snapshot.Verify())
			}
		})
	}
}

func TestExpectedSecrets(t *testing.T) { // F4.7, F4.10
	t.Parallel()
	var expected map[string]map[string]string
	readJSON(t, "testdata/secrets-expected.json", &expected)
	for _, file := range []string{"checkpoint-v3.json", "checkpoint-v4-taint.json"} {
		data, err := os.ReadFile("testdata/" + file)
		require.NoError(t, err)
		var m *Memory
		open := openX(&secrets.Keyring{})
		_, err = DecodeCheckpoint(data, func(p SecretsProvider) (secrets.Manager, error) {
			opened, err := open(p)
			m = opened.(*Memory)
			return opened, err
		})
		require.NoError(t, err)
		got := map[string]string{}
		for k, ciphertexts := range m.notes.seen {
			for _, c := range ciphertexts {
				got[c] = k.plaintext
			}
		}
		require.Equal(t, expected[file], got, file)
	}
}

func TestExportShowSecrets(t *testing.T) { // F5.17, F4.8
	t.Parallel()
	want := testfile.Bytes(t, "testdata/deployment-export-show-secrets.json")
	s, err := DecodeExport(want, openX(&secrets.Keyring{}))
	require.NoError(t, err)
	got, err := EncodeExport(s, Shown())
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

func TestPropertyValues(t *testing.T) { // F1.19, E6.34
	t.Parallel()
	var file struct {
		Cases []struct {
			Name             string          `json:"name"`
			StateShowSecrets json.RawMessage `json:"stateShowSecrets"`
		} `json:"cases"`
		StateNumbers []struct{ Float64bits, JSON string } `json:"stateNumbers"`
	}
	readJSON(t, "testdata/property-values.json", &file)
	require.NotEmpty(t, file.Cases)
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			v, err := DecodeValue(c.StateShowSecrets, nil)
			require.NoError(t, err)
			got, err := AppendValue(nil, v, Shown())
			require.NoError(t, err)
			require.Equal(t, string(c.StateShowSecrets), string(got))
		})
	}
	require.NotEmpty(t, file.StateNumbers)
	for _, c := range file.StateNumbers {
		bits, err := strconv.ParseUint(c.Float64bits, 16, 64)
		require.NoError(t, err)
		e := encoder{}
		e.number(math.Float64frombits(bits))
		require.Equal(t, c.JSON, string(e.buf))
		v, err := DecodeValue([]byte(c.JSON), nil)
		require.NoError(t, err)
		f, ok := v.AsNumber()
		require.True(t, ok)
		require.Equal(t, c.Float64bits, fmt.Sprintf("%016x", math.Float64bits(f)))
	}
}

func readJSON(t *testing.T, file string, dst any) {
	t.Helper()
	data := testfile.Bytes(t, file)
	require.NoError(t, json.Unmarshal(data, dst))
}
