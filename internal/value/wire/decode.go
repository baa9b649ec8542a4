package wire

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// Decode decodes the properties of a resource or the result of a call. A nil s gives null. The error names the invalid
// property, or reports that s is not a valid message.
func (o Options) Decode(s *structpb.Struct) (value.Value, error) {
	if s == nil {
		return value.Null, nil
	}
	b, err := proto.Marshal(s)
	if err != nil {
		return value.Null, err
	}
	return o.DecodeBytes(b)
}

// DecodeValue decodes any value. A nil w gives null, and so does a value that o leaves out. The error names the invalid
// property, or reports that w is not a valid message.
func (o Options) DecodeValue(w *structpb.Value) (value.Value, error) {
	b, err := proto.Marshal(w)
	if err != nil {
		return value.Null, err
	}
	return o.read(b, new(structpb.Value), func(r *reader, b []byte) (value.Value, *fault) {
		v, _, f := r.decode(b)
		return v, f
	})
}

// DecodeBytes decodes the bytes of a message, like Decode after proto.Unmarshal. Strings of the value share the bytes,
// which must not be modified any more.
func (o Options) DecodeBytes(b []byte) (value.Value, error) {
	return o.read(b, new(structpb.Struct), func(r *reader, b []byte) (value.Value, *fault) {
		v, _, f := r.decodeFields(b, true)
		return v, f
	})
}

// DecodeJSON decodes the output of EncodeJSON. It returns an error for text that is no JSON object; other errors name
// the invalid property.
func (o Options) DecodeJSON(text []byte) (value.Value, error) {
	var s structpb.Struct
	if err := s.UnmarshalJSON(text); err != nil {
		return value.Null, err
	}
	return o.Decode(&s)
}

// maxDepth is the maximum nesting for the fast decoder. Deeper values are limited by protobuf.
const maxDepth = 500

// reader decodes one message.
type reader struct {
	Options
	depth int // number of maps and lists around the current value
}

// read decodes bytes. It first normalizes an unusual encoding, which no known program writes, with protobuf.
func (o Options) read(b []byte, m proto.Message, decode func(*reader, []byte) (value.Value, *fault)) (value.Value,
	error) {
	v, f := decode(&reader{Options: o}, b)
	if f == nil || !f.odd {
		return v, f.err()
	}
	err := proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(b, m)
	if err == nil {
		b, err = proto.Marshal(m)
	}
	if err != nil {
		return value.Null, err
	}
	v, f = decode(&reader{o, -protowire.DefaultRecursionLimit}, b)
	return v, f.err()
}

// member is an entry of a map, with its value as bytes.
type member struct {
	key     string
	content []byte
}

// members are the entries of a map in ascending order of keys.
type members []member

// get returns the value of a key, and whether it exists.
func (m members) get(key string) ([]byte, bool) {
	i, found := slices.BinarySearchFunc(m, key, func(e member, key string) int { return strings.Compare(e.key, key) })
	if !found {
		return nil, false
	}
	return m[i].content, true
}

// lists has memory for members that are decoded.
var lists = sync.Pool{New: func() any { return new(members) }}

// mostMembers is the capacity of the largest list that is kept.
const mostMembers = 1024

// membersOf appends the entries of a map to an empty list. It returns false for an unusual encoding.
func membersOf(b []byte, list members) (members, bool) {
	n, ok := countFields(b)
	if !ok {
		return nil, false
	}
	list = slices.Grow(list, n)
	sorted := true
	for len(b) > 0 {
		var entry []byte
		if entry, b, ok = nested(b, fieldsField); !ok {
			return nil, false
		}
		text, rest, ok := nested(entry, keyField)
		if !ok || !utf8.Valid(text) {
			return nil, false
		}
		content, rest, ok := nested(rest, valueField)
		if !ok || len(rest) > 0 {
			return nil, false
		}
		key := shared(text)
		sorted = sorted && (len(list) == 0 || list[len(list)-1].key < key)
		list = append(list, member{key, content})
	}
	if !sorted {
		slices.SortFunc(list, func(a, b member) int { return strings.Compare(a.key, b.key) })
		for i := 1; i < len(list); i++ {
			if list[i-1].key == list[i].key {
				return nil, false
			}
		}
	}
	return list, true
}

