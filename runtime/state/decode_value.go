package state

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/internal/jsontext"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/secrets"
)

// decoder reads values and resources with a scanner.
type decoder struct {
	*jsontext.Scanner
	open    Opener          // returns the manager for the secrets provider in the text
	manager secrets.Manager // opens secrets
	blind   bool            // secrets stay sealed (F4.16)
	inner   bool            // the text is the plain text of a secret (F4.7)
	bytes   bool            // a string that is not UTF-8 was read
	skim    bool            // values are checked but not kept; see Readable

	scope   urn.URN       // the resource being read, for errors and Memory
	path    []string      // path to the value being read, for errors
	keys    []string      // stack of the keys of the objects being read
	values  []value.Value // stack of the members and items being read
	lists   [][]urn.URN   // of the property dependencies being read
	skimmed Resource      // reused for every resource while skimming

	// shapes has keys of objects, which later objects share: states repeat the same few shapes.
	shapes [32][]string

	inputs  []written // of the resource being read; those before the cursor have been compared with its outputs
	cursor  int
	secrets int // number of secrets read
}

// written is a property of a resource with its text in the state.
type written struct {
	key, text string
	value     value.Value
}

func (d *decoder) value() value.Value {
	switch d.Next() {
	case '"':
		switch s := d.Text(); {
		case d.skim:
			return value.Null
		case s == unknownText:
			return value.Unknown(value.KindAny) // the state does not record its type (F1.19)
		default:
			return value.String(s)
		}
	case '{':
		return d.object()
	case '[':
		return d.list()
	case 't', 'f':
		return value.Bool(d.Bool())
	case 'n':
		d.Null()
		return value.Null
	default:
		n := d.Number()
		if d.skim {
			return value.Null
		}
		return value.Number(n)
	}
}

func (d *decoder) list() value.Value {
	base := len(d.values)
	d.Scanner.List(func() { d.values = append(d.values, d.value()) })
	if d.skim {
		d.values = d.values[:base]
		return value.Null
	}
	items := append(make([]value.Value, 0, len(d.values)-base), d.values[base:]...)
	d.values = d.values[:base]
	return value.List(items...)
}

// object reads a map or a special value. Members are collected on stacks, so that each map costs two exact allocations,
// or one if its keys equal those of the previous object.
func (d *decoder) object() value.Value {
	keyBase, base, sign := len(d.keys), len(d.values), -1
	start := d.Pos
	d.Scanner.Object(func(key string) {
		if key == signatureKey {
			sign = len(d.keys) - keyBase
		}
		d.path = append(d.path, key)
		skim := d.skim
		d.skim = skim && sign < 0 // special needs the members after the signature
		v := d.part(key, sign)
		d.skim = skim
		d.path = d.path[:len(d.path)-1]
		d.keys = append(d.keys, key)
		d.values = append(d.values, v)
	})
	keys, values := d.keys[keyBase:], d.values[base:]
	d.keys, d.values = d.keys[:keyBase], d.values[:base]
	if d.Err != nil {
		return value.Null
	}
	switch {
	case sign > 0 && d.skim: // read again: special also needs the members before the signature
		d.skim = false
		defer func() { d.skim = true }()
		d.Pos = start
		return d.object()
	case sign >= 0:
		return d.special(start, keys, values)
	case d.skim:
		return noProperties
	}
	own := append(make([]value.Value, 0, len(values)), values...)
	if v, ok := value.OrderedMap(d.sharedKeys(keys), own); ok {
		return v
	}
	entries := make([]value.Entry, len(keys))
	for i, key := range keys {
		entries[i] = value.Entry{Key: key, Value: own[i]}
	}
	return value.MapOf(entries...)
}

// part is member for any object. Most outputs of a resource have the text of the input of the same name: they become
// the same value, without being read again. Keys are in order, so that a cursor finds it. A secret is opened each time,
// because Memory notes who has it.
func (d *decoder) part(key string, sign int) value.Value {
	if len(d.path) != 2 || d.inner || d.skim || sign >= 0 {
		return d.member(sign)
	}
	d.Next()
	start, secrets := d.Pos, d.secrets
	for ; d.path[0] == "outputs" && d.cursor < len(d.inputs) && d.inputs[d.cursor].key <= key; d.cursor++ {
		in := &d.inputs[d.cursor]
		after, same := strings.CutPrefix(d.Source[start:], in.text)
		if same && in.key == key && after != "" && strings.IndexByte(",} \t\r\n", after[0]) >= 0 {
			d.Pos += len(in.text)
			return in.value
		}
	}
	v := d.value()
	if d.path[0] == "inputs" && d.secrets == secrets {
		d.inputs = append(d.inputs, written{key, d.Source[start:d.Pos], v})
	}
	return v
}

// member reads the value of a member. sign is not negative once the object's signature was read; from then on a string
// is never the sentinel of an unknown value.
func (d *decoder) member(sign int) value.Value {
	if sign >= 0 && d.Next() == '"' {
		return value.String(d.Text())
	}
	return d.value()
}

// sharedKeys returns the keys of an object, mostly as the same slice as for an earlier one with the same keys.
func (d *decoder) sharedKeys(keys []string) []string {
	if len(keys) == 0 {
		return nil
	}
	last := &d.shapes[(len(keys)+3*len(keys[0]))%len(d.shapes)]
	if !slices.Equal(keys, *last) {
		*last = append(make([]string, 0, len(keys)), keys...)
	}
	return *last
}

