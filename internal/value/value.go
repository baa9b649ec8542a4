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

// The kinds of values. KindAny is only used for unknown values of unknown kind.
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

// String returns the kind's name for messages.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "any"
}

// Value is one program value. The zero Value is null. Values are immutable, safe for concurrent use, and cheap to copy.
// Use Equal to compare, not ==.
//
// The representation is hidden, so that no other package depends on it or forgets that a value may be unknown: Is tests
// the kind of a known value, the As methods return its content, and Get, At and With access a part or replace it.
type Value struct {
	// payload is a bool, float64, string, []Value, *fields, *Asset, *Archive or *ResourceRef. It is nil for null, and
	// the future Kind of an unknown value.
	payload any
	marks   *marks // nil: public, no dependencies
}

// fields is the content of a map: keys in ascending bytewise order, without duplicates.
type fields struct {
	keys   []string
	values []Value
}

// Asset is a piece of content: a text, a file or a remote object (F1.8). At most one source is set; none is if the
// content was elided and only the hash is left.
type Asset struct {
	Text    string // the content, if HasText
	HasText bool   // distinguishes an empty text from none
	Path    string // a file, relative to the program directory or absolute
	URI     string // http, https or file
	Hash    string // SHA-256 of the content in lower-case hex; empty until computed
}

// Archive is a collection of assets: a directory or archive file, a remote archive, or a map of assets and archives.
type Archive struct {
	Assets Value  // a map of assets and archives (F1.25), or null
	Path   string // a directory or archive file, relative to the program directory or absolute
	URI    string // http, https or file
	Hash   string // SHA-256 in lower-case hex by the rules F1.22–F1.25; empty until computed
}

// ResourceRef refers to a resource (F1.7). ID is null for a component, unknown for a custom resource that is not
// created yet, and a string otherwise.
type ResourceRef struct {
	URN            urn.URN
	ID             Value
	PackageVersion string
}

// Null is the null value, the same as Value{}.
var Null = Value{}

// Bool returns a boolean value.
func Bool(b bool) Value { return Value{payload: b} }

// Number returns a number value; any double is allowed, including NaN and infinities.
func Number(f float64) Value { return Value{payload: f} }

// Int returns a number value; integers beyond 2^53 lose precision, as in every wire format (F1.2).
func Int(i int) Value { return Number(float64(i)) }

// String returns a string value; the bytes are kept unchanged, valid UTF-8 or not.
func String(s string) Value { return Value{payload: s} }

// List returns a list. It takes over items: the caller must not modify the slice afterwards.
func List(items ...Value) Value { return Value{payload: items} }

// Strings returns a list of strings.
func Strings[S ~string](texts []S) Value {
	items := make([]Value, len(texts))
	for i, text := range texts {
		items[i] = String(string(text))
	}
	return List(items...)
}

// Map returns a map with a copy of m.
func Map(m map[string]Value) Value {
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	values := make([]Value, len(keys))
	for i, k := range keys {
		values[i] = m[k]
	}
	return Value{payload: &fields{keys, values}}
}

// Entry is a key of a map and its value.
type Entry struct {
	Key   string
	Value Value
}

// MapOf returns a map of entries in any order; the last of several entries with the same key wins.
func MapOf(entries ...Entry) Value {
	if !slices.IsSortedFunc(entries, compareKeys) {
		entries = slices.Clone(entries)
	}
	return MapOfOwn(entries)
}