// decodeFields decodes a map; below the top level it may be a special value.
func (r *reader) decodeFields(b []byte, top bool) (v value.Value, dropped bool, f *fault) {
	reused := lists.Get().(*members)
	list, ok := membersOf(b, *reused)
	if !ok {
		return value.Null, false, newOddFault()
	}
	defer func() {
		if cap(list) <= mostMembers {
			*reused = list[:0]
			lists.Put(reused)
		}
	}()
	if !top {
		if signature, ok := list.get(SignatureKey); ok {
			return r.decodeSpecial(signature, list)
		}
	}
	v, f = r.decodeMembers(list)
	return v, false, f
}

func (r *reader) decodeMembers(list members) (value.Value, *fault) {
	if len(list) == 0 {
		return value.EmptyMap(), nil
	}
	keys, values := make([]string, 0, len(list)), make([]value.Value, 0, len(list))
	for _, m := range list {
		v, dropped, f := r.decode(m.content)
		if f != nil {
			return value.Null, f.inKey(m.key)
		}
		if dropped {
			continue
		}
		keys, values = append(keys, m.key), append(values, v)
	}
	return value.SortedMap(keys, values), nil
}

// The kinds of encoded values. An unusual encoding has oddKind.
const (
	oddKind    protowire.Number = -1
	absentKind protowire.Number = 0 // a value without a kind counts as null
)

// kindOf returns the only field of a value, and its content if that is a message or a string.
func kindOf(b []byte) (number protowire.Number, content []byte) {
	if len(b) == 0 {
		return absentKind, nil
	}
	number = protowire.Number(b[0] >> 3)
	switch kind := protowire.Type(b[0] & 7); {
	case number == numberField && kind == protowire.Fixed64Type && len(b) == 9,
		number == boolField && kind == protowire.VarintType && len(b) == 2 && b[1] < 2:
		return number, b[1:]
	case number == nullField && kind == protowire.VarintType:
		if _, n := protowire.ConsumeVarint(b[1:]); n == len(b)-1 {
			return number, nil
		}
	case number == textField, number == listField, number == structField:
		if content, rest, ok := nested(b, number); ok && len(rest) == 0 &&
			(number != textField || utf8.Valid(content)) {
			return number, content
		}
	}
	return oddKind, nil
}

// decode reports a value as dropped if it is an unknown that is not kept, or contains nothing else.
func (r *reader) decode(b []byte) (v value.Value, dropped bool, f *fault) {
	if r.depth++; r.depth > maxDepth {
		return value.Null, false, newOddFault()
	}
	defer func() { r.depth-- }()
	switch number, content := kindOf(b); number {
	case boolField:
		return value.Bool(content[0] == 1), false, nil
	case numberField:
		return value.Number(math.Float64frombits(binary.LittleEndian.Uint64(content))), false, nil
	case textField:
		text := shared(content)
		if kind, ok := KindOfSentinel(text); ok {
			return r.unknown(kind)
		}
		return value.String(text), false, nil
	case listField:
		v, f = r.decodeItems(content)
		return v, false, f
	case structField:
		return r.decodeFields(content, false)
	case absentKind, nullField:
		return value.Null, false, nil
	}
	return value.Null, false, newOddFault()
}

// itemsOf returns the items of a list. It returns false for an unusual encoding.
func itemsOf(b []byte) (items [][]byte, ok bool) {
	n, _ := countFields(b)
	items = make([][]byte, 0, n)
	for len(b) > 0 {
		var content []byte
		if content, b, ok = nested(b, itemsField); !ok {
			return nil, false
		}
		items = append(items, content)
	}
	return items, true
}

func (r *reader) decodeItems(b []byte) (value.Value, *fault) {
	contents, ok := itemsOf(b)
	if !ok {
		return value.Null, newOddFault()
	}
	items := make([]value.Value, len(contents))
	for i, content := range contents {
		var f *fault
		if items[i], _, f = r.decode(content); f != nil { // a dropped item becomes null (F1.11)
			return value.Null, f.inItem(i)
		}
	}
	return value.List(items...), nil
}

