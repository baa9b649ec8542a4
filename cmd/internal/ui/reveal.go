package ui

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// revealRequest asks for one secret. It is made by a click, with the passphrase that was just typed.
type revealRequest struct {
	Stack      string `json:"stack"`
	URN        string `json:"urn"`
	Part       string `json:"part"` // inputs or outputs
	Path       []any  `json:"path"` // keys and indexes
	Passphrase string `json:"passphrase"`
}

// reveal opens one secret. The passphrase and what comes of it are forgotten with the request.
func (s *Server) reveal(ctx context.Context, req revealRequest) (any, error) {
	k, err := s.kept(ctx, req.Stack)
	if err != nil {
		return nil, err
	}
	_, r, err := k.resource(req.URN)
	if err != nil {
		return nil, err
	}
	v := r.Outputs
	if req.Part == "inputs" {
		v = r.Inputs
	}
	for _, step := range req.Path {
		switch step := step.(type) {
		case string:
			v = v.Get(step)
		case float64:
			v = v.At(int(step))
		}
	}
	sealed, is := state.SealedText(v)
	if !is || k.snapshot.SecretsProvider == nil {
		return nil, &httpError{http.StatusBadRequest, "there is no secret"}
	}
	m, err := s.o.Manager(*k.snapshot.SecretsProvider, req.Passphrase)
	if err != nil {
		return nil, err
	}
	text, err := m.Decrypt(sealed)
	switch {
	case errors.Is(err, secrets.ErrIncorrectPassphrase):
		return nil, &httpError{http.StatusForbidden, "the passphrase is not that of this stack"}
	case err != nil:
		return nil, err
	}
	if !json.Valid([]byte(text)) {
		return nil, errors.New("the secret is malformed")
	}
	return map[string]json.RawMessage{"value": json.RawMessage(text)}, nil
}
