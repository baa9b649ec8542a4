package project

import (
	"bytes"
	"fmt"

	"github.com/yamlhost/yamlhost/internal/jsontext"
)

// jsonEntries are configuration values as a JSON object, in their order.
type jsonEntries []*Entry

// MarshalJSON writes the object.
func (list jsonEntries) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, e := range list {
		v, err := jsontext.Compact(e.Data())
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", e.Key, err)
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = jsontext.AppendString(text, e.Key.String(), false)
		text = append(append(text, ':'), v...)
	}
	return append(text, '}'), nil
}

// jsonFile is the settings of a stack whose project file is JSON (F3.7): keys in file order, indented by four spaces.
func (s *Settings) jsonFile() ([]byte, error) {
	file := struct {
		SecretsProvider string      `json:"secretsprovider,omitempty"`
		EncryptedKey    string      `json:"encryptedkey,omitempty"`
		EncryptionSalt  string      `json:"encryptionsalt,omitempty"`
		Environment     any         `json:"environment,omitempty"`
		Config          jsonEntries `json:"config,omitempty"`
	}{s.SecretsProvider, s.EncryptedKey, s.EncryptionSalt, nil, s.entries}
	if s.environment != nil {
		var err error
		if file.Environment, err = (&decoder{}).decode(s.environment, 0); err != nil {
			return nil, err
		}
	}
	var text bytes.Buffer
	if err := jsontext.Write(&text, file, "    "); err != nil {
		return nil, fmt.Errorf("write stack settings: %w", err)
	}
	return text.Bytes(), nil
}
