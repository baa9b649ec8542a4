package operation

import (
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/value/mask"
)

// withoutSecrets is an event whose text, if it has one of its own, hides secrets.
func withoutSecrets(secrets *mask.Masker, e engine.Event) engine.Event {
	m, ok := e.(*engine.Message)
	if !ok {
		return e
	}
	if text := secrets.Hide(m.Text); text != m.Text {
		hidden := *m
		hidden.Text = text
		return &hidden
	}
	return e
}
