package value

import (
	"maps"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// Kind is the kind of a value.
type Kind uint8

// The kinds of values. Only an unknown value has KindAny, if its kind is not known either.
const (
	KindNull Kind = iota
	KindBool
	KindNumber
	KindString
	KindList
	KindMap
	KindAsset
	KindArchive
	KindResource
	KindAny
)

var kindNames = [...]string{"null", "boolean", "number", "string", "list", "map", "asset", "archive", "resource", "any"}

// String is the kind's name as users know it.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "any"
}

// Value is one program value. The zero Value is null. Values are immutable and safe for concurrent use; copying one is
// cheap. Use Equal to compare, not ==.
//
// Many of its methods have one line. They are the only way to what is inside, so that nothing outside of this package
// depends on how a kind is held, or forgets that a value may be unknown: Is asks for the kind of a known value, those
// with As look at its content, and Get, At and With give a part, or the value with another one.
type Value struct {
	kind    Kind
	payload any    // bool, float64, string, []Value, *fields, *Asset, *Archive, *ResourceRef; nil for null and unknown
	marks   *marks // nil: known, public, no dependencies
}

// fields is a map's content: keys ascending bytewise, each once.
type fields struct {
	keys   []string
	values []Value
}

// Asset is a piece of content: text, a file or a remote object (F1.8). Exactly one of the sources is set, or none when
// the content was elided and only the hash is left.
type Asset struct {
	Text    string // the content itself, when HasText
	HasText bool   // tells an empty text from no text
	Path    string // a file, relative to the program directory or absolute
	URI     string // http, https or file
	Hash    string // SHA-256 of the content in lower-case hex; empty while not computed
}

// Archive is a collection of assets: a directory or archive file, a remote archive, or a map of assets and archives.
type Archive struct {
	Assets Value  // a map of assets and archives (F1.25), else null
	Path   string // a directory or archive file, relative to the program directory or absolute
	URI    string // http, https or file
	Hash   string // SHA-256 in lower-case hex by the rules F1.22–F1.25; empty while not computed
}

// ResourceRef points at a resource (F1.7). ID is null for a component, an unknown for a custom resource whose ID is not
// known yet, else a string.
type ResourceRef struct {
	URN            urn.URN
	ID             Value
	PackageVersion string
}

// Null is the null value, the same as Value{}.
var Null = Value{}

// Bool makes a boolean.
func Bool(b bool) Value { return Value{kind: KindBool, payload: b} }

// Number makes a number; any double is allowed, NaN and infinities too.
func Number(f float64) Value { return Value{kind: KindNumber, payload: f} }

// Int makes a number from an integer; beyond 2^53 precision is lost, as on every wire (F1.2).
func Int(i int) Value { return Number(float64(i)) }

// String makes a string; the bytes are kept as they are, valid UTF-8 or not.
func String(s string) Value { return Value{kind: KindString, payload: s} }

// List makes a list. It takes ownership of items: the caller must not modify the slice afterwards.
func List(items ...Value) Value { return Value{kind: KindList, payload: items} }

// Strings makes a list of texts.
func Strings[S ~string](texts []S) Value {
	items := make([]Value, len(texts))
	for i, text := range texts {
		items[i] = String(string(text))
	}
	return List(items...)
}

// Map makes a map by copying m.
func Map(m map[string]Value) Value {
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	values := make([]Value, len(keys))
	for i, k := range keys {
		values[i] = m[k]
	}
	return Value{kind: KindMap, payload: &fields{keys, values}}
}

// Entry is one key of a map with its value.
type Entry struct {
	Key   string
	Value Value
}

// MapOf makes a map from entries in any order; of entries with the same key the last one counts.
func MapOf(entries ...Entry) Value {
	if !slices.IsSortedFunc(entries, compareKeys) {
		entries = slices.Clone(entries)
		slices.SortStableFunc(entries, compareKeys)
	}
	f := &fields{keys: make([]string, 0, len(entries)), values: make([]Value, 0, len(entries))}
	for _, e := range entries {
		if n := len(f.keys); n > 0 && f.keys[n-1] == e.Key {
			f.values[n-1] = e.Value
			continue
		}
		f.keys = append(f.keys, e.Key)
		f.values = append(f.values, e.Value)
	}
	return Value{kind: KindMap, payload: f}
}

func compareKeys(a, b Entry) int { return strings.Compare(a.Key, b.Key) }

// SortedMap makes a map of keys and their values without copying. keys must be ascending bytewise, each once, and as
// many as values; SortedMap takes ownership of both slices. It is for decoders, which sort anyway.
func SortedMap(keys []string, values []Value) Value {
	return Value{kind: KindMap, payload: &fields{keys, values}}
}

