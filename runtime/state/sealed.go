package state

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/secrets"
)

// sealedValue returns a secret that was read without being opened (F4.16). It prints as a secret, and this package
// reads its ciphertext. Its content is a map with the signature key, which no program can create (F1.10).
func sealedValue(ciphertext string) value.Value {
	v, _ := value.OrderedMap([]string{signatureKey, "ciphertext"},
		[]value.Value{value.String(secretSignature), value.String(ciphertext)})
	return v.Secret()
}

// SealedText returns the ciphertext of a secret that Decode without an Opener left sealed; ok is false for other
// values. Sealed values can be written again, but must not be sent to a provider or compared with plain values.
func SealedText(v value.Value) (ciphertext string, ok bool) {
	if !v.IsSecret() || v.Len() != 2 {
		return "", false
	}
	if signature, _ := v.Lookup(signatureKey); !signature.Is(value.KindString) {
		return "", false
	} else if s, _ := signature.AsString(); s != secretSignature {
		return "", false
	}
	text, _ := v.Lookup("ciphertext")
	return text.AsString()
}

// Memory is a manager that remembers ciphertexts, so that an unchanged secret of a resource keeps its ciphertext from
// one write to the next (E6.33). It holds plain texts in memory. It is safe for concurrent use.
type Memory struct {
	manager secrets.Manager
	notes   *notes
}

type notes struct {
	mu   sync.Mutex
	seen map[memoryKey][]string // n-th ciphertext for the n-th secret of that text within the resource
}

type memoryKey struct {
	scope     urn.URN
	plaintext string
}

var _ secrets.Batch = (*Memory)(nil)

// Remembering wraps a manager, unless it is a Memory already. Use one Memory for reading and writing a stack.
// Ciphertexts are never shared between resources, nor between two secrets of a resource, so that a file does not reveal
// equal secrets.
func Remembering(m secrets.Manager) *Memory {
	if memory, ok := m.(*Memory); ok {
		return memory
	}
	return &Memory{manager: m, notes: &notes{seen: map[memoryKey][]string{}}}
}

// Type returns the wrapped manager's.
func (m *Memory) Type() string { return m.manager.Type() }

// State returns the wrapped manager's.
func (m *Memory) State() json.RawMessage { return m.manager.State() }

// Encrypt seals without the memory.
func (m *Memory) Encrypt(plaintext string) (string, error) { return m.manager.Encrypt(plaintext) }

// Decrypt opens without the memory.
func (m *Memory) Decrypt(ciphertext string) (string, error) { return m.manager.Decrypt(ciphertext) }

// Expect calls Expect of the wrapped manager.
func (m *Memory) Expect(ciphertexts []string) {
	if batch, ok := m.manager.(secrets.Batch); ok {
		batch.Expect(ciphertexts)
	}
}

// Prepare prepares the wrapped manager.
func (m *Memory) Prepare(plaintexts []string) {
	if batch, ok := m.manager.(secrets.Batch); ok {
		batch.Prepare(plaintexts)
	}
}

// PrepareFor is Rehearse for a snapshot.
func (m *Memory) PrepareFor(s *Snapshot) {
	m.Rehearse(1, func(r secrets.Manager) error {
		_, err := Encode(s, r)
		return err
	})
}

// Rehearse lets the wrapped manager seal in one batch the texts that encode would have to seal, each the given number
// of times. The caller runs encode again afterwards, which reports the faults.
func (m *Memory) Rehearse(times int, encode func(secrets.Manager) error) {
	if _, ok := m.manager.(secrets.Batch); !ok {
		return
	}
	r := &rehearsal{Memory: m}
	if err := encode(r); err == nil && len(r.missing)*times > 1 {
		m.Prepare(slices.Repeat(r.missing, times))
	}
}

// rehearsal records the texts that a Memory would have to seal, and seals nothing.
type rehearsal struct {
	*Memory
	missing []string
}

func (r *rehearsal) seal(k memoryKey, n int) (string, error) {
	if n >= len(r.notes.of(k)) {
		r.missing = append(r.missing, k.plaintext)
	}
	return "unsealed", nil // any text is valid here
}

func (m *Memory) seal(k memoryKey, n int) (string, error) {
	if known := m.notes.of(k); n < len(known) {
		return known[n], nil
	}
	ciphertext, err := m.manager.Encrypt(k.plaintext)
	if err == nil {
		m.notes.add(k, ciphertext)
	}
	return ciphertext, err
}

func (n *notes) of(k memoryKey) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.seen[k]
}

func (n *notes) add(k memoryKey, ciphertext string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seen[k] = append(n.seen[k], ciphertext)
}

// Through returns a manager that opens with opener and shares this memory, for a state that is read with one manager
// and written with another of the same kind and key.
func (m *Memory) Through(opener secrets.Manager) *Memory {
	return &Memory{manager: opener, notes: m.notes}
}
