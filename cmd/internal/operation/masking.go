package operation

import (
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// withoutSecrets returns an event whose text, if it has one of its own, hides secrets. The names of the resource that
// it is about stay readable.
func withoutSecrets(secrets *mask.Masker, e engine.Event) engine.Event {
	view.LearnNames(secrets, e)
	m, ok := e.(*engine.Message)
	if !ok {
		return e
	}
	if text := secrets.Hide(m.Text); text != m.Text {
		hidden := *m
		hidden.Text = text
		if m.Policy != nil {
			note := *m.Policy
			note.Message = secrets.Hide(note.Message)
			hidden.Policy = &note
		}
		return &hidden
	}
	return e
}