func (r *reader) unknown(kind value.Kind) (v value.Value, dropped bool, f *fault) {
	switch {
	case r.KeepUnknowns:
		return value.Unknown(kind), false, nil
	case r.RejectUnknowns:
		return value.Null, false, newFault("is not known yet, and must be here")
	}
	return value.Null, true, nil
}

func (r *reader) decodeSpecial(signature []byte, fields members) (value.Value, bool, *fault) {
	switch text, _ := asText(signature); text {
	case SecretSignature:
		inner, ok := fields.get(valueKey)
		if !ok {
			return value.Null, false, newFault("is a malformed secret: it has no value")
		}
		v, dropped, f := r.decode(inner)
		if f == nil && !dropped && r.KeepSecrets {
			v = v.Secret()
		}
		return v, dropped, f
	case OutputSignature:
		return r.decodeOutput(fields)
	case BytesSignature:
		text, ok := stringField(fields, valueKey)
		content, err := base64.StdEncoding.DecodeString(text)
		if !ok || err != nil {
			return value.Null, false, newFault("is a malformed byte string: it has no base64 text")
		}
		return value.String(string(content)), false, nil
	case AssetSignature:
		v, f := decodeAsset(fields)
		return v, false, f
	case ArchiveSignature:
		return r.decodeArchive(fields)
	case ResourceSignature:
		return r.decodeResource(fields)
	default: // F1.10
		return value.Null, false, newFault(fmt.Sprintf("has the unrecognized signature %.64q", text))
	}
}

func (r *reader) decodeOutput(fields members) (v value.Value, dropped bool, f *fault) {
	if inner, ok := fields.get(valueKey); ok {
		v, dropped, f = r.decode(inner)
	} else {
		v, dropped, f = r.unknown(value.KindAny)
	}
	if f != nil || dropped {
		return v, dropped, f
	}
	if secret, ok := fields.get(secretKey); ok {
		number, content := kindOf(secret)
		if number != boolField {
			return value.Null, false, malformed(number, "output: whether it is secret is not a boolean")
		}
		if content[0] == 1 && r.KeepSecrets {
			v = v.Secret()
		}
	}
	if list, ok := fields.get(dependenciesKey); ok {
		number, content := kindOf(list)
		if number != listField {
			return value.Null, false, malformed(number, "output: its dependencies are not a list")
		}
		items, ok := itemsOf(content)
		if !ok {
			return value.Null, false, newOddFault()
		}
		deps := make([]urn.URN, len(items))
		for i, item := range items {
			text, number := asText(item)
			if number != textField {
				return value.Null, false, malformed(number, "output: a dependency is not a string")
			}
			deps[i] = urn.URN(text)
		}
		if r.KeepOutputs {
			v = v.DependingOn(deps...)
		}
	}
	return v, false, nil
}

// asText returns the text of a string value, and "" for all other kinds.
func asText(b []byte) (text string, number protowire.Number) {
	number, content := kindOf(b)
	if number != textField {
		return "", number
	}
	return shared(content), number
}

// stringField returns a string in a special map. An absent field is empty and valid.
func stringField(fields members, key string) (text string, ok bool) {
	content, present := fields.get(key)
	if !present {
		return "", true
	}
	text, number := asText(content)
	return text, number == textField
}

func decodeAsset(fields members) (value.Value, *fault) {
	_, hasText := fields.get(textKey)
	text, ok1 := stringField(fields, textKey)
	path, ok2 := stringField(fields, pathKey)
	uri, ok3 := stringField(fields, uriKey)
	hash, ok4 := stringField(fields, hashKey)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return value.Null, newFault("is a malformed asset: its hash, text, path or uri is not a string")
	}
	a := &value.Asset{Hash: hash}
	switch {
	case path != "":
		a.Path = path
	case uri != "":
		a.URI = uri
	case hasText || hash == value.EmptyAssetHash: // F1.8
		a.Text, a.HasText = text, true
	}
	return value.NewAsset(a), nil
}

