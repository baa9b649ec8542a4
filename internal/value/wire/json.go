package wire

import (
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/internal/value"
)

// EncodeJSON writes a map as the JSON of its message: special values are objects with a signature, unknowns are their
// sentinels (F1.3). The error is a *PropertyError, or says that JSON cannot express a number.
func (o Options) EncodeJSON(v value.Value) ([]byte, error) {
	s, err := o.Encode(v)
	if err != nil || s == nil {
		return []byte("{}"), err
	}
	return s.MarshalJSON()
}

// DecodeJSON reads what EncodeJSON writes. Text that is no JSON object is an error; a *PropertyError names what else
// is wrong.
func (o Options) DecodeJSON(text []byte) (value.Value, error) {
	var s structpb.Struct
	if err := s.UnmarshalJSON(text); err != nil {
		return value.Null, err
	}
	return o.Decode(&s)
}
