package state

import (
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/secrets"
)

// sealedValue returns a secret value that holds only a ciphertext (F4.16); see SealedText. Its content is a map with
// the signature key, which no program can create (F1.10).
func sealedValue(ciphertext string) value.Value {
	v, _ := value.OrderedMap([]string{signatureKey, "ciphertext"},
		[]value.Value{value.String(secretSignature), value.String(ciphertext)})
	return v.Secret()
}

// SealedText returns the ciphertext of a secret that Decode without an Opener left sealed; ok is false for other
// values. A sealed value can be encoded again, but must not be sent to a provider or compared with plain values.
func SealedText(v value.Value) (ciphertext string, ok bool) {
	if !v.IsSecret() || v.Len() != 2 {
		return "", false
	}
	signature, _ := v.Lookup(signatureKey)
	if s, _ := signature.AsString(); s != secretSignature {
		return "", false
	}
	text, _ := v.Lookup("ciphertext")
	return text.AsString()
}

// IsSealed reports whether a value is one that SealedText knows.
func IsSealed(v value.Value) bool {
	_, sealed := SealedText(v)
	return sealed
}

// HasSealed reports whether the inputs or outputs of a resource have secrets that are sealed.
func (s *Snapshot) HasSealed() bool {
	return slices.ContainsFunc(s.Resources, func(r *Resource) bool {
		return r.Inputs.Any(IsSealed) || r.Outputs.Any(IsSealed)
	})
}

// Memory is a manager that caches ciphertexts, so that an unchanged secret of a resource keeps its ciphertext from one
// write to the next (E6.33). It holds plain texts in memory. It is safe for concurrent use.
type Memory struct {
	secrets.Manager // the wrapped manager; Encrypt and Decrypt cache nothing
	notes           *notes
}

type notes struct {
	mu   sync.Mutex
	seen map[memoryKey][]string // item n is the ciphertext of the n-th secret with that text in the resource
}

type memoryKey struct {
	scope     urn.URN
	plaintext string
}

var _ secrets.Batch = (*Memory)(nil)

// Remembering returns m itself if it is a Memory, and otherwise a new Memory around m. Use one Memory for reading and
// writing a stack. Two secrets never share a ciphertext, so that a file does not reveal equal secrets.
func Remembering(m secrets.Manager) *Memory {
	if memory, ok := m.(*Memory); ok {
		return memory
	}
	return &Memory{Manager: m, notes: &notes{seen: map[memoryKey][]string{}}}
}

// Expect calls Expect of the wrapped manager, if it is a secrets.Batch.
func (m *Memory) Expect(ciphertexts []string) {
	if batch, ok := m.Manager.(secrets.Batch); ok {
		batch.Expect(ciphertexts)
	}
}

// Prepare calls Prepare of the wrapped manager, if it is a secrets.Batch.
func (m *Memory) Prepare(plaintexts []string) {
	if batch, ok := m.Manager.(secrets.Batch); ok {
		batch.Prepare(plaintexts)
	}
}

// PrepareFor calls Rehearse for one encoding of s.
func (m *Memory) PrepareFor(s *Snapshot) {
	m.Rehearse(1, func(r secrets.Manager) error {
		_, err := Encode(s, r)
		return err
	})
}

// Rehearse runs encode with a manager that seals nothing, and announces to the wrapped manager the texts that encode
// has to seal, each the given number of times. The caller runs encode again afterwards, which reports any error.
func (m *Memory) Rehearse(times int, encode func(secrets.Manager) error) {
	if _, ok := m.Manager.(secrets.Batch); !ok {
		return
	}
	r := &rehearsal{Memory: m}
	if err := encode(r); err == nil && len(r.missing)*times > 1 {
		m.Prepare(slices.Repeat(r.missing, times))
	}
}

// rehearsal is a Memory that records the texts to seal instead of sealing them.
type rehearsal struct {
	*Memory
	missing []string
}

func (r *rehearsal) seal(k memoryKey, n int) (string, error) {
	if n >= len(r.notes.of(k)) {
		r.missing = append(r.missing, k.plaintext)
	}
	return "unsealed", nil // Rehearse discards the JSON
}

func (m *Memory) seal(k memoryKey, n int) (string, error) {
	if known := m.notes.of(k); n < len(known) {
		return known[n], nil
	}
	ciphertext, err := m.Manager.Encrypt(k.plaintext)
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

// Through returns a Memory around opener that shares the ciphertexts of m, for a state that is read with one manager
// and written with another that has the same key.
func (m *Memory) Through(opener secrets.Manager) *Memory {
	return &Memory{Manager: opener, notes: m.notes}
}
