package project

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/yamlhost/yamlhost/internal/jsontext"
)

// jsonFile is the settings of a stack whose project file is JSON (F3.7): keys in file order, indented by four spaces.
func (s *Settings) jsonFile() ([]byte, error) {
	var b bytes.Buffer
	member := func(name string, v any) error {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		key, err := jsontext.Compact(name)
		if err != nil {
			return err
		}
		text, err := jsontext.Compact(v)
		if err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		b.WriteString(key + ":" + text)
		return nil
	}
	b.WriteByte('{')
	for _, field := range []struct{ name, value string }{
		{"secretsprovider", s.SecretsProvider}, {"encryptedkey", s.EncryptedKey}, {"encryptionsalt", s.EncryptionSalt},
	} {
		if field.value == "" {
			continue
		}
		if err := member(field.name, field.value); err != nil {
			return nil, err
		}
	}
	if s.environment != nil {
		data, err := (&decoder{}).decode(s.environment, 0)
		if err == nil {
			err = member("environment", data)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(s.entries) > 0 {
		outer := b
		b = bytes.Buffer{}
		b.WriteByte('{')
		for _, e := range s.entries {
			if err := member(e.Key.String(), e.Data()); err != nil {
				return nil, err
			}
		}
		b.WriteByte('}')
		config := json.RawMessage(b.Bytes())
		b = outer
		if err := member("config", config); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	var out bytes.Buffer
	if err := json.Indent(&out, b.Bytes(), "", "    "); err != nil {
		return nil, fmt.Errorf("write stack settings: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
