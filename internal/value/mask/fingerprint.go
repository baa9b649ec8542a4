package mask

// window is the length in bytes of the pieces that identify texts too long for an automaton.
const window = 64

// fingerprints holds the hashes of pieces of long texts. A piece of another text with the same hash would be hidden
// too; with 64 bits that does not happen by accident.
type fingerprints struct {
	known  map[uint64]struct{}
	filter []uint64 // bitmap of 1<<12 words over the highest 18 bits of the hashes, which rejects most pieces quickly
}

// factor is the base of the rolling hash, an arbitrary odd number; shifted is its power for the byte that leaves the
// window.
const factor = 0x9e3779b97f4a7c15

var shifted = func() uint64 {
	p := uint64(1)
	for range window {
		p *= factor
	}
	return p
}()

func (f *fingerprints) add(h uint64) {
	if f.known == nil {
		f.known, f.filter = map[uint64]struct{}{}, make([]uint64, 1<<12)
	}
	f.known[h] = struct{}{}
	f.filter[bits(h)>>6] |= 1 << (bits(h) & 63)
}

func bits(h uint64) uint64 { return h >> 46 }

func (f *fingerprints) has(h uint64) bool {
	if f.filter[bits(h)>>6]&(1<<(bits(h)&63)) == 0 {
		return false
	}
	_, found := f.known[h]
	return found
}

// learn adds the consecutive pieces of a text of at least window bytes, and the piece at its end.
func (f *fingerprints) learn(text string) {
	for i := 0; i+window <= len(text); i += window {
		f.add(hash(text[i : i+window]))
	}
	f.add(hash(text[len(text)-window:]))
}

func hash(piece string) uint64 {
	h := uint64(0)
	for i := range len(piece) {
		h = h*factor + uint64(piece[i]) + 1
	}
	return h
}
