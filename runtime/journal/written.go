package journal

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Written is an entry in the format of a Log: resources and operations are JSON as in the state file, with their
// secrets sealed. If Secrets is set, no other field is: it holds the sealing settings of later entries.
type Written struct {
	Step       int64                      `json:"step"`
	Begin      json.RawMessage            `json:"begin"`
	Remove     []ID                       `json:"remove"`
	Amend      []WrittenResource          `json:"amend"`
	Add        []WrittenResource          `json:"add"`
	Retried    urn.URN                    `json:"retried"`
	Extensions map[string]json.RawMessage `json:"extensions"`
	Secrets    json.RawMessage            `json:"-"`
}

// WrittenResource is the form of Amended in a Written.
type WrittenResource struct {
	ID       ID              `json:"id"`
	Resource json.RawMessage `json:"resource"`
}

// ReadWritten decodes a piece of a journal that consists of complete records. The entries do not share its memory.
func ReadWritten(piece []byte) (list []Written, err error) {
	if Begins(piece) {
		piece = piece[len(signature):]
	}
	for len(piece) > 0 {
		k, payload, rest, ok := nextRecord(piece)
		if !ok {
			return nil, errors.New("a piece of the journal has no whole records")
		}
		piece = rest
		var e Written
		switch k {
		case kindHeader:
			var h struct{ Secrets *state.SecretsProvider }
			if err = json.Unmarshal(payload, &h); err != nil || h.Secrets == nil {
				break
			}
			e.Secrets, err = json.Marshal(h.Secrets)
		case kindSecrets:
			e.Secrets = append(e.Secrets, payload...)
		case kindEntry:
			err = json.Unmarshal(payload, &e)
		}
		if err != nil {
			return nil, fmt.Errorf("read a record of the journal: %w", err)
		}
		if k == kindEntry || e.Secrets != nil {
			list = append(list, e)
		}
	}
	return list, nil
}
