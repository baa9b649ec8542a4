package view

import (
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// FindingOf turns a message into a diagnostic with its place in the user's text, where o knows it. Secrets are hidden
// by m.
func FindingOf(o Options, m *mask.Masker, message *engine.Message) diag.Diagnostic {
	return report{o: o, mask: m}.finding(message)
}
