package service

import (
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/internal/serviceapi"
)

// seals are the texts that are to be sealed. Those that come while the service is asked share the next call.
type seals struct {
	calling sync.Mutex // held while the service is asked, for everybody who waits
	alone   bool       // the service has no call for several; guarded by calling

	mu       sync.Mutex // guards what follows
	wanted   []*want
	prepared []string            // plain texts that are about to be sealed
	ready    map[string][]string // ciphertexts that nobody has yet, by plain text
}

// want is a text that somebody waits for. What follows the text is guarded by seals.calling.
type want struct {
	text   string
	done   bool
	sealed string
	err    error
}

// Prepare makes the next Encrypt seal all of these in the same call.
func (m *Manager) Prepare(plaintexts []string) {
	m.seals.mu.Lock()
	defer m.seals.mu.Unlock()
	m.seals.prepared = append(m.seals.prepared, plaintexts...)
}

// Encrypt has the service seal text, and what Prepare has named and others wait for with it.
func (m *Manager) Encrypt(plaintext string) (string, error) {
	w, sealed := m.seals.enter(plaintext)
	if w == nil {
		return sealed, nil
	}
	m.seals.calling.Lock()
	defer m.seals.calling.Unlock()
	if !w.done {
		m.sealAll(m.seals.take())
	}
	return w.sealed, w.err
}

// enter queues a text, unless its ciphertext is ready.
func (s *seals) enter(text string) (w *want, sealed string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ready := s.ready[text]; len(ready) > 0 {
		s.ready[text] = ready[1:]
		return nil, ready[0]
	}
	w = &want{text: text}
	s.wanted = append(s.wanted, w)
	return w, ""
}

// take empties the queue. Of what is prepared, more is what nobody waits for yet.
func (s *seals) take() (wanted []*want, more []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wanted, more = s.wanted, s.prepared
	s.wanted, s.prepared = nil, nil
	for _, w := range wanted {
		if i := slices.Index(more, w.text); i >= 0 {
			more = slices.Delete(more, i, i+1)
		}
	}
	return wanted, more
}

func (s *seals) keep(text, sealed string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready[text] = append(s.ready[text], sealed)
}

// sealAll seals texts in as few calls as the service allows. The caller holds calling.
func (m *Manager) sealAll(wanted []*want, more []string) {
	all := make([]*want, 0, len(wanted)+len(more))
	all = append(all, wanted...)
	for _, text := range more {
		all = append(all, &want{text: text})
	}
	for some := range slices.Chunk(all, batch) {
		if len(all) == 1 || m.seals.alone || !m.sealTogether(some) {
			break
		}
	}
	for i, w := range all {
		switch {
		case i >= len(wanted) && w.done && w.err == nil:
			m.seals.keep(w.text, w.sealed)
		case i < len(wanted) && !w.done:
			w.sealed, w.err = m.sealOne(w.text)
			w.done = true
		}
	}
}

// sealTogether seals texts in one call. It reports whether they are done; if not, each has to be sealed by itself.
func (m *Manager) sealTogether(some []*want) bool {
	texts := make([][]byte, len(some))
	for i, w := range some {
		texts[i] = []byte(w.text)
	}
	var answer struct {
		Ciphertexts []string `json:"ciphertexts"`
	}
	err := m.ask("batch-encrypt", map[string][][]byte{"plaintexts": texts}, &answer)
	if status := serviceapi.Status(err); status != 0 {
		m.seals.alone = status == http.StatusNotFound
		return false
	}
	if err == nil && (len(answer.Ciphertexts) != len(some) || slices.Contains(answer.Ciphertexts, "")) {
		return false
	}
	for i, w := range some {
		if w.done, w.err = true, m.explain(err); err == nil {
			w.sealed = answer.Ciphertexts[i]
		}
	}
	return true
}

func (m *Manager) sealOne(text string) (string, error) {
	var answer struct {
		Ciphertext string `json:"ciphertext"`
	}
	if err := m.call("encrypt", map[string][]byte{"plaintext": []byte(text)}, &answer); err != nil {
		return "", err
	}
	if answer.Ciphertext == "" {
		return "", fmt.Errorf("%s has sealed a secret as nothing", m.stack.URL)
	}
	return answer.Ciphertext, nil
}
