package value

// OrderedMap makes a map from parallel keys and values without copying, and takes ownership of both slices; keys may be
// shared between maps. It reports false, and makes nothing, unless the keys ascend bytewise, each once, and are as many
// as the values.
func OrderedMap(keys []string, values []Value) (Value, bool) {
	if len(keys) != len(values) {
		return Null, false
	}
	for i := 1; i < len(keys); i++ {
		if keys[i-1] >= keys[i] {
			return Null, false
		}
	}
	return Value{kind: KindMap, payload: &fields{keys, values}}, true
}