// members are the members of a special value. The last of equal keys counts.
type members struct {
	keys   []string
	values []value.Value
}

func (m members) get(key string) value.Value {
	for i := len(m.keys) - 1; i >= 0; i-- {
		if m.keys[i] == key {
			return m.values[i]
		}
	}
	return value.Null
}

// text returns a string member. The sentinel of an unknown value counts as an ordinary string.
func (m members) text(key string) (string, bool) {
	v := m.get(key)
	if !v.IsKnown() {
		return unknownText, true
	}
	return v.AsString()
}

func (d *decoder) special(start int, keys []string, values []value.Value) value.Value {
	m := members{keys, values}
	signature, _ := m.text(signatureKey)
	switch signature {
	case secretSignature:
		return d.secret(start, m)
	case assetSignature:
		return value.NewAsset(assetOf(m))
	case archiveSignature:
		return d.archive(start, m)
	case resourceSignature:
		return d.reference(start, m)
	case byteStringSignature:
		text, _ := m.text("value")
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			d.FailAt(start, "a byte string is not base64")
		}
		d.bytes = true
		return value.String(string(raw))
	case floatSignature:
		text, _ := m.text("value")
		bits, err := strconv.ParseUint(text, 16, 64)
		if err != nil || len(text) != 16 {
			d.FailAt(start, "a special number does not have 16 hexadecimal digits")
		}
		return value.Number(math.Float64frombits(bits))
	}
	d.FailAt(start, "a special value has the unrecognized signature %q", signature) // F1.10
	return value.Null
}

func assetOf(m members) *value.Asset {
	a := &value.Asset{}
	a.Hash, _ = m.text("hash")
	a.Path, _ = m.text("path")
	a.URI, _ = m.text("uri")
	a.Text, a.HasText = m.text("text")
	if a.Path == "" && a.URI == "" && a.Hash == emptyAssetHash {
		a.HasText = true // writers omit an empty text (F1.8)
	}
	return a
}

func (d *decoder) archive(start int, m members) value.Value {
	a := &value.Archive{}
	a.Hash, _ = m.text("hash")
	a.Path, _ = m.text("path")
	a.URI, _ = m.text("uri")
	if assets := m.get("assets"); assets.Is(value.KindMap) {
		for i := range assets.Len() {
			if k := assets.At(i); !k.Is(value.KindAsset) && !k.Is(value.KindArchive) {
				d.FailAt(start, "the member %q of an archive is neither an asset nor an archive", assets.Keys()[i])
				return value.Null
			}
		}
		a.Assets = assets
	} else if a.Path == "" && a.URI == "" && a.Hash == emptyArchiveHash {
		a.Assets = value.EmptyMap()
	}
	return value.NewArchive(a)
}

func (d *decoder) reference(start int, m members) value.Value {
	text, ok := m.text("urn")
	if !ok {
		d.FailAt(start, "a resource reference has no URN")
		return value.Null
	}
	r := &value.ResourceRef{URN: urn.URN(text)}
	r.PackageVersion, _ = m.text("packageVersion")
	id := m.get("id")
	if wrapped, ok := id.Lookup("V"); ok { // written by old versions of Pulumi (F1.7)
		if id = wrapped; id.Is(value.KindMap) {
			id = value.String("")
		}
	}
	if s, known := id.AsString(); !id.IsKnown() || known && (s == "" || s == unknownText) {
		id = value.Unknown(value.KindString)
	}
	r.ID = id
	return value.Resource(r)
}

func (d *decoder) secret(start int, m members) value.Value {
	d.secrets++
	ciphertext, _ := m.text("ciphertext")
	plaintext, _ := m.text("plaintext")
	switch {
	case (ciphertext == "") == (plaintext == ""):
		d.FailAt(start, "a secret should have either a ciphertext or a plaintext")
		return value.Null
	case plaintext != "":
		return d.plain(start, plaintext)
	case d.inner:
		return d.plain(start, ciphertext)
	case d.blind:
		return sealedValue(ciphertext)
	}
	if d.manager == nil {
		d.Stop(fmt.Errorf("%s cannot be opened: the state does not name its secrets provider", place(d.scope, d.path)))
		return value.Null
	}
	opened, err := d.manager.Decrypt(ciphertext)
	if err != nil {
		d.Stop(fmt.Errorf("%s cannot be opened: %w", place(d.scope, d.path), err))
		return value.Null
	}
	if m, ok := d.manager.(*Memory); ok {
		m.notes.add(memoryKey{d.scope, opened}, ciphertext)
	}
	return d.plain(start, opened)
}

// plain reads a secret's plain text. Errors do not contain the text.
func (d *decoder) plain(start int, plaintext string) value.Value {
	inner := decoder{Scanner: newScanner(plaintext), inner: true}
	inner.Depth = d.Depth
	v := inner.value()
	inner.End()
	if inner.Err != nil {
		if _, ok := errors.AsType[*SyntaxError](inner.Err); ok {
			d.FailAt(start, "what is inside of this secret is not JSON")
		} else {
			d.Stop(inner.Err)
		}
		return value.Null
	}
	d.bytes = d.bytes || inner.bytes
	return v.Secret()
}

// DecodeValue reads a value's state JSON (F1.19). m opens its secrets; a nil m leaves them sealed (see SealedText).
func DecodeValue(data []byte, m secrets.Manager) (value.Value, error) {
	return decodeOne(data, m, (*decoder).value)
}
