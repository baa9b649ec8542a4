// Package service has secrets that a service behind HTTP seals and opens, such as Pulumi Cloud (F4.12): Manager. It
// knows neither states nor where tokens are kept.
package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/internal/serviceapi"
	"github.com/yamlhost/yamlhost/runtime/secrets"
)

// Options are how a service is asked.
type Options struct {
	// Token returns the token for the service at a URL; empty if there is none. It is asked for when the first secret is
	// sealed or opened.
	Token func(url string) (string, error)
	HTTP  *http.Client  // nil for the usual one
	Agent string        // the name of the program for the service
	Pause time.Duration // see httpget.Repeat
}

// Manager is a secrets manager whose keys a service keeps. It is safe for concurrent use.
type Manager struct {
	state  json.RawMessage
	stack  stack
	client *serviceapi.Client

	seals seals

	mu       sync.Mutex        // guards what follows, and is held while secrets are opened
	expected []string          // ciphertexts that are about to be opened
	opened   map[string]string // plain texts, by ciphertext
}

var _ secrets.Batch = (*Manager)(nil)

// StateOf returns the state of the manager of a stack's secrets, as the Pulumi CLI writes it.
func StateOf(url, owner, project, name string) json.RawMessage {
	text, err := json.Marshal(stack{url, owner, project, name})
	if err != nil {
		panic("service: four texts do not encode: " + err.Error())
	}
	return text
}

// stack is whose secrets they are, as a state says it.
type stack struct {
	URL     string `json:"url"`
	Owner   string `json:"owner"`
	Project string `json:"project"`
	Stack   string `json:"stack"`
}

// Open makes the manager that a state names. Nothing is asked of the service yet.
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

// Expect makes the next Decrypt open all of these in one call.
func (m *Manager) Expect(ciphertexts []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expected = append(m.expected, ciphertexts...)
}

// batch is how many secrets are sealed or opened in one call.
const batch = 500

// Decrypt has the service open text, and what Expect has named with it.
func (m *Manager) Decrypt(ciphertext string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if plain, ok := m.opened[ciphertext]; ok {
		return plain, nil
	}
	for expected := m.take(); len(expected) > 1; {
		n := min(batch, len(expected))
		// Some of these may be no ciphertexts: then each secret is opened by itself.
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

// take returns what is expected and not open yet, each once.
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

// call asks the service something about the stack's secrets.
func (m *Manager) call(what string, request, answer any) error {
	return m.explain(m.ask(what, request, answer))
}

// explain names the service in an error, and what to do.
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

// ask makes a call, again if the service is out of reach or overloaded: sealing and opening change nothing there.
func (m *Manager) ask(what string, request, answer any) error {
	return m.client.Do(context.Background(), serviceapi.Call{Method: http.MethodPost, Again: true, Body: request,
		Path: serviceapi.Path("stacks", m.stack.Owner, m.stack.Project, m.stack.Stack, what)}, answer)
}
