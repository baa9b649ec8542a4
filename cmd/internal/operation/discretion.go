package operation

import (
	"io"

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

// discreetErr is where progress and findings go: excerpts of the program would show secrets that are written in it.
// flush writes what is held back because it may be the beginning of a secret.
func (p *Pipeline) discreetErr() (w io.Writer, flush func() error) {
	if p.options.ShowSecrets {
		return p.Console.Screen, func() error { return nil }
	}
	hiding := mask.NewWriter(p.Console.Screen, p.stage.secrets())
	return hiding, hiding.Flush
}
