package wire

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// Encode translates the properties of a resource or the arguments of a call. v must be a map, or null, which gives nil:
// no properties at all. Marks of v itself cannot be expressed at the top and are passed on to each property. An error
// is a
// *PropertyError.
func (o Options) Encode(v value.Value) (*structpb.Struct, error) {
	if v.IsNull() {
		return nil, nil
	}
	if !v.Is(value.KindMap) {
		return nil, newFault("is not a map of properties").err()
	}
	s, f := o.encodeFields(v, true)
	return s, f.err()
}

// EncodeValue translates any value. A value that o leaves out, which only an unknown is, gives nil without an error. An
// error is a *PropertyError.
func (o Options) EncodeValue(v value.Value) (*structpb.Value, error) {
	w, f := o.encode(v)
	return w, f.err()
}

func (o Options) encodeFields(v value.Value, top bool) (*structpb.Struct, *fault) {
	keys := v.Keys()
	fields := make(map[string]*structpb.Value, len(keys))
	marked := top && (v.IsSecret() || len(v.Deps()) > 0)
	for i, key := range keys {
		item := v.At(i)
		if o.SkipNulls && item.IsNull() || o.SkipInternalKeys && top && strings.HasPrefix(key, "__") {
			continue
		}
		if marked {
			item = item.WithMarksOf(v)
		}
		if !utf8.ValidString(key) {
			return nil, newFault("has a name that is not UTF-8").inKey(strings.ToValidUTF8(key, "\uFFFD"))
		}
		w, f := o.encode(item)
		if f != nil {
			return nil, f.inKey(key)
		}
		if w != nil {
			fields[key] = w
		}
	}
	return &structpb.Struct{Fields: fields}, nil
}

// encode gives nil for what is left out.
func (o Options) encode(v value.Value) (*structpb.Value, *fault) {
	known, secret := v.IsKnown(), v.IsSecret()
	var deps []urn.URN
	if o.KeepOutputs || o.UpgradeToOutputs {
		deps = v.Deps()
	}
	if len(deps) > 0 || o.UpgradeToOutputs && (secret || !known) {
		return o.encodeOutput(v, deps)
	}
	var w *structpb.Value
	if known {
		var f *fault
		if w, f = o.encodeContent(v); f != nil || w == nil {
			return nil, f
		}
	} else {
		switch {
		case o.KeepUnknowns:
			w = newString(Sentinel(v.Kind()))
		case o.RejectUnknowns:
			return nil, newFault("is not known yet")
		default:
			return nil, nil // with its secret, if it has one: a secret without a value is refused by readers (F1.18)
		}
	}
	if secret && o.KeepSecrets {
		w = special(SecretSignature, field{valueKey, w})
	}
	return w, nil
}

func (o Options) encodeOutput(v value.Value, deps []urn.URN) (*structpb.Value, *fault) {
	fields := make([]field, 0, 3)
	switch {
	case v.IsKnown():
		w, f := o.encodeContent(v)
		if f != nil || w == nil {
			return nil, f
		}
		fields = append(fields, field{valueKey, w})
	case o.KeepUnknowns:
		if sentinel := Sentinel(v.Kind()); o.KeepUnknownKinds && sentinel != UnknownString {
			fields = append(fields, field{valueKey, newString(sentinel)})
		}
	case o.RejectUnknowns:
		return nil, newFault("is not known yet")
	default:
		return nil, nil
	}
	if v.IsSecret() {
		fields = append(fields, field{secretKey, newBool(true)})
	}
	if len(deps) > 0 {
		urns := make([]*structpb.Value, len(deps))
		for i, u := range deps {
			if !utf8.ValidString(string(u)) {
				return nil, newFault("depends on a resource whose name is not UTF-8")
			}
			urns[i] = newString(string(u))
		}
		fields = append(fields, field{dependenciesKey, newList(urns)})
	}
	return special(OutputSignature, fields...), nil
}

// encodeContent is for known values; it looks at no mark of v itself.
func (o Options) encodeContent(v value.Value) (*structpb.Value, *fault) {
	switch v.Kind() {
	case value.KindBool:
		b, _ := v.AsBool()
		return newBool(b), nil
	case value.KindNumber:
		n, _ := v.AsNumber()
		return newNumber(n), nil
	case value.KindString:
		s, _ := v.AsString()
		return o.encodeString(s)
	case value.KindList:
		items, _ := v.AsList()
		return o.encodeList(items)
	case value.KindMap:
		s, f := o.encodeFields(v, false)
		if f != nil {
			return nil, f
		}
		return newStruct(s), nil
	case value.KindAsset:
		a, _ := v.AsAsset()
		return o.encodeAsset(a)
	case value.KindArchive:
		a, _ := v.AsArchive()
		return o.encodeArchive(a)
	case value.KindResource:
		r, _ := v.AsResource()
		return o.encodeResource(r)
	case value.KindNull, value.KindAny:
		return newNull(), nil
	}
	return newNull(), nil
}

