package console

import (
	"encoding/json"
)

// WriteJSON writes a result for programs.
func (a *Console) WriteJSON(v any) error {
	enc := json.NewEncoder(a.Streams.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "    ")
	return enc.Encode(v)
}
