package console

import "github.com/yamlhost/yamlhost/internal/jsontext"

// WriteJSON writes a result for programs.
func (a *Console) WriteJSON(v any) error { return jsontext.Write(a.Streams.Out, v, "    ") }
