package value

import (
	"math"
	"slices"
	"sort"
	"strings"
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
func Strings(texts []string) Value {
	items := make([]Value, len(texts))
	for i, text := range texts {
		items[i] = String(text)
	}
	return List(items...)
}

// Map makes a map by copying m.
func Map(m map[string]Value) Value {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
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
		return v.retype(KindAny)
	}
	inner, _ := v.Lookup(key)
	return inner.WithMarksOf(v)
}

// Index is the i-th item of a list with the secrecy and dependencies of v added, and whether it exists. An unknown v
// gives an unknown with the same marks.
func (v Value) Index(i int) (Value, bool) {
	if !v.IsKnown() {
		return v.retype(KindAny), true
	}
	items, ok := v.AsList()
	if !ok || i < 0 || i >= len(items) {
		return Null, false
	}
	return items[i].WithMarksOf(v), true
}

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
		next.values = append([]Value(nil), old.values...)
		next.values[i] = val
	} else {
		next.keys = make([]string, 0, len(old.keys)+1)
		next.keys = append(append(append(next.keys, old.keys[:i]...), key), old.keys[i:]...)
		next.values = make([]Value, 0, len(old.values)+1)
		next.values = append(append(append(next.values, old.values[:i]...), val), old.values[i:]...)
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
	next := &fields{keys: make([]string, 0, len(old.keys)-1), values: make([]Value, 0, len(old.keys)-1)}
	next.keys = append(append(next.keys, old.keys[:i]...), old.keys[i+1:]...)
	next.values = append(append(next.values, old.values[:i]...), old.values[i+1:]...)
	return Value{kind: KindMap, payload: next, marks: v.marks}
}

// Transform rebuilds v bottom-up: fn sees every value inside v, parents after their parts, and what it answers takes
// its place. Marks of a container stay unless fn removes them. Parts of archives are assets and archives too.
func (v Value) Transform(fn func(Value) Value) Value {
	switch p := v.payload.(type) {
	case []Value:
		items := make([]Value, len(p))
		for i, item := range p {
			items[i] = item.Transform(fn)
		}
		v.payload = items
	case *fields:
		values := make([]Value, len(p.values))
		for i, item := range p.values {
			values[i] = item.Transform(fn)
		}
		v.payload = &fields{p.keys, values}
	case *Archive:
		if p.Assets.Is(KindMap) {
			archive := *p
			archive.Assets = p.Assets.Transform(fn)
			v.payload = &archive
		}
	case *ResourceRef:
		ref := *p
		ref.ID = p.ID.Transform(fn)
		v.payload = &ref
	}
	return fn(v)
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
