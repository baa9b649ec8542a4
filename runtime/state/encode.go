package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/internal/jsontext"
	"github.com/yamlhost/yamlhost/internal/memory"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/secrets"
)

// Checkpoint is a stack's state file (F5.1).
type Checkpoint struct {
	Stack    string          // fully qualified name
	Config   json.RawMessage // only in old files, preserved
	Snapshot *Snapshot       // nil for a new stack without a deployment (F6.6)
	Version  int             // as read; when writing, the content determines the version (F5.2)

	Unknown        map[string]json.RawMessage // unknown keys beside "checkpoint", preserved (F0.3)
	UnknownInCheck map[string]json.RawMessage // unknown keys inside "checkpoint", preserved
}

// Encode returns the deployment JSON of a snapshot (F5.3): compact, without HTML escaping or final newline (F0.4). m
// seals secrets and determines the secrets provider in the text. With a nil m, the text has the snapshot's
// SecretsProvider, and secrets that are not sealed are an error.
func Encode(s *Snapshot, m secrets.Manager) ([]byte, error) {
	return encodeDeployment(s, Sealed(m), func(*encoder, []string) {})
}

// EncodeCheckpoint returns the JSON of a state file (F5.1), formatted like Encode. Without a snapshot it returns the
// stub for a new stack, with version 0 (F6.6).
func EncodeCheckpoint(c *Checkpoint, m secrets.Manager) ([]byte, error) {
	head := func(e *encoder, features []string) {
		e.open()
		e.version(c.Snapshot, features)
		e.key("checkpoint")
		e.open()
		e.field("stack", c.Stack)
		e.raw("config", c.Config)
		if c.Snapshot != nil {
			e.key("latest")
		}
	}
	e := encoder{}
	if c.Snapshot == nil {
		head(&e, nil)
	} else {
		var err error
		if e.buf, err = encodeDeployment(c.Snapshot, Sealed(m), head); err != nil {
			return nil, err
		}
	}
	e.unknown(c.UnknownInCheck)
	e.close()
	e.unknown(c.Unknown)
	e.close()
	return e.buf, nil
}

