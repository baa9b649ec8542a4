package state

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// encoder appends JSON to a buffer. err is the first error.
type encoder struct {
	jsonWriter
	err error

	bytes  bool // a string that is not UTF-8 was written (F5.2)
	sealed bool // a secret that Decode left sealed was written
	// features collects the features in use (F5.2); nil if they are not needed.
	features map[string]bool
	scope    urn.URN        // the resource being written; see Remembering
	repeats  map[string]int // number of secrets sealed within the scope, by plain text
	path     []string       // path to the value being written, for errors
	depth    int            // number of lists, maps and archives around that value
}

// AppendValue appends v's state JSON (F1.19) to dst. Unknown values become the sentinel string; dependencies are lost.
func AppendValue(dst []byte, v value.Value, f Form) ([]byte, error) {
	e := encoder{jsonWriter: jsonWriter{form: f, buf: dst}}
	e.value(v)
	return e.buf, e.err
}

func (e *encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

func (e *encoder) value(v value.Value) {
	if v.IsSecret() {
		e.secret(v)
		return
	}
	e.public(v)
}

// public writes v without its own secret mark. Secrets inside v stay secret.
func (e *encoder) public(v value.Value) {
	if !v.IsKnown() {
		e.buf = append(e.buf, `"`+unknownText+`"`...)
		return
	}
	switch v.Kind() {
	case value.KindBool:
		b, _ := v.AsBool()
		e.buf = strconv.AppendBool(e.buf, b)
	case value.KindNumber:
		f, _ := v.AsNumber()
		e.number(f)
	case value.KindString:
		s, _ := v.AsString()
		e.string(s)
	case value.KindList:
		e.list(v)
	case value.KindMap:
		e.buf = append(e.buf, '{')
		e.entries(v, false)
		e.buf = append(e.buf, '}')
	case value.KindAsset:
		a, _ := v.AsAsset()
		e.asset(a)
	case value.KindArchive:
		a, _ := v.AsArchive()
		e.archive(a)
	case value.KindResource:
		r, _ := v.AsResource()
		e.reference(r)
	default:
		e.buf = append(e.buf, "null"...)
	}
}

func (e *encoder) string(s string) {
	if utf8.ValidString(s) {
		e.text(s)
		return
	}
	e.bytes = true
	e.signature(byteStringSignature)
	e.buf = append(e.buf, `,"value":"`...)
	e.buf = base64.StdEncoding.AppendEncode(e.buf, []byte(s))
	e.buf = append(e.buf, `"}`...)
}

// enter increments the depth for a list, a map or an archive. It returns false after an error, which includes a depth
// that a decoder would refuse.
func (e *encoder) enter() bool {
	if e.depth++; e.depth > value.MaxDepth+1 {
		e.fail(fmt.Errorf("%s is nested more than %d deep", e.where(), value.MaxDepth))
	}
	return e.err == nil
}

func (e *encoder) leave() { e.depth-- }

func (e *encoder) list(v value.Value) {
	items, _ := v.AsList()
	defer e.leave()
	if !e.enter() {
		return
	}
	e.buf = append(e.buf, '[')
	for i, item := range items {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		e.value(item)
	}
	e.buf = append(e.buf, ']')
}

// entries writes a map's entries. If secret is set, it writes all of them as secrets.
func (e *encoder) entries(v value.Value, secret bool) {
	defer e.leave()
	if !e.enter() {
		return
	}
	for i, key := range v.Keys() {
		if key == signatureKey { // a decoder would read it as a special value or refuse it (F1.10)
			e.fail(fmt.Errorf("%s has an unrecognized signature: the key %q is reserved", e.where(), key))
			return
		}
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		e.text(key)
		e.buf = append(e.buf, ':')
		e.path = append(e.path, key)
		if item := v.At(i); secret {
			e.value(item.Secret())
		} else {
			e.value(item)
		}
		e.path = e.path[:len(e.path)-1]
	}
}

func (e *encoder) asset(a *value.Asset) {
	hash := a.Hash
	if hash == "" && a.HasText && a.Text == "" {
		hash = emptyAssetHash // a decoder takes an empty text without this hash for missing content (F1.8)
	}
	e.signature(assetSignature)
	e.optional("hash", hash)
	switch {
	case a.Path != "":
		e.field("path", a.Path)
	case a.URI != "":
		e.field("uri", a.URI)
	case a.Text != "":
		e.field("text", a.Text)
	}
	e.buf = append(e.buf, '}')
}

func (e *encoder) archive(a *value.Archive) {
	hash := a.Hash
	if hash == "" && a.Assets.Is(value.KindMap) && a.Assets.Len() == 0 {
		hash = emptyArchiveHash
	}
	e.signature(archiveSignature)
	defer e.leave()
	if !e.enter() {
		return
	}
	if a.Assets.Len() > 0 {
		e.buf = append(e.buf, `,"assets":`...)
		e.public(a.Assets)
	}
	e.optional("hash", hash)
	switch {
	case a.Path != "":
		e.field("path", a.Path)
	case a.URI != "":
		e.field("uri", a.URI)
	}
	e.buf = append(e.buf, '}')
}

// reference writes a resource reference; an unknown ID becomes "" (F1.7).
func (e *encoder) reference(r *value.ResourceRef) {
	e.signature(resourceSignature)
	if !r.ID.IsNull() {
		id, _ := r.ID.AsString()
		e.field("id", id)
	}
	e.field("packageVersion", r.PackageVersion)
	e.field("urn", string(r.URN))
	e.buf = append(e.buf, '}')
}

func (e *encoder) secret(v value.Value) {
	text, sealed := SealedText(v)
	member := "ciphertext"
	switch {
	case e.form.secrets == markSecrets:
		e.buf = append(e.buf, markedSecret...)
		return
	case e.form.secrets == maskSecrets:
		e.buf = append(e.buf, maskedSecret...)
		return
	case sealed && e.form.secrets != sealSecrets:
		e.fail(fmt.Errorf("%s is sealed and cannot be shown", e.place()))
		return
	case sealed:
		e.sealed = true
	default:
		if text = e.plaintext(v); e.err != nil {
			return
		}
		switch e.form.secrets {
		case showSecrets:
			member = "plaintext"
		case sealSecrets:
			var err error
			if text, err = e.seal(text); err != nil {
				e.fail(fmt.Errorf("%s cannot be sealed: %w", e.place(), err))
				return
			}
		}
	}
	e.signature(secretSignature)
	e.field(member, text)
	e.close()
}

// plaintext returns the JSON text to seal: escaped for HTML, with the plain text of inner secrets as "ciphertext"
// (F4.7). It equals Pulumi's text, so that an unchanged secret keeps its ciphertext.
func (e *encoder) plaintext(v value.Value) string {
	inner := encoder{jsonWriter: jsonWriter{form: Form{secrets: innerSecrets, html: true}}, path: e.path,
		scope: e.scope,
		depth: e.depth}
	inner.public(v)
	e.bytes = e.bytes || inner.bytes
	if inner.err != nil {
		e.fail(inner.err)
	}
	return string(inner.buf)
}

func (e *encoder) seal(plaintext string) (string, error) {
	switch m := e.form.manager.(type) {
	case nil:
		return "", errors.New("no secrets provider is given")
	case interface {
		seal(k memoryKey, n int) (string, error)
	}:
		n := e.repeats[plaintext]
		if e.repeats == nil {
			e.repeats = map[string]int{}
		}
		e.repeats[plaintext] = n + 1
		return m.seal(memoryKey{e.scope, plaintext}, n)
	default:
		return m.Encrypt(plaintext)
	}
}

// where describes the value being written, for errors.
func (e *encoder) where() string {
	text := "the value"
	if len(e.path) > 0 {
		text += fmt.Sprintf(" %q", strings.Join(e.path[:min(len(e.path), 8)], "."))
	}
	if e.scope != "" {
		text += " of " + string(e.scope)
	}
	return text
}

// place describes the secret being written, for errors.
func (e *encoder) place() string { return place(e.scope, e.path) }

func place(scope urn.URN, path []string) string {
	where := "a secret"
	if len(path) > 0 {
		where = fmt.Sprintf("the secret %q", strings.Join(path, "."))
	}
	if scope != "" {
		where += " of " + string(scope)
	}
	return where
}
