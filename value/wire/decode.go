package wire

import (
	"encoding/base64"
	"fmt"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// Decode translates the properties of a resource or the result of a call. A nil s gives null. An error is a
// *PropertyError.
func (o Options) Decode(s *structpb.Struct) (value.Value, error) {
	if s == nil {
		return value.Null, nil
	}
	v, f := o.decodeFields(s.GetFields(), true)
	return v, f.err()
}

// DecodeValue translates any value; a nil w gives null, and so does a value that o leaves out. An error is a
// *PropertyError.
func (o Options) DecodeValue(w *structpb.Value) (value.Value, error) {
	v, _, f := o.decode(w)
	return v, f.err()
}

func (o Options) decodeFields(fields map[string]*structpb.Value, top bool) (value.Value, *fault) {
	if len(fields) == 0 {
		return value.EmptyMap(), nil
	}
	keys := make([]string, 0, len(fields))
	for key := range fields {
		if o.SkipInternalKeys && top && len(key) > 1 && key[:2] == "__" {
			continue
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	values := make([]value.Value, 0, len(keys))
	kept := keys[:0]
	for _, key := range keys {
		v, dropped, f := o.decode(fields[key])
		if f != nil {
			return value.Null, f.inKey(key)
		}
		if dropped || o.SkipNulls && v.IsNull() {
			continue
		}
		kept = append(kept, key)
		values = append(values, v)
	}
	return value.SortedMap(kept, values), nil
}

// decode reports as dropped what is left out: an unknown that is not kept, with whatever is wrapped around it.
func (o Options) decode(w *structpb.Value) (v value.Value, dropped bool, f *fault) {
	switch kind := w.GetKind().(type) {
	case *structpb.Value_BoolValue:
		return value.Bool(kind.BoolValue), false, nil
	case *structpb.Value_NumberValue:
		return value.Number(kind.NumberValue), false, nil
	case *structpb.Value_StringValue:
		if of, ok := KindOfSentinel(kind.StringValue); ok {
			return o.unknown(of)
		}
		return value.String(kind.StringValue), false, nil
	case *structpb.Value_ListValue:
		wires := kind.ListValue.GetValues()
		items := make([]value.Value, len(wires))
		for i, item := range wires {
			// A dropped item leaves its place null: positions are kept when reading (F1.11).
			if items[i], _, f = o.decode(item); f != nil {
				return value.Null, false, f.inItem(i)
			}
		}
		return value.List(items...), false, nil
	case *structpb.Value_StructValue:
		fields := kind.StructValue.GetFields()
		if signature, ok := fields[SignatureKey]; ok {
			return o.decodeSpecial(signature, fields)
		}
		v, f = o.decodeFields(fields, false)
		return v, false, f
	}
	return value.Null, false, nil
}

func (o Options) unknown(of value.Kind) (v value.Value, dropped bool, f *fault) {
	switch {
	case o.KeepUnknowns:
		return value.Unknown(of), false, nil
	case o.RejectUnknowns:
		return value.Null, false, newFault("is not known yet, and must be here")
	}
	return value.Null, true, nil
}

func (o Options) decodeSpecial(signature *structpb.Value, fields map[string]*structpb.Value) (value.Value, bool,
	*fault) {
	switch signature.GetStringValue() {
	case SecretSignature:
		inner, ok := fields[valueKey]
		if !ok {
			return value.Null, false, newFault("is a malformed secret: it has no value")
		}
		v, dropped, f := o.decode(inner)
		if f == nil && !dropped && o.KeepSecrets {
			v = v.Secret()
		}
		return v, dropped, f
	case OutputSignature:
		return o.decodeOutput(fields)
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
		return o.decodeArchive(fields)
	case ResourceSignature:
		return o.decodeResource(fields)
	}
	// F1.10
	return value.Null, false, newFault(fmt.Sprintf("has the unrecognized signature %.64q", signature.GetStringValue()))
}

func (o Options) decodeOutput(fields map[string]*structpb.Value) (v value.Value, dropped bool, f *fault) {
	if inner, ok := fields[valueKey]; ok {
		v, dropped, f = o.decode(inner)
	} else {
		v, dropped, f = o.unknown(value.KindAny)
	}
	if f != nil || dropped {
		return v, dropped, f
	}
	if secret, ok := fields[secretKey]; ok {
		b, isBool := secret.GetKind().(*structpb.Value_BoolValue)
		if !isBool {
			return value.Null, false, newFault("is a malformed output: whether it is secret is not a boolean")
		}
		if b.BoolValue && o.KeepSecrets {
			v = v.Secret()
		}
	}
	if list, ok := fields[dependenciesKey]; ok {
		l, isList := list.GetKind().(*structpb.Value_ListValue)
		if !isList {
			return value.Null, false, newFault("is a malformed output: its dependencies are not a list")
		}
		deps := make([]urn.URN, len(l.ListValue.GetValues()))
		for i, dep := range l.ListValue.GetValues() {
			text, isString := dep.GetKind().(*structpb.Value_StringValue)
			if !isString {
				return value.Null, false, newFault("is a malformed output: a dependency is not a string")
			}
			deps[i] = urn.URN(text.StringValue)
		}
		if o.KeepOutputs {
			v = v.DependingOn(deps...)
		}
	}
	return v, false, nil
}

// stringField is a field of a special map that should be a string; an absent one is empty and fine.
func stringField(fields map[string]*structpb.Value, key string) (text string, ok bool) {
	w, present := fields[key]
	if !present {
		return "", true
	}
	s, ok := w.GetKind().(*structpb.Value_StringValue)
	if !ok {
		return "", false
	}
	return s.StringValue, true
}

func decodeAsset(fields map[string]*structpb.Value) (value.Value, *fault) {
	_, hasText := fields[textKey]
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
	case hasText || hash == emptyAssetHash: // F1.8
		a.Text, a.HasText = text, true
	}
	return value.NewAsset(a), nil
}

func (o Options) decodeArchive(fields map[string]*structpb.Value) (v value.Value, dropped bool, f *fault) {
	path, ok1 := stringField(fields, pathKey)
	uri, ok2 := stringField(fields, uriKey)
	hash, ok3 := stringField(fields, hashKey)
	if !ok1 || !ok2 || !ok3 {
		return value.Null, false, newFault("is a malformed archive: its hash, path or uri is not a string")
	}
	a := &value.Archive{Hash: hash}
	secret := false
	assets, hasAssets := fields[assetsKey]
	switch {
	case hasAssets:
		s, isMap := assets.GetKind().(*structpb.Value_StructValue)
		if !isMap {
			return value.Null, false, newFault("is a malformed archive: its assets are not a map")
		}
		members := s.StructValue.GetFields()
		if a.Assets, f = o.decodeFields(members, false); f != nil {
			return value.Null, false, f
		}
		if a.Assets.Len() < len(members) {
			return value.Null, true, nil // a member is not known: nor is the archive, then
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
	case hash == emptyArchiveHash: // F1.8
		a.Assets = value.EmptyMap()
	}
	if v = value.NewArchive(a); secret && o.KeepSecrets {
		v = v.Secret()
	}
	return v, false, nil
}

func (o Options) decodeResource(fields map[string]*structpb.Value) (v value.Value, dropped bool, f *fault) {
	u, ok1 := stringField(fields, urnKey)
	version, ok2 := stringField(fields, versionKey)
	if _, present := fields[urnKey]; !present || !ok1 || !ok2 {
		return value.Null, false, newFault("is a malformed resource reference: it needs a URN")
	}
	id, f := decodeID(fields[idKey])
	if f != nil {
		return value.Null, false, f
	}
	switch {
	case o.KeepResources:
		return value.Resource(&value.ResourceRef{URN: urn.URN(u), ID: id, PackageVersion: version}), false, nil
	case !id.IsKnown():
		return o.unknown(value.KindString)
	case id.IsNull():
		return value.String(u), false, nil
	}
	return id, false, nil
}

// decodeID reads the ID of a resource reference: null for a component, an unknown for one that is empty or unknown
// (F1.7).
func decodeID(w *structpb.Value) (value.Value, *fault) {
	unknown := value.Unknown(value.KindString)
	switch kind := w.GetKind().(type) {
	case nil, *structpb.Value_NullValue:
		return value.Null, nil
	case *structpb.Value_StringValue:
		if _, sentinel := KindOfSentinel(kind.StringValue); sentinel || kind.StringValue == "" {
			return unknown, nil
		}
		return value.String(kind.StringValue), nil
	case *structpb.Value_StructValue:
		fields := kind.StructValue.GetFields()
		if fields[SignatureKey].GetStringValue() == OutputSignature {
			if inner, ok := fields[valueKey]; ok {
				return decodeID(inner)
			}
			return unknown, nil
		}
		if inner, ok := fields["V"]; ok { // the historic form of F1.7
			if _, isMap := inner.GetKind().(*structpb.Value_StructValue); isMap {
				return unknown, nil
			}
			return decodeID(inner)
		}
	}
	return value.Null, newFault("is a malformed resource reference: its ID is not a string")
}
