package value

// SortedMap makes a map of keys and their values without copying. keys must be ascending bytewise, each once, and as
// many as values; SortedMap takes ownership of both slices. It is for decoders, which sort anyway.
func SortedMap(keys []string, values []Value) Value {
	return Value{kind: KindMap, payload: &fields{keys, values}}
}
