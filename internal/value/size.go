package value

// Size estimates the length of v in bytes when it is written out; shared parts count each time. It stops when the size
// exceeds limit, which bounds its running time; the result is then some number greater than limit.
func Size(v Value, limit int64) int64 {
	s := sizer{left: limit}
	s.add(v)
	return limit - s.left
}

// partSize is the assumed overhead of each part, in bytes.
const partSize = 24

type sizer struct{ left int64 }

func (s *sizer) text(texts ...string) {
	for _, t := range texts {
		s.left -= int64(len(t))
	}
}

func (s *sizer) add(v Value) {
	if s.left -= partSize; s.left < 0 {
		return
	}
	switch p := v.payload.(type) {
	case string:
		s.text(p)
	case []Value:
		for _, item := range p {
			if s.add(item); s.left < 0 {
				return
			}
		}
	case *fields:
		for i, item := range p.values {
			s.text(p.keys[i])
			if s.add(item); s.left < 0 {
				return
			}
		}
	case *Asset:
		s.text(p.Text, p.Path, p.URI, p.Hash)
	case *Archive:
		s.text(p.Path, p.URI, p.Hash)
		s.add(p.Assets)
	case *ResourceRef:
		s.text(string(p.URN))
		s.add(p.ID)
	}
}
