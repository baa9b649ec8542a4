package wire

import "google.golang.org/protobuf/types/known/structpb"

// The constructors of this file make a message and the part inside it in one allocation each: values are the bulk of
// the data sent, and most of them are scalars.

func newNull() *structpb.Value {
	p := &struct {
		value structpb.Value
		kind  structpb.Value_NullValue
	}{}
	p.value.Kind = &p.kind
	return &p.value
}

func newBool(b bool) *structpb.Value {
	p := &struct {
		value structpb.Value
		kind  structpb.Value_BoolValue
	}{}
	p.kind.BoolValue = b
	p.value.Kind = &p.kind
	return &p.value
}

func newNumber(n float64) *structpb.Value {
	p := &struct {
		value structpb.Value
		kind  structpb.Value_NumberValue
	}{}
	p.kind.NumberValue = n
	p.value.Kind = &p.kind
	return &p.value
}

func newString(s string) *structpb.Value {
	p := &struct {
		value structpb.Value
		kind  structpb.Value_StringValue
	}{}
	p.kind.StringValue = s
	p.value.Kind = &p.kind
	return &p.value
}

func newList(items []*structpb.Value) *structpb.Value {
	p := &struct {
		value structpb.Value
		kind  structpb.Value_ListValue
		list  structpb.ListValue
	}{}
	p.list.Values = items
	p.kind.ListValue = &p.list
	p.value.Kind = &p.kind
	return &p.value
}

func newStruct(s *structpb.Struct) *structpb.Value {
	p := &struct {
		value structpb.Value
		kind  structpb.Value_StructValue
	}{}
	p.kind.StructValue = s
	p.value.Kind = &p.kind
	return &p.value
}

type field struct {
	key   string
	value *structpb.Value
}

// special is a map with a signature.
func special(signature string, fields ...field) *structpb.Value {
	m := make(map[string]*structpb.Value, len(fields)+1)
	m[SignatureKey] = newString(signature)
	for _, f := range fields {
		m[f.key] = f.value
	}
	return newStruct(&structpb.Struct{Fields: m})
}