func (o Options) encodeString(s string) (*structpb.Value, *fault) {
	if utf8.ValidString(s) {
		return newString(s), nil
	}
	if !o.KeepByteStrings {
		return nil, newFault("is a string that contains non-UTF8 bytes, which the receiver does not support")
	}
	return special(BytesSignature, field{valueKey, newString(base64.StdEncoding.EncodeToString([]byte(s)))}), nil
}

func (o Options) encodeList(items []value.Value) (*structpb.Value, *fault) {
	list := make([]*structpb.Value, 0, len(items))
	for i, item := range items {
		w, f := o.encode(item)
		if f != nil {
			return nil, f.inItem(i)
		}
		if w != nil { // F1.11: what is left out shifts the rest
			list = append(list, w)
		}
	}
	return newList(list), nil
}

func (o Options) encodeAsset(a *value.Asset) (*structpb.Value, *fault) {
	fields := make([]field, 0, 2)
	if a.Hash != "" {
		fields = append(fields, field{hashKey, newString(a.Hash)})
	}
	if !o.ElideAssetContents || a.Hash == "" {
		switch {
		case a.HasText && !utf8.ValidString(a.Text):
			return nil, newFault("is a text asset that is not UTF-8; use a file asset for it")
		case a.HasText && a.Text == "" && a.Hash == emptyAssetHash:
			// the hash alone says that there is no text (F1.8)
		case a.HasText:
			fields = append(fields, field{textKey, newString(a.Text)})
		case a.Path != "":
			fields = append(fields, field{pathKey, newString(a.Path)})
		case a.URI != "":
			fields = append(fields, field{uriKey, newString(a.URI)})
		}
	}
	return checkSource(special(AssetSignature, fields...), a.Hash, a.Path, a.URI)
}

func (o Options) encodeArchive(a *value.Archive) (*structpb.Value, *fault) {
	fields := make([]field, 0, 2)
	if a.Hash != "" {
		fields = append(fields, field{hashKey, newString(a.Hash)})
	}
	secret := false
	if !o.ElideAssetContents || a.Hash == "" {
		switch {
		case a.Assets.Len() > 0 || a.Assets.Is(value.KindMap) && a.Hash != emptyArchiveHash:
			members := a.Assets
			if secret = members.ContainsSecret(); secret {
				members = members.DeepPublic() // readers expect members bare: the whole archive is secret instead
			}
			if !o.KeepUnknowns && members.ContainsUnknown() {
				if o.RejectUnknowns {
					return nil, newFault("is an archive with a member that is not known yet")
				}
				return nil, nil // an archive that lacks a member is another archive
			}
			s, f := o.encodeFields(members, false)
			if f != nil {
				return nil, f
			}
			fields = append(fields, field{assetsKey, newStruct(s)})
		case a.Path != "":
			fields = append(fields, field{pathKey, newString(a.Path)})
		case a.URI != "":
			fields = append(fields, field{uriKey, newString(a.URI)})
		}
	}
	w, f := checkSource(special(ArchiveSignature, fields...), a.Hash, a.Path, a.URI)
	if secret && o.KeepSecrets && f == nil {
		w = special(SecretSignature, field{valueKey, w})
	}
	return w, f
}

// checkSource refuses texts that protobuf cannot carry.
func checkSource(w *structpb.Value, texts ...string) (*structpb.Value, *fault) {
	for _, t := range texts {
		if !utf8.ValidString(t) {
			return nil, newFault("names a file that is not UTF-8")
		}
	}
	return w, nil
}

func (o Options) encodeResource(r *value.ResourceRef) (*structpb.Value, *fault) {
	id, hasID := r.ID.AsString()
	if !utf8.ValidString(string(r.URN)) || !utf8.ValidString(id) || !utf8.ValidString(r.PackageVersion) {
		return nil, newFault("refers to a resource whose name or ID is not UTF-8")
	}
	if !o.KeepResources {
		switch {
		case hasID:
			return newString(id), nil
		case r.ID.IsKnown():
			return newString(string(r.URN)), nil
		}
		return o.encode(value.Unknown(value.KindString))
	}
	fields := make([]field, 0, 5)
	fields = append(fields, field{urnKey, newString(string(r.URN))})
	if r.URN != "" {
		fields = append(fields, field{nameKey, newString(r.URN.Name())}, field{typeKey, newString(r.URN.Type())})
	}
	if hasID || !r.ID.IsKnown() {
		fields = append(fields, field{idKey, newString(id)}) // empty: a custom resource whose ID is not known yet (F1.7)
	}
	if r.PackageVersion != "" {
		fields = append(fields, field{versionKey, newString(r.PackageVersion)})
	}
	return special(ResourceSignature, fields...), nil
}