// EncodeExport returns the output of stack export (F5.17): indented by four spaces, with a final newline. f is the form
// of secrets, usually Sealed or Shown.
func EncodeExport(s *Snapshot, f Form) ([]byte, error) {
	text, err := EncodeUntyped(s, f)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "    "); err != nil {
		return nil, fmt.Errorf("indent the state: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// EncodeUntyped returns the content of EncodeExport, formatted like Encode.
func EncodeUntyped(s *Snapshot, f Form) ([]byte, error) {
	text, err := encodeDeployment(s, f, func(e *encoder, features []string) {
		e.open()
		e.version(s, features)
		e.key("deployment")
	})
	if err != nil {
		return nil, err
	}
	e := encoder{jsonWriter: jsonWriter{buf: text}}
	e.close()
	return e.buf, nil
}

// AppendOperation appends the JSON of a pending operation to dst (F5.15).
func AppendOperation(dst []byte, op Operation, f Form) ([]byte, error) {
	if op.Resource != nil {
		dst = slices.Grow(dst, roomFor(op.Resource))
	}
	e := encoder{jsonWriter: jsonWriter{form: f, buf: dst}}
	e.operation(op)
	return e.buf, e.err
}

// AppendResource appends the JSON of one resource to dst.
func AppendResource(dst []byte, r *Resource, f Form) ([]byte, error) {
	e := encoder{jsonWriter: jsonWriter{form: f, buf: slices.Grow(dst, roomFor(r))}}
	e.resource(r)
	return e.buf, e.err
}

// roomFor estimates the size of a resource's JSON in bytes, to avoid copying a large buffer each time it grows. It is
// rather a little too much than too little, and not more: what is not used of the buffer of a state is garbage, too.
func roomFor(r *Resource) int {
	const members, part = 384, 8 // names, times and flags; quotes and commas around a part, or digits
	n := members + len(r.URN) + len(r.ID) + len(r.Type) + len(r.Parent) + len(r.Provider) + len(r.SourcePosition)
	for _, key := range r.Inputs.Keys() { // in the property dependencies
		n += part + len(key)
	}
	for _, u := range r.Dependencies { // and there, too
		n += 2 * (part + len(u))
	}
	count := func(v value.Value) bool {
		text, _ := v.AsString()
		n += part + len(text)
		for _, key := range v.Keys() {
			n += len(key)
		}
		return false
	}
	r.Inputs.Any(count)
	r.Outputs.Any(count)
	return n
}

// encodeDeployment writes a deployment. head writes the text in front of it and gets the features in use, sorted. The
// features and the secrets provider, which precede the resources, are known only after the resources are written. To
// avoid copying the resources, encodeDeployment leaves space before them.
func encodeDeployment(s *Snapshot, f Form, head func(e *encoder, features []string)) ([]byte, error) {
	const space = 4096
	room := space + 512 + len(s.Metadata) + len(s.Snippets) + len(s.Extensions)
	for _, r := range s.Resources {
		room += roomFor(r)
	}
	memory.Room(room)
	features := map[string]bool{}
	e := encoder{jsonWriter: jsonWriter{form: f, buf: make([]byte, space, room)}, bytes: s.ByteStrings,
		features: features}
	start := func(member string, i int) {
		if i == 0 {
			e.key(member)
			e.buf = append(e.buf, '[')
		} else {
			e.buf = append(e.buf, ',')
		}
	}
	for i, r := range s.Resources {
		start("resources", i)
		e.resource(r)
	}
	if len(s.Resources) > 0 {
		e.buf = append(e.buf, ']')
	}
	for i, op := range s.Pending {
		start("pending_operations", i)
		e.operation(op)
	}
	if len(s.Pending) > 0 {
		e.buf = append(e.buf, ']')
	}
	if e.err != nil {
		return nil, e.err
	}
	provider, err := s.provider(&e)
	if err != nil {
		return nil, err
	}
	if e.key("metadata"); len(s.Metadata) > 0 {
		e.buf = append(e.buf, s.Metadata...)
	} else {
		e.buf = append(e.buf, "{}"...)
	}
	e.raw("snippets", s.Snippets)
	e.raw("extensions", s.Extensions)
	e.unknown(s.Unknown)
	e.close()
	features["byteString"] = e.bytes
	features["snippets-prototype"] = features["snippets-prototype"] || len(s.Snippets) > 0

	front := encoder{}
	maps.DeleteFunc(features, func(_ string, used bool) bool { return !used })
	head(&front, slices.Sorted(maps.Keys(features)))
	front.open()
	front.manifest(s.Manifest)
	front.provider(provider)
	n := len(front.buf)
	if n > space { // unusually long
		return append(front.buf, e.buf[space:]...), nil
	}
	copy(e.buf[space-n:], front.buf)
	return e.buf[space-n:], nil
}

// provider returns the secrets provider to write. e has already written everything else.
func (s *Snapshot) provider(e *encoder) (*SecretsProvider, error) {
	m := e.form.manager
	if m == nil || m.Type() == "" {
		return s.SecretsProvider, nil
	}
	now := &SecretsProvider{Type: m.Type(), State: m.State()}
	if old := s.SecretsProvider; old != nil && old.Type == now.Type && secrets.SameState(old.State, now.State) {
		return old, nil
	}
	if e.sealed {
		return nil, errors.New("the state has secrets that are still sealed by another secrets provider; open them " +
			"before writing it")
	}
	return now, nil
}

func (e *encoder) version(s *Snapshot, features []string) {
	e.key("version")
	switch {
	case s == nil:
		e.buf = append(e.buf, '0')
	case len(features) == 0:
		e.buf = strconv.AppendInt(e.buf, latestVersion, 10)
	default:
		e.buf = strconv.AppendInt(e.buf, latestFeatureVersion, 10)
		optionalTexts(&e.jsonWriter, "features", features)
	}
}

func (e *encoder) manifest(m Manifest) {
	e.key("manifest")
	e.open()
	e.key("time")
	e.time(m.Time)
	e.field("magic", m.Magic)
	e.field("version", m.Version)
	e.unknown(m.Unknown)
	e.close()
}

func (e *encoder) provider(p *SecretsProvider) {
	if p == nil || p.Type == "" {
		return
	}
	e.key("secrets_providers")
	e.open()
	e.field("type", p.Type)
	e.raw("state", p.State)
	e.unknown(p.Unknown)
	e.close()
}

func (e *encoder) operation(op Operation) {
	e.open()
	e.key("resource")
	e.resource(op.Resource)
	e.field("type", string(op.Kind))
	e.unknown(op.Unknown)
	e.close()
}

// resource writes a resource, with its members in the order of F5.8.
func (e *encoder) resource(r *Resource) {
	e.scope = r.URN
	if !utf8.ValidString(string(r.URN)) || !utf8.ValidString(r.ID) {
		e.fail(fmt.Errorf("the URN %q or the ID %q is not UTF-8 and cannot be written", r.URN, r.ID))
	}
	clear(e.repeats)
	e.open()
	for i := range resourceMembers {
		m, start := &resourceMembers[i], len(e.buf)
		m.write(e, r)
		if m.feature != "" && e.features != nil && len(e.buf) > start {
			e.features[m.feature] = true
		}
	}
	e.unknown(r.Unknown)
	e.close()
}

// properties writes inputs or outputs. In a file only their members can be secret, so a secret map is written with all
// its members secret.
func (e *encoder) properties(name string, v value.Value) {
	if v.Len() == 0 || !v.Is(value.KindMap) {
		return
	}
	if _, sealed := SealedText(v); sealed {
		e.fail(fmt.Errorf("the %s of %s are sealed as a whole and cannot be written", name, e.scope))
		return
	}
	e.key(name)
	e.open()
	e.path = append(e.path[:0], name)
	e.entries(v, v.IsSecret())
	e.path = e.path[:0]
	e.close()
}

func (e *encoder) timeouts(r *Resource) {
	t := r.CustomTimeouts
	if t == (Timeouts{}) && len(r.UnknownTimeouts) == 0 {
		return
	}
	e.key("customTimeouts")
	e.open()
	seconds := func(name string, s float64) {
		if s != 0 {
			e.key(name)
			e.number(s)
		}
	}
	seconds("create", t.Create)
	seconds("update", t.Update)
	seconds("delete", t.Delete)
	seconds("read", t.Read)
	e.unknown(r.UnknownTimeouts)
	e.close()
}

func (e *encoder) dependencies(r *Resource) {
	if r.PropertyDependencies.Len() == 0 {
		return
	}
	e.key("propertyDependencies")
	e.open()
	for property, urns := range r.PropertyDependencies.All() {
		e.anyKey(property)
		appendTexts(&e.jsonWriter, urns)
	}
	e.close()
}

func (e *encoder) hooks(r *Resource) {
	if len(r.ResourceHooks) == 0 {
		return
	}
	e.key("resourceHooks")
	e.open()
	for _, kind := range slices.Sorted(maps.Keys(r.ResourceHooks)) {
		e.anyKey(kind)
		appendTexts(&e.jsonWriter, r.ResourceHooks[kind])
	}
	e.close()
}

// jsonWriter appends the members of objects and plain values to a buffer.
type jsonWriter struct {
	form Form
	buf  []byte
}

func (w *jsonWriter) open() { w.buf = append(w.buf, '{') }

func (w *jsonWriter) close() { w.buf = append(w.buf, '}') }

// key starts a member, after a comma unless it is the first of its object.
func (w *jsonWriter) key(name string) {
	if n := len(w.buf); n > 0 && w.buf[n-1] != '{' {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(append(append(w.buf, '"'), name...), '"', ':')
}

// anyKey is key for names that may need escapes.
func (w *jsonWriter) anyKey(name string) {
	if w.buf[len(w.buf)-1] != '{' {
		w.buf = append(w.buf, ',')
	}
	w.text(name)
	w.buf = append(w.buf, ':')
}

func (w *jsonWriter) raw(name string, json []byte) {
	if len(json) > 0 {
		w.key(name)
		w.buf = append(w.buf, json...)
	}
}

func (w *jsonWriter) unknown(members map[string]json.RawMessage) {
	for _, key := range slices.Sorted(maps.Keys(members)) {
		w.anyKey(key)
		w.buf = append(w.buf, members[key]...)
	}
}

func (w *jsonWriter) flag(name string, set bool) {
	if set {
		w.key(name)
		w.buf = append(w.buf, "true"...)
	}
}

// field writes a member with a string.
func (w *jsonWriter) field(name, text string) {
	w.key(name)
	w.text(text)
}

// optional writes a member with a string unless the string is empty.
func (w *jsonWriter) optional(name, text string) {
	if text != "" {
		w.field(name, text)
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
