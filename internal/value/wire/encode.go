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

// Encode encodes the properties of a resource or the arguments of a call. v must be a map, or null, which gives nil.
// The top level cannot have marks, so marks of v are added to each property. The error names the invalid property.
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

// EncodeValue encodes any value. An unknown that o leaves out gives nil without an error. The error names the invalid
// part.
func (o Options) EncodeValue(v value.Value) (*structpb.Value, error) {
	b, present, f := o.appendValue(nil, v)
	if f != nil || !present {
		return nil, f.err()
	}
	w := new(structpb.Value)
	return w, unmarshalWritten(b, w)
}

// EncodeJSON encodes a map as the JSON of its message: special values are objects with a signature, unknowns are their
// sentinels (F1.3). The error names the invalid property, or reports a number that JSON cannot express.
func (o Options) EncodeJSON(v value.Value) ([]byte, error) {
	s, err := o.Encode(v)
	if err != nil || s == nil {
		return []byte("{}"), err
	}
	return s.MarshalJSON()
}

// unmarshalWritten decodes the output of this package. It only fails if the nesting exceeds protobuf's limit.
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
		if b, _, f = appendEntry(b, key, func(b []byte) ([]byte, bool, *fault) {
			return o.appendValue(b, item)
		}); f != nil {
			return nil, f.inKey(key)
		}
	}
	return b, nil
}

// appendValue appends the content of a Value. present is false if the value is left out; the returned bytes are then
// meaningless.
func (o Options) appendValue(b []byte, v value.Value) (_ []byte, present bool, f *fault) {
	isKnown, secret := v.IsKnown(), v.IsSecret()
	if deps := v.Deps(); o.KeepOutputs && len(deps) > 0 {
		return o.appendOutput(b, v, deps)
	}
	if !isKnown && !o.KeepUnknowns {
		// An enclosing secret is left out too: receivers reject a secret without a value (F1.18).
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

// appendSecret appends a secret whose content is appended or left out by write.
func appendSecret(b []byte, write func([]byte) ([]byte, bool, *fault)) ([]byte, bool, *fault) {
	b, start := beginSpecial(b, SecretSignature)
	b, present, f := appendEntry(b, valueKey, write)
	return endMessage(b, start), present, f
}

func (o Options) appendOutput(b []byte, v value.Value, deps []urn.URN) (_ []byte, present bool, f *fault) {
	if !v.IsKnown() && !o.KeepUnknowns {
		return o.leaveOut(b)
	}
	b, start := beginSpecial(b, OutputSignature)
	if v.IsKnown() {
		b, present, f = appendEntry(b, valueKey, func(b []byte) ([]byte, bool, *fault) { return o.appendContent(b, v) })
		if f != nil || !present {
			return nil, false, f
		}
	} else if sentinel := Sentinel(v.Kind()); o.KeepUnknownKinds && sentinel != UnknownString {
		b = appendTextEntry(b, valueKey, sentinel)
	}
	if v.IsSecret() {
		b, _, _ = appendEntry(b, secretKey, func(b []byte) ([]byte, bool, *fault) {
			return appendBool(b, true), true, nil
		})
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

// appendContent appends a known value, without the marks of v itself.
func (o Options) appendContent(b []byte, v value.Value) (_ []byte, present bool, f *fault) {
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
		open, present, f := o.appendValue(open, item)
		if f != nil {
			return nil, f.inItem(i)
		}
		if present { // F1.11: items behind one that is left out move up
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
			// The hash alone implies the empty text (F1.8).
		case a.HasText:
			b = appendTextEntry(b, textKey, a.Text)
		default:
			b = appendSource(b, a.Path, a.URI)
		}
	}
	return endMessage(b, start), true, checkSource(a.Hash, a.Path, a.URI)
}

// appendSource appends the source of an asset or archive; a path takes precedence over a URI.
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
				return b, false, nil // an archive without one of its members would be a different one
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
		members = members.DeepPublic() // members must not be secret on the wire: the whole archive is instead
		if o.KeepSecrets {
			return appendSecret(b, write)
		}
	}
	return write(b)
}

// checkSource returns an error for strings that protobuf cannot encode.
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
		b = appendTextEntry(b, idKey, id) // empty for a custom resource without a known ID (F1.7)
	}
	if r.PackageVersion != "" {
		b = appendTextEntry(b, versionKey, r.PackageVersion)
	}
	return endMessage(b, start), true, nil
}
