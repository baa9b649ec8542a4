package view

import (
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/value/mask"
)

// FindingOf turns a message into a diagnostic with its place in the user's text, where o knows it. Secrets are hidden
// by m.
func FindingOf(o Options, m *mask.Masker, message *engine.Message) diag.Diagnostic {
	return report{o: o, mask: m}.finding(message)
}