// OrderedMap makes a map from parallel keys and values without copying, and takes ownership of both slices; keys may be
// shared between maps. It reports false, and makes nothing, unless the keys ascend bytewise, each once, and are as many
// as the values.
func OrderedMap(keys []string, values []Value) (Value, bool) {
	if len(keys) != len(values) {
		return Null, false
	}
	for i := 1; i < len(keys); i++ {
		if keys[i-1] >= keys[i] {
			return Null, false
		}
	}
	return SortedMap(keys, values), true
}

// EmptyMap is a map without entries.
func EmptyMap() Value { return Value{kind: KindMap, payload: &fields{}} }

// MapOrEmpty returns v if it is a map, else an empty map.
func (v Value) MapOrEmpty() Value {
	if v.Is(KindMap) {
		return v
	}
	return EmptyMap()
}

// Unknown is a value that cannot be computed before apply. kind says what it will be; KindAny when that is
// open. It chooses the sentinel on the wire (F1.5).
func Unknown(kind Kind) Value { return Value{kind: kind, marks: &marks{unknown: true}} }

// NewAsset makes an asset value. It takes ownership of a.
func NewAsset(a *Asset) Value { return Value{kind: KindAsset, payload: a} }

// NewArchive makes an archive value. It takes ownership of a.
func NewArchive(a *Archive) Value { return Value{kind: KindArchive, payload: a} }

// Resource makes a reference to a resource. It takes ownership of ref.
func Resource(ref *ResourceRef) Value { return Value{kind: KindResource, payload: ref} }

// Kind is the value's kind, also when it is secret. For an unknown value it is the kind that it will be.
func (v Value) Kind() Kind { return v.kind }

// IsKnown reports whether the value itself is known; parts inside it may still be unknown, see ContainsUnknown.
func (v Value) IsKnown() bool { return v.marks == nil || !v.marks.unknown }

// IsNull reports whether the value is a known null.
func (v Value) IsNull() bool { return v.kind == KindNull && v.IsKnown() }

// Is reports whether the value is known and of kind k.
func (v Value) Is(k Kind) bool { return v.kind == k && v.IsKnown() }

// AsBool is the boolean, and whether the value is a known boolean.
func (v Value) AsBool() (value, ok bool) { value, ok = v.payload.(bool); return }

// AsNumber is the number, and whether the value is a known number.
func (v Value) AsNumber() (value float64, ok bool) { value, ok = v.payload.(float64); return }

// AsString is the text, and whether the value is a known string. The caller is responsible for not showing the text of
// a secret: see IsSecret, and String for printing.
func (v Value) AsString() (value string, ok bool) { value, ok = v.payload.(string); return }

// AsInt is the number as an integer, and whether the value is a known number without a fraction that fits.
func (v Value) AsInt() (value int, ok bool) {
	f, ok := v.payload.(float64)
	if !ok || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int(f), true
}

// AsList is the list's items, which the caller must not modify, and whether the value is a known list.
func (v Value) AsList() (items []Value, ok bool) { items, ok = v.payload.([]Value); return }

// AsAsset is the asset, which the caller must not modify, and whether the value is a known asset.
func (v Value) AsAsset() (a *Asset, ok bool) { a, ok = v.payload.(*Asset); return }

// AsArchive is the archive, which the caller must not modify, and whether the value is a known archive.
func (v Value) AsArchive() (a *Archive, ok bool) { a, ok = v.payload.(*Archive); return }

// AsResource is the reference, which the caller must not modify, and whether the value is a known resource reference.
func (v Value) AsResource() (r *ResourceRef, ok bool) { r, ok = v.payload.(*ResourceRef); return }

// Len is the number of items of a list or entries of a map; 0 for everything else.
func (v Value) Len() int {
	switch p := v.payload.(type) {
	case []Value:
		return len(p)
	case *fields:
		return len(p.keys)
	}
	return 0
}

// Keys are a map's keys in ascending order, which the caller must not modify; nil for everything else.
func (v Value) Keys() []string {
	if f, ok := v.payload.(*fields); ok {
		return f.keys
	}
	return nil
}

// At is the i-th item of a list or the value of a map's i-th key in ascending order, as it stands inside; null outside
// of the bounds. It does not add the marks of v: see Index and Get for that.
func (v Value) At(i int) Value {
	var items []Value
	switch p := v.payload.(type) {
	case []Value:
		items = p
	case *fields:
		items = p.values
	}
	if i < 0 || i >= len(items) {
		return Null
	}
	return items[i]
}

