// Package service seals and opens secrets through an HTTP service such as Pulumi Cloud (F4.12). It does not depend on
// states, and gets its token from the caller.
package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/internal/serviceapi"
	"github.com/yamlhost/yamlhost/runtime/secrets"
)

// Options are the settings for calls of a service.
type Options struct {
	// Token returns the token for the service at a URL; empty if there is none. It is called when the first secret is
	// sealed or opened.
	Token func(url string) (string, error)
	HTTP  *http.Client  // nil for the default client
	Agent string        // the User-Agent header
	Pause time.Duration // see httpget.Repeat
}

// Manager is a secrets manager whose keys never leave the service. It is safe for concurrent use.
type Manager struct {
	state  json.RawMessage
	stack  stack
	client *serviceapi.Client

	seals seals

	mu       sync.Mutex        // guards the fields below; held during calls that open secrets
	expected []string          // ciphertexts from Expect that the next Decrypt opens too
	opened   map[string]string // plain texts by ciphertext
}

var _ secrets.Batch = (*Manager)(nil)

// StateOf returns the manager's record for a stack, in the same form as the Pulumi CLI.
func StateOf(url, owner, project, name string) json.RawMessage {
	text, err := json.Marshal(stack{url, owner, project, name})
	if err != nil {
		panic("service: four texts do not encode: " + err.Error())
	}
	return text
}

// stack is the manager's record in a state.
type stack struct {
	URL     string `json:"url"`
	Owner   string `json:"owner"`
	Project string `json:"project"`
	Stack   string `json:"stack"`
}

// Open returns the manager for a record, without calling the service.
func Open(state json.RawMessage, o Options) (*Manager, error) {
	m := &Manager{state: state, opened: map[string]string{}, seals: seals{ready: map[string][]string{}}}
	if err := json.Unmarshal(state, &m.stack); err != nil || m.stack.Owner == "" || m.stack.Project == "" ||
		m.stack.Stack == "" {
		return nil, errors.New("the state's settings of the service that keeps its secrets name no stack")
	}
	address := m.stack.URL
	var err error
	m.client, err = serviceapi.New(address, serviceapi.Options{HTTP: o.HTTP, Agent: o.Agent, Pause: o.Pause,
		Token: func() (string, error) { return o.Token(m.stack.URL) }})
	if err != nil {
		return nil, fmt.Errorf("secrets of this stack are kept by %q: %w", address, err)
	}
	m.stack.URL = m.client.URL()
	return m, nil
}

// Type is service.
func (m *Manager) Type() string { return secrets.TypeService }

// State names the service and the stack.
func (m *Manager) State() json.RawMessage { return m.state }

// Expect makes the next Decrypt open these ciphertexts too, in as few calls as possible.
func (m *Manager) Expect(ciphertexts []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expected = append(m.expected, ciphertexts...)
}

// batch is the largest number of secrets in one call.
const batch = 500

// Decrypt opens a ciphertext through the service, together with the ciphertexts from Expect.
func (m *Manager) Decrypt(ciphertext string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if plain, ok := m.opened[ciphertext]; ok {
		return plain, nil
	}
	for expected := m.take(); len(expected) > 1; {
		n := min(batch, len(expected))
		// If the call fails, for instance because one ciphertext is invalid, secrets are opened one by one.
		if m.openAll(expected[:n]) != nil {
			break
		}
		expected = expected[n:]
	}
	if plain, ok := m.opened[ciphertext]; ok {
		return plain, nil
	}
	var answer struct {
		Plaintext []byte `json:"plaintext"`
	}
	if err := m.call("decrypt", map[string]string{"ciphertext": ciphertext}, &answer); err != nil {
		return "", err
	}
	m.opened[ciphertext] = string(answer.Plaintext)
	return string(answer.Plaintext), nil
}

// take empties expected and returns the ciphertexts that are not opened yet, without duplicates.
func (m *Manager) take() (list []string) {
	seen := map[string]bool{}
	for _, c := range m.expected {
		if _, known := m.opened[c]; !known && !seen[c] {
			seen[c] = true
			list = append(list, c)
		}
	}
	m.expected = nil
	return list
}

func (m *Manager) openAll(ciphertexts []string) error {
	var answer struct {
		Plaintexts map[string][]byte `json:"plaintexts"`
	}
	if err := m.call("batch-decrypt", map[string][]string{"ciphertexts": ciphertexts}, &answer); err != nil {
		return err
	}
	for _, c := range ciphertexts {
		if plain, ok := answer.Plaintexts[c]; ok {
			m.opened[c] = string(plain)
		}
	}
	return nil
}

// call makes a request about the stack's secrets.
func (m *Manager) call(what string, request, answer any) error {
	return m.explain(m.ask(what, request, answer))
}

// explain adds the service and, where it can, advice to an error of a call; it returns nil for nil.
func (m *Manager) explain(err error) error {
	if errors.Is(err, serviceapi.ErrNoToken) {
		return fmt.Errorf("secrets of this stack are kept by %s, and %w: set PULUMI_ACCESS_TOKEN, and PULUMI_API to that "+
			"URL unless it is Pulumi Cloud; or log in there, and `yamlhost login` back to your own backend", m.stack.URL,
			serviceapi.ErrNoToken)
	}
	if status := serviceapi.Status(err); status == http.StatusForbidden || status == http.StatusNotFound {
		return fmt.Errorf("secrets of this stack are kept by %s: it has no stack %s/%s/%s, or the token may not use it",
			m.stack.URL, m.stack.Owner, m.stack.Project, m.stack.Stack)
	}
	if err != nil {
		return fmt.Errorf("secrets of this stack are kept by %s: %w", m.stack.URL, err)
	}
	return nil
}

// ask makes a call. It repeats the call if the service is unreachable or overloaded, since sealing and opening change
// nothing in the service.
func (m *Manager) ask(what string, request, answer any) error {
	return m.client.Do(context.Background(), serviceapi.Call{Method: http.MethodPost, Again: true, Body: request,
		Path: serviceapi.Path("stacks", m.stack.Owner, m.stack.Project, m.stack.Stack, what)}, answer)
}

// seals queues the texts to seal. Texts that arrive during a call share the next one.
type seals struct {
	calling sync.Mutex // held during a call
	alone   bool       // the service has no batch-encrypt call; guarded by calling

	mu       sync.Mutex // guards the fields below
	wanted   []*want
	prepared []string            // plain texts from Prepare that the next call seals too
	ready    map[string][]string // unused ciphertexts by plain text
}

// want is a text to seal. seals.calling guards the fields after text.
type want struct {
	text   string
	done   bool
	sealed string
	err    error
}

// Prepare makes the next Encrypt seal these texts too, in as few calls as possible.
func (m *Manager) Prepare(plaintexts []string) {
	m.seals.mu.Lock()
	defer m.seals.mu.Unlock()
	m.seals.prepared = append(m.seals.prepared, plaintexts...)
}

// Encrypt seals a text through the service, together with texts from Prepare and from waiting callers.
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

// enter returns a ready ciphertext of the text, or queues the text and returns it as w.
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

// take empties the queue. more holds the prepared texts that no caller waits for yet.
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

// sealTogether seals texts in one call. It reports whether they are done, successfully or not; if false, the caller
// seals them one by one.
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
