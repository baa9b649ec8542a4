package value

// partSize is the assumed overhead of each part, in bytes.
const partSize = 24

// Size estimates the length of v in bytes when it is written out; shared parts count each time. It stops when the size
// exceeds limit, which bounds its running time; the result is then some number greater than limit.
func Size(v Value, limit int64) int64 {
	left := limit
	v.Any(func(part Value) bool {
		size := partSize
		switch p := part.payload.(type) {
		case string:
			size += len(p)
		case *fields:
			for _, key := range p.keys {
				size += len(key)
			}
		case *Asset:
			size += len(p.Text) + len(p.Path) + len(p.URI) + len(p.Hash)
		case *Archive:
			size += len(p.Path) + len(p.URI) + len(p.Hash)
		case *ResourceRef:
			size += len(p.URN)
		}
		left -= int64(size)
		return left < 0
	})
	return limit - left
}
