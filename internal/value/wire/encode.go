package wire

import (
	"encoding/base64"
	"math"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// Encode translates the properties of a resource or the arguments of a call. v must be a map, or null, which gives nil:
// no properties at all. Marks of v itself cannot be expressed at the top and are passed on to each property. An error
// names the property at fault.
func (o Options) Encode(v value.Value) (*structpb.Struct, error) {
	if v.IsNull() {
		return nil, nil
	}
	b, err := o.appendProperties(nil, v)
	if err != nil {
		return nil, err
	}
	s := new(structpb.Struct)
	return s, unmarshalWritten(b, s)
}

// EncodeValue translates any value. A value that o leaves out, which only an unknown is, gives nil without an error. An
// error names the part at fault.
func (o Options) EncodeValue(v value.Value) (*structpb.Value, error) {
	b, there, f := o.appendValue(nil, v)
	if f != nil || !there {
		return nil, f.err()
	}
	w := new(structpb.Value)
	return w, unmarshalWritten(b, w)
}

// EncodeJSON writes a map as the JSON of its message: special values are objects with a signature, unknowns are their
// sentinels (F1.3). The error names the property at fault, or says that JSON cannot express a number.
func (o Options) EncodeJSON(v value.Value) ([]byte, error) {
	s, err := o.Encode(v)
	if err != nil || s == nil {
		return []byte("{}"), err
	}
	return s.MarshalJSON()
}

// unmarshalWritten reads what this package wrote. It fails only where protobuf counts it as nested too deeply.
func unmarshalWritten(b []byte, m proto.Message) error {
	if err := proto.Unmarshal(b, m); err != nil {
		return newFault("cannot be written: " + err.Error()).err()
	}
	return nil
}

func (o Options) appendProperties(b []byte, v value.Value) ([]byte, error) {
	if !v.Is(value.KindMap) {
		return nil, newFault("is not a map of properties").err()
	}
	b, f := o.appendFields(b, v, true)
	return b, f.err()
}

func (o Options) appendFields(b []byte, v value.Value, top bool) ([]byte, *fault) {
	marked := top && (v.IsSecret() || len(v.Deps()) > 0)
	for i, key := range v.Keys() {
		item := v.At(i)
		if marked {
			item = item.WithMarksOf(v)
		}
		if !utf8.ValidString(key) {
			return nil, newFault("has a name that is not UTF-8").inKey(strings.ToValidUTF8(key, "\uFFFD"))
		}
		var f *fault
		if b, _, f = appendEntry(b, key, func(b []byte) ([]byte, bool, *fault) { return o.appendValue(b, item) }); f != nil {
			return nil, f.inKey(key)
		}
	}
	return b, nil
}

// appendValue adds the content of a Value. It reports false for what is left out, and then what it returns is of no
// use.
func (o Options) appendValue(b []byte, v value.Value) (_ []byte, there bool, f *fault) {
	isKnown, secret := v.IsKnown(), v.IsSecret()
	if deps := v.Deps(); o.KeepOutputs && len(deps) > 0 {
		return o.appendOutput(b, v, deps)
	}
	if !isKnown && !o.KeepUnknowns {
		// With its secret, if it has one: a secret without a value is refused by readers (F1.18).
		return o.leaveOut(b)
	}
	content := func(b []byte) ([]byte, bool, *fault) {
		if isKnown {
			return o.appendContent(b, v)
		}
		return appendText(b, Sentinel(v.Kind())), true, nil
	}
	if secret && o.KeepSecrets {
		return appendSecret(b, content)
	}
	return content(b)
}

func (o Options) leaveOut(b []byte) ([]byte, bool, *fault) {
	if o.RejectUnknowns {
		return nil, false, newFault("is not known yet")
	}
	return b, false, nil
}

// appendSecret adds a secret, whose content write adds or leaves out.
func appendSecret(b []byte, write func([]byte) ([]byte, bool, *fault)) ([]byte, bool, *fault) {
	b, start := beginSpecial(b, SecretSignature)
	b, there, f := appendEntry(b, valueKey, write)
	return endMessage(b, start), there, f
}

func (o Options) appendOutput(b []byte, v value.Value, deps []urn.URN) (_ []byte, there bool, f *fault) {
	if !v.IsKnown() && !o.KeepUnknowns {
		return o.leaveOut(b)
	}
	b, start := beginSpecial(b, OutputSignature)
	if v.IsKnown() {
		b, there, f = appendEntry(b, valueKey, func(b []byte) ([]byte, bool, *fault) { return o.appendContent(b, v) })
		if f != nil || !there {
			return nil, false, f
		}
	} else if sentinel := Sentinel(v.Kind()); o.KeepUnknownKinds && sentinel != UnknownString {
		b = appendTextEntry(b, valueKey, sentinel)
	}
	if v.IsSecret() {
		b, _, _ = appendEntry(b, secretKey, func(b []byte) ([]byte, bool, *fault) { return appendBool(b, true), true, nil })
	}
	b, _, f = appendEntry(b, dependenciesKey, func(b []byte) ([]byte, bool, *fault) {
		b, list := beginMessage(b, listField)
		for _, u := range deps {
			if !utf8.ValidString(string(u)) {
				return nil, false, newFault("depends on a resource whose name is not UTF-8")
			}
			open, item := beginMessage(b, itemsField)
			b = endMessage(appendText(open, string(u)), item)
		}
		return endMessage(b, list), true, nil
	})
	return endMessage(b, start), true, f
}

// appendContent is for known values; it looks at no mark of v itself.
func (o Options) appendContent(b []byte, v value.Value) (_ []byte, there bool, f *fault) {
	switch v.Kind() {
	case value.KindBool:
		yes, _ := v.AsBool()
		return appendBool(b, yes), true, nil
	case value.KindNumber:
		n, _ := v.AsNumber()
		b = protowire.AppendTag(b, numberField, protowire.Fixed64Type)
		return protowire.AppendFixed64(b, math.Float64bits(n)), true, nil
	case value.KindString:
		s, _ := v.AsString()
		return o.appendString(b, s)
	case value.KindList:
		b, start := beginMessage(b, listField)
		if b, f = o.appendItems(b, v); f != nil {
			return nil, false, f
		}
		return endMessage(b, start), true, nil
	case value.KindMap:
		b, start := beginMessage(b, structField)
		if b, f = o.appendFields(b, v, false); f != nil {
			return nil, false, f
		}
		return endMessage(b, start), true, nil
	case value.KindAsset:
		a, _ := v.AsAsset()
		return o.appendAsset(b, a)
	case value.KindArchive:
		a, _ := v.AsArchive()
		return o.appendArchive(b, a)
	case value.KindResource:
		r, _ := v.AsResource()
		return o.appendResource(b, r)
	case value.KindNull, value.KindAny:
	}
	return protowire.AppendVarint(protowire.AppendTag(b, nullField, protowire.VarintType), 0), true, nil
}

func (o Options) appendString(b []byte, s string) ([]byte, bool, *fault) {
	if utf8.ValidString(s) {
		return appendText(b, s), true, nil
	}
	if !o.KeepByteStrings {
		return nil, false, newFault("is a string that contains non-UTF8 bytes, which the receiver does not support")
	}
	b, start := beginSpecial(b, BytesSignature)
	return endMessage(appendTextEntry(b, valueKey, base64.StdEncoding.EncodeToString([]byte(s))), start), true, nil
}

func (o Options) appendItems(b []byte, v value.Value) ([]byte, *fault) {
	items, _ := v.AsList()
	for i, item := range items {
		open, start := beginMessage(b, itemsField)
		open, there, f := o.appendValue(open, item)
		if f != nil {
			return nil, f.inItem(i)
		}
		if there { // F1.11: what is left out shifts the rest
			b = endMessage(open, start)
		}
	}
	return b, nil
}

func (o Options) appendAsset(b []byte, a *value.Asset) ([]byte, bool, *fault) {
	b, start := beginSpecial(b, AssetSignature)
	if a.Hash != "" {
		b = appendTextEntry(b, hashKey, a.Hash)
	}
	if !o.ElideAssetContents || a.Hash == "" {
		switch {
		case a.HasText && !utf8.ValidString(a.Text):
			return nil, false, newFault("is a text asset that is not UTF-8; use a file asset for it")
		case a.HasText && a.Text == "" && a.Hash == value.EmptyAssetHash:
			// the hash alone says that there is no text (F1.8)
		case a.HasText:
			b = appendTextEntry(b, textKey, a.Text)
		default:
			b = appendSource(b, a.Path, a.URI)
		}
	}
	return endMessage(b, start), true, checkSource(a.Hash, a.Path, a.URI)
}

// appendSource adds where an asset or archive is: a path goes before a URI.
func appendSource(b []byte, path, uri string) []byte {
	switch {
	case path != "":
		return appendTextEntry(b, pathKey, path)
	case uri != "":
		return appendTextEntry(b, uriKey, uri)
	}
	return b
}

func (o Options) appendArchive(b []byte, a *value.Archive) ([]byte, bool, *fault) {
	whole := !o.ElideAssetContents || a.Hash == ""
	withMembers := whole && (a.Assets.Len() > 0 || a.Assets.Is(value.KindMap) && a.Hash != value.EmptyArchiveHash)
	members := a.Assets
	write := func(b []byte) ([]byte, bool, *fault) {
		b, start := beginSpecial(b, ArchiveSignature)
		if a.Hash != "" {
			b = appendTextEntry(b, hashKey, a.Hash)
		}
		switch {
		case withMembers:
			if !o.KeepUnknowns && members.ContainsUnknown() {
				if o.RejectUnknowns {
					return nil, false, newFault("is an archive with a member that is not known yet")
				}
				return b, false, nil // an archive that lacks a member is another archive
			}
			var f *fault
			b, _, f = appendEntry(b, assetsKey, func(b []byte) ([]byte, bool, *fault) {
				b, start := beginMessage(b, structField)
				b, f := o.appendFields(b, members, false)
				if f != nil {
					return nil, false, f
				}
				return endMessage(b, start), true, nil
			})
			if f != nil {
				return nil, false, f
			}
		case whole:
			b = appendSource(b, a.Path, a.URI)
		}
		return endMessage(b, start), true, checkSource(a.Hash, a.Path, a.URI)
	}
	if withMembers && members.ContainsSecret() {
		members = members.DeepPublic() // readers expect members bare: the whole archive is secret instead
		if o.KeepSecrets {
			return appendSecret(b, write)
		}
	}
	return write(b)
}

// checkSource refuses texts that protobuf cannot carry.
func checkSource(texts ...string) *fault {
	for _, t := range texts {
		if !utf8.ValidString(t) {
			return newFault("names a file that is not UTF-8")
		}
	}
	return nil
}

func (o Options) appendResource(b []byte, r *value.ResourceRef) ([]byte, bool, *fault) {
	id, hasID := r.ID.AsString()
	if !utf8.ValidString(string(r.URN)) || !utf8.ValidString(id) || !utf8.ValidString(r.PackageVersion) {
		return nil, false, newFault("refers to a resource whose name or ID is not UTF-8")
	}
	if !o.KeepResources {
		switch {
		case hasID:
			return appendText(b, id), true, nil
		case r.ID.IsKnown():
			return appendText(b, string(r.URN)), true, nil
		}
		return o.appendValue(b, value.Unknown(value.KindString))
	}
	b, start := beginSpecial(b, ResourceSignature)
	b = appendTextEntry(b, urnKey, string(r.URN))
	if r.URN != "" {
		b = appendTextEntry(appendTextEntry(b, nameKey, r.URN.Name()), typeKey, r.URN.Type())
	}
	if hasID || !r.ID.IsKnown() {
		b = appendTextEntry(b, idKey, id) // empty: a custom resource whose ID is not known yet (F1.7)
	}
	if r.PackageVersion != "" {
		b = appendTextEntry(b, versionKey, r.PackageVersion)
	}
	return endMessage(b, start), true, nil
}
