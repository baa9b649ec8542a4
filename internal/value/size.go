package value

// Size estimates how many bytes a value takes when it is written out: what several values share counts each time. It
// stops looking once it is over limit, so that it takes no longer than a value of that size does; the result is then
// any number over it.
func Size(v Value, limit int64) int64 {
	s := sizer{left: limit}
	s.add(v)
	return limit - s.left
}

// partSize is the size of each part besides its text, in bytes.
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