// Lookup is the value of a key as it stands inside the map, and whether v is a known map that has it. It does not add
// the marks of v: see Get for that.
func (v Value) Lookup(key string) (Value, bool) {
	f, ok := v.payload.(*fields)
	if !ok {
		return Null, false
	}
	i := sort.SearchStrings(f.keys, key)
	if i == len(f.keys) || f.keys[i] != key {
		return Null, false
	}
	return f.values[i], true
}

// Has reports whether v is a known map with that key.
func (v Value) Has(key string) bool { _, ok := v.Lookup(key); return ok }

// Get is the value of a key with the secrecy and dependencies of v added (L5.37). An unknown v gives an unknown with
// the same marks (L5.36); a missing key, or a v that is no map, gives null with them.
func (v Value) Get(key string) Value {
	if !v.IsKnown() {
		return v.UnknownAs(KindAny)
	}
	inner, _ := v.Lookup(key)
	return inner.WithMarksOf(v)
}

// Index is the i-th item of a list with the secrecy and dependencies of v added, and whether it exists. An unknown v
// gives an unknown with the same marks.
func (v Value) Index(i int) (Value, bool) { return Path{IndexStep(i)}.Get(v) }

// With is a copy of the map v with key set to val, keeping v's marks. A v that is no known map counts as an empty one.
func (v Value) With(key string, val Value) Value {
	old, _ := v.payload.(*fields)
	if old == nil {
		old = &fields{}
	}
	i := sort.SearchStrings(old.keys, key)
	next := &fields{}
	if i < len(old.keys) && old.keys[i] == key {
		next.keys = old.keys
		next.values = slices.Clone(old.values)
		next.values[i] = val
	} else {
		next.keys = slices.Concat(old.keys[:i], []string{key}, old.keys[i:])
		next.values = slices.Concat(old.values[:i], []Value{val}, old.values[i:])
	}
	return Value{kind: KindMap, payload: next, marks: v.marks}
}

// Without is a copy of the map v without key, keeping v's marks; v itself when it has no such key.
func (v Value) Without(key string) Value {
	old, ok := v.payload.(*fields)
	if !ok {
		return v
	}
	i := sort.SearchStrings(old.keys, key)
	if i == len(old.keys) || old.keys[i] != key {
		return v
	}
	next := &fields{slices.Concat(old.keys[:i], old.keys[i+1:]), slices.Concat(old.values[:i], old.values[i+1:])}
	return Value{kind: KindMap, payload: next, marks: v.marks}
}

// Transform rebuilds v bottom-up: fn sees every value inside v, parents after their parts, and what it answers takes
// its place. Marks of a container stay unless fn removes them. Parts of archives are assets and archives too.
func (v Value) Transform(fn func(Value) Value) Value {
	next, _ := v.rebuild(func(x Value) (Value, bool) { return fn(x), true })
	return next
}

// rebuild does the work of Transform for a function that reports whether it changes a value, and reports whether
// anything in v changed. What does not change is shared and not copied.
func (v Value) rebuild(fn func(Value) (Value, bool)) (next Value, changed bool) {
	switch p := v.payload.(type) {
	case []Value:
		var items []Value
		if items, changed = rebuildAll(p, fn); changed {
			v.payload = items
		}
	case *fields:
		var values []Value
		if values, changed = rebuildAll(p.values, fn); changed {
			v.payload = &fields{p.keys, values}
		}
	case *Archive:
		if archive := *p; !p.Assets.IsNull() {
			archive.Assets, changed = p.Assets.rebuild(fn)
			v.payload = &archive
		}
	case *ResourceRef:
		ref := *p
		ref.ID, changed = p.ID.rebuild(fn)
		v.payload = &ref
	}
	next, itself := fn(v)
	return next, changed || itself
}

func rebuildAll(values []Value, fn func(Value) (Value, bool)) (next []Value, changed bool) {
	for i, v := range values {
		item, changed := v.rebuild(fn)
		if changed && next == nil {
			next = slices.Clone(values)
		}
		if changed {
			next[i] = item
		}
	}
	return next, next != nil
}

// Any reports whether pred holds for v or any value inside it; it stops at the first.
func (v Value) Any(pred func(Value) bool) bool {
	if pred(v) {
		return true
	}
	switch p := v.payload.(type) {
	case []Value:
		for _, item := range p {
			if item.Any(pred) {
				return true
			}
		}
	case *fields:
		for _, item := range p.values {
			if item.Any(pred) {
				return true
			}
		}
	case *Archive:
		return p.Assets.Any(pred)
	case *ResourceRef:
		return p.ID.Any(pred)
	}
	return false
}