func (r *reader) decodeArchive(fields members) (v value.Value, dropped bool, f *fault) {
	path, ok1 := stringField(fields, pathKey)
	uri, ok2 := stringField(fields, uriKey)
	hash, ok3 := stringField(fields, hashKey)
	if !ok1 || !ok2 || !ok3 {
		return value.Null, false, newFault("is a malformed archive: its hash, path or uri is not a string")
	}
	a := &value.Archive{Hash: hash}
	secret := false
	assets, hasAssets := fields.get(assetsKey)
	switch {
	case hasAssets:
		number, content := kindOf(assets)
		if number != structField {
			return value.Null, false, malformed(number, "archive: its assets are not a map")
		}
		list, ok := membersOf(content, nil)
		if !ok {
			return value.Null, false, newOddFault()
		}
		if a.Assets, f = r.decodeMembers(list); f != nil {
			return value.Null, false, f
		}
		if a.Assets.Len() < len(list) {
			return value.Null, true, nil // with an unknown member the archive is unknown too
		}
		if secret = a.Assets.ContainsSecret(); secret {
			a.Assets = a.Assets.DeepPublic()
		}
		for i, key := range a.Assets.Keys() {
			switch member := a.Assets.At(i); {
			case !member.IsKnown(), member.Is(value.KindAsset), member.Is(value.KindArchive):
			default:
				return value.Null, false, newFault("is neither an asset nor an archive").inKey(key)
			}
		}
	case path != "":
		a.Path = path
	case uri != "":
		a.URI = uri
	case hash == value.EmptyArchiveHash: // F1.8
		a.Assets = value.EmptyMap()
	}
	if v = value.NewArchive(a); secret && r.KeepSecrets {
		v = v.Secret()
	}
	return v, false, nil
}

func (r *reader) decodeResource(fields members) (v value.Value, dropped bool, f *fault) {
	u, ok1 := stringField(fields, urnKey)
	version, ok2 := stringField(fields, versionKey)
	if _, present := fields.get(urnKey); !present || !ok1 || !ok2 {
		return value.Null, false, newFault("is a malformed resource reference: it needs a URN")
	}
	written, _ := fields.get(idKey)
	id, f := r.decodeID(written)
	if f != nil {
		return value.Null, false, f
	}
	switch {
	case r.KeepResources:
		return value.Resource(&value.ResourceRef{URN: urn.URN(u), ID: id, PackageVersion: version}), false, nil
	case !id.IsKnown():
		return r.unknown(value.KindString)
	case id.IsNull():
		return value.String(u), false, nil
	}
	return id, false, nil
}

// decodeID decodes the ID of a resource reference: null for a component, unknown if it is empty or unknown (F1.7).
func (r *reader) decodeID(b []byte) (value.Value, *fault) {
	if r.depth++; r.depth > maxDepth {
		return value.Null, newOddFault()
	}
	defer func() { r.depth-- }()
	unknown := value.Unknown(value.KindString)
	number, content := kindOf(b)
	switch number {
	case absentKind, nullField:
		return value.Null, nil
	case textField:
		text := shared(content)
		if _, sentinel := KindOfSentinel(text); sentinel || text == "" {
			return unknown, nil
		}
		return value.String(text), nil
	case structField:
		fields, ok := membersOf(content, nil)
		if !ok {
			return value.Null, newOddFault()
		}
		if signature, _ := stringField(fields, SignatureKey); signature == OutputSignature {
			if inner, ok := fields.get(valueKey); ok {
				return r.decodeID(inner)
			}
			return unknown, nil
		}
		if inner, ok := fields.get("V"); ok { // the old format in F1.7
			if number, _ := kindOf(inner); number == structField {
				return unknown, nil
			}
			return r.decodeID(inner)
		}
	}
	return value.Null, malformed(number, "resource reference: its ID is not a string")
}

// malformed returns the fault for a special map with a field of the wrong kind.
func malformed(number protowire.Number, reason string) *fault {
	if number == oddKind {
		return newOddFault()
	}
	return newFault("is a malformed " + reason)
}