// MapOfOwn is MapOf for entries that nobody else uses: it sorts them where they are.
func MapOfOwn(entries []Entry) Value {
	if !slices.IsSortedFunc(entries, compareKeys) {
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
	return Value{payload: f}
}

func compareKeys(a, b Entry) int { return strings.Compare(a.Key, b.Key) }

// SortedMap returns a map of keys and values without copying. keys must be in ascending bytewise order without
// duplicates, and as many as values. SortedMap takes over both slices. It is for decoders, which sort anyway.
func SortedMap(keys []string, values []Value) Value {
	return Value{payload: &fields{keys, values}}
}

// OrderedMap returns a map of keys and values without copying, and takes over both slices; maps may share keys. It
// returns false if the keys are not in ascending bytewise order without duplicates, or not as many as the values.
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

// EmptyMap returns a map without entries.
func EmptyMap() Value { return Value{payload: &fields{}} }

// MapOrEmpty returns v if it is a known map, and an empty map otherwise.
func (v Value) MapOrEmpty() Value {
	if v.Is(KindMap) {
		return v
	}
	return EmptyMap()
}

// Unknown returns a value that is not known yet. kind is its future kind, KindAny if that is open; it selects the
// sentinel in messages (F1.5).
func Unknown(kind Kind) Value { return Value{payload: kind} }

// NewAsset returns an asset value. It takes over a.
func NewAsset(a *Asset) Value { return Value{payload: a} }

// NewArchive returns an archive value. It takes over a.
func NewArchive(a *Archive) Value { return Value{payload: a} }

// Resource returns a reference to a resource. It takes over ref.
func Resource(ref *ResourceRef) Value { return Value{payload: ref} }

// Kind returns the value's kind, or the future kind of an unknown value.
func (v Value) Kind() Kind {
	switch p := v.payload.(type) {
	case bool:
		return KindBool
	case float64:
		return KindNumber
	case string:
		return KindString
	case []Value:
		return KindList
	case *fields:
		return KindMap
	case *Asset:
		return KindAsset
	case *Archive:
		return KindArchive
	case *ResourceRef:
		return KindResource
	case Kind:
		return p
	}
	return KindNull
}

// IsKnown reports whether the value itself is known; parts inside may be unknown, see ContainsUnknown.
func (v Value) IsKnown() bool { _, future := v.payload.(Kind); return !future }

// IsNull reports whether the value is a known null.
func (v Value) IsNull() bool { return v.payload == nil }

// Is reports whether the value is known and of kind k.
func (v Value) Is(k Kind) bool { return v.IsKnown() && v.Kind() == k }

// AsBool returns the boolean, and whether the value is a known boolean.
func (v Value) AsBool() (value, ok bool) { value, ok = v.payload.(bool); return }

// AsNumber returns the number, and whether the value is a known number.
func (v Value) AsNumber() (value float64, ok bool) { value, ok = v.payload.(float64); return }

// AsString returns the text, and whether the value is a known string. The caller must not show the text of a secret:
// see IsSecret, and String for printing.
func (v Value) AsString() (value string, ok bool) { value, ok = v.payload.(string); return }

// AsInt returns the number as an integer, and whether the value is a known integer up to 2^53.
func (v Value) AsInt() (value int, ok bool) {
	f, ok := v.payload.(float64)
	if !ok || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int(f), true
}

// AsList returns the items, which the caller must not modify, and whether the value is a known list.
func (v Value) AsList() (items []Value, ok bool) { items, ok = v.payload.([]Value); return }

// AsAsset returns the asset, which the caller must not modify, and whether the value is a known asset.
func (v Value) AsAsset() (a *Asset, ok bool) { a, ok = v.payload.(*Asset); return }

// AsArchive returns the archive, which the caller must not modify, and whether the value is a known archive.
func (v Value) AsArchive() (a *Archive, ok bool) { a, ok = v.payload.(*Archive); return }

// AsResource returns the reference, which the caller must not modify, and whether the value is a known reference.
func (v Value) AsResource() (r *ResourceRef, ok bool) { r, ok = v.payload.(*ResourceRef); return }

// Len returns the number of items of a list or entries of a map, and 0 for all other values.
func (v Value) Len() int {
	switch p := v.payload.(type) {
	case []Value:
		return len(p)
	case *fields:
		return len(p.keys)
	}
	return 0
}

// Keys returns a map's keys in ascending order, which the caller must not modify, and nil for all other values.
func (v Value) Keys() []string {
	if f, ok := v.payload.(*fields); ok {
		return f.keys
	}
	return nil
}

// At returns the i-th item of a list, or the value of the i-th key of a map in ascending order; null if there is none.
// It does not add the marks of v: see Index and Get for that.
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

// Lookup returns the value of a key, and whether v is a known map that has it. It does not add the marks of v: see Get
// for that.
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

// Has reports whether v is a known map with the key.
func (v Value) Has(key string) bool { _, ok := v.Lookup(key); return ok }

// Get returns the value of a key with the secrecy and dependencies of v added (L5.37). For an unknown v it returns an
// unknown with the same marks (L5.36), for a missing key or another kind it returns null with these marks.
func (v Value) Get(key string) Value {
	if !v.IsKnown() {
		return v.UnknownAs(KindAny)
	}
	inner, _ := v.Lookup(key)
	return inner.WithMarksOf(v)
}

// Index returns the i-th item of a list with the secrecy and dependencies of v added, and whether it exists. For an
// unknown v it returns an unknown with the same marks.
func (v Value) Index(i int) (Value, bool) { return Path{IndexStep(i)}.Get(v) }

// With returns the map v with key set to val and the marks of v. Other values than known maps count as empty maps.
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
	return Value{payload: next, marks: v.marks}
}

// Without returns the map v without key and with the marks of v; v itself if it has no such key.
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
	return Value{payload: next, marks: v.marks}
}

// Transform rebuilds v bottom-up: it replaces every value inside v, and at last v, by the result of fn. Containers keep
// their marks unless fn removes them. Members of archives are replaced too.
func (v Value) Transform(fn func(Value) Value) Value {
	next, _ := v.rebuild(func(x Value) (Value, bool) { return fn(x), true })
	return next
}

// rebuild implements Transform for a function that reports whether it changes a value, and reports whether v changed.
// Unchanged parts are shared, not copied.
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

// Any reports whether pred holds for v or any value inside it. It stops at the first one.
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
