package state

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/yamlhost/yamlhost/internal/jsontext"
)

// jsonWriter appends the members of objects and plain values to a buffer.
type jsonWriter struct {
	form Form
	buf  []byte
}

func (w *jsonWriter) open() { w.buf = append(w.buf, '{') }

func (w *jsonWriter) close() { w.buf = append(w.buf, '}') }

// key starts a member; the comma depends on what is before it.
func (w *jsonWriter) key(name string) {
	if n := len(w.buf); n > 0 && w.buf[n-1] != '{' {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(append(append(w.buf, '"'), name...), '"', ':')
}

func (w *jsonWriter) raw(name string, json []byte) {
	if len(json) > 0 {
		w.key(name)
		w.buf = append(w.buf, json...)
	}
}

func (w *jsonWriter) unknown(members map[string]json.RawMessage) {
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if n := len(w.buf); w.buf[n-1] != '{' {
			w.buf = append(w.buf, ',')
		}
		w.text(key)
		w.buf = append(append(w.buf, ':'), members[key]...)
	}
}

func (w *jsonWriter) flag(name string, set bool) {
	if set {
		w.key(name)
		w.buf = append(w.buf, "true"...)
	}
}

func (w *jsonWriter) optional(name, text string) {
	if text != "" {
		w.key(name)
		w.text(text)
	}
}

func (w *jsonWriter) text(s string) { w.buf = jsontext.AppendString(w.buf, s, w.form.html) }

func (w *jsonWriter) number(f float64) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		w.buf = fmt.Appendf(w.buf, `{"%s":"%s","value":"%016x"}`, signatureKey, floatSignature, math.Float64bits(f))
		return
	}
	w.buf = jsontext.AppendNumber(w.buf, f)
}

func (w *jsonWriter) signature(s string) {
	w.buf = append(append(append(w.buf, `{"`+signatureKey+`":"`...), s...), '"')
}

func (w *jsonWriter) field(name, text string) {
	w.buf = append(append(append(w.buf, `,"`...), name...), `":`...)
	w.text(text)
}

func (w *jsonWriter) time(t time.Time) {
	w.buf = append(w.buf, '"')
	w.buf = t.AppendFormat(w.buf, time.RFC3339Nano)
	w.buf = append(w.buf, '"')
}

func (w *jsonWriter) moment(name string, t *time.Time) {
	if t != nil {
		w.key(name)
		w.time(*t)
	}
}

func appendTexts[T ~string](w *jsonWriter, list []T) {
	w.buf = append(w.buf, '[')
	for i, text := range list {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.text(string(text))
	}
	w.buf = append(w.buf, ']')
}

func optionalTexts[T ~string](w *jsonWriter, name string, list []T) {
	if len(list) > 0 {
		w.key(name)
		appendTexts(w, list)
	}
}

func optionalTextMap[T ~string](w *jsonWriter, name string, m map[string][]T) {
	if len(m) == 0 {
		return
	}
	w.key(name)
	w.open()
	for i, key := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.text(key)
		w.buf = append(w.buf, ':')
		appendTexts(w, m[key])
	}
	w.close()
}
