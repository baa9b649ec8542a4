package operation

import (
	"encoding/json"
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// configuration holds the settings file of a stack, and the stack's configuration in plain text.
type configuration struct {
	settings *project.Settings
	values   map[project.Key]project.Text
}

// engine is the configuration as the engine takes it (F3.12).
func (c *configuration) engine() (texts map[string]string, secretKeys []string) {
	texts = make(map[string]string, len(c.values))
	for key, text := range c.values {
		texts[key.String()] = text.Text
		if text.Secret {
			secretKeys = append(secretKeys, key.String())
		}
	}
	slices.Sort(secretKeys)
	return texts, secretKeys
}

// secrets are the plain texts of secret configuration, to be masked wherever they appear (L9.34).
func (c *configuration) secrets() []string {
	var texts []string
	for _, text := range c.values {
		if text.Secret {
			texts = append(texts, text.Text)
		}
	}
	return texts
}

// record is the configuration in the form of stack files, so that no secret is in plain text. Secrets of environments
// are left out: they are opened anew each time, and are not the stack's to keep.
func (c *configuration) record() map[string]json.RawMessage {
	config := make(map[string]json.RawMessage, len(c.values))
	for key, text := range c.values {
		var form any = text.Text
		if e := c.settings.Entry(key); e != nil {
			form = e.Data()
		} else if text.Inherited {
			if text.Secret {
				continue
			}
			form = project.PlainData(c.settings.Inherited()[key])
		}
		if raw, err := json.Marshal(form); err == nil {
			config[key.String()] = raw
		}
	}
	return config
}

// source is the text of the settings file; nil before it is read.
func (c *configuration) source() *diag.Source {
	if c.settings == nil {
		return nil
	}
	return c.settings.Source
}
