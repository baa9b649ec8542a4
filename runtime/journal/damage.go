package journal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/runtime/state"
)

// A tail that was not written whole is torn: nobody was told that it was. Everything else that cannot be read is
// damage, which the checksum of each record and what follows it prove. One flipped bit is put right, since the checksum
// says which it was; records behind a damaged one are used where they stand on their own, see Contents.Salvage.

// Gap is a part of a journal that cannot be read although what is in it was acknowledged.
type Gap struct {
	Offset, Length int // in bytes of the file
	entries        int // before it
	last           bool
}

// DamageError is returned when a journal cannot be used without losing finished steps.
type DamageError struct {
	Gaps    []Gap
	Missing []string // what is not known any more, for people
	Entries int      // that can be read
}

// Error describes where the damage is and what is missing.
func (e *DamageError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the journal is damaged: %s cannot be read", gapsText(e.Gaps))
	for _, m := range e.Missing {
		b.WriteString("\n  missing: " + m)
	}
	return b.String()
}

func gapsText(gaps []Gap) string {
	parts := make([]string, len(gaps))
	for i, g := range gaps {
		parts[i] = fmt.Sprintf("%d bytes from byte %d on", g.Length, g.Offset)
	}
	return strings.Join(parts, ", ")
}

// mendSignature is data with the journal's signature in front if it lacks at most one bit of it. The versions of the
// format to come must therefore differ from each other in two bits at least.
func mendSignature(data []byte) (mended []byte, flipped bool) {
	if len(data) < len(signature) {
		return data, false
	}
	distance := 0
	for i := range len(signature) {
		distance += bits.OnesCount8(data[i] ^ signature[i])
	}
	if distance != 1 {
		return data, false
	}
	return append([]byte(signature), data[len(signature):]...), true
}

// looksSound is a cheap test that a record begins at data, before its checksum is computed. size is the payload's, in
// bytes.
func looksSound(data []byte, size uint32) bool {
	return size >= 2 && size <= maxRecord && int(size) <= len(data)-frameSize && isKind(data[frameSize])
}

// mendRecord is the record at the start of data with one flipped bit put right; ok is false if it takes more than that.
func mendRecord(data []byte) (k kind, payload, rest []byte, ok bool) {
	if len(data) < frameSize+2 {
		return 0, nil, nil, false
	}
	size, sum := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:])
	for bit := range 32 {
		n := size ^ 1<<bit
		if looksSound(data, n) && crc32.Checksum(data[frameSize:frameSize+int(n)], castagnoli) == sum {
			payload = data[frameSize : frameSize+int(n)]
			return kind(payload[0]), payload[1:], data[frameSize+int(n):], true
		}
	}
	if size < 2 || size > maxRecord || int(size) > len(data)-frameSize {
		return 0, nil, nil, false
	}
	payload, rest = data[frameSize:frameSize+int(size)], data[frameSize+int(size):]
	wrong := crc32.Checksum(payload, castagnoli) ^ sum
	if bits.OnesCount32(wrong) != 1 { // else it is the checksum that lost a bit
		i, mask, found := FlippedBit(len(payload), wrong)
		if !found {
			return 0, nil, nil, false
		}
		payload = slices.Clone(payload)
		payload[i] ^= mask
	}
	return kind(payload[0]), payload[1:], rest, true
}

// FlippedBit finds the one bit of n bytes whose flip changes their CRC-32C by wrong; found is false if it is more than
// one.
func FlippedBit(n int, wrong uint32) (i int, mask byte, found bool) {
	var change [8]uint32 // of the checksum, by a flip of each bit of the byte looked at
	for b := range change {
		change[b] = castagnoli[byte(1)<<b]
	}
	for i = n - 1; i >= 0; i-- {
		for b, c := range change {
			if c == wrong {
				return i, 1 << b, true
			}
			change[b] = c>>8 ^ castagnoli[byte(c)]
		}
	}
	return 0, 0, false
}

// nextSound is how far behind the start of data the next sound record begins; ok is false if there is none.
func nextSound(data []byte) (skip int, ok bool) {
	for skip = 1; skip+frameSize+2 <= len(data); skip++ {
		tail := data[skip:]
		if looksSound(tail, binary.LittleEndian.Uint32(tail)) && tail[frameSize+1] == '{' {
			if _, _, _, ok := nextRecord(tail); ok {
				return skip, true
			}
		}
	}
	return 0, false
}

// torn reports whether a tail in which no record is sound looks like a write that did not come to its end: it begins
// like a record and the file ends before that does, or it has holes where blocks never reached the disk. The bytes of a
// record are not zero but in its frame.
func torn(tail []byte) bool {
	if len(tail) < frameSize || len(bytes.Trim(tail, "\x00")) == 0 || bytes.Contains(tail, make([]byte, 16)) {
		return true
	}
	size := binary.LittleEndian.Uint32(tail)
	if size < 2 || size > maxRecord || int(size) <= len(tail)-frameSize {
		return false
	}
	if len(tail) > frameSize && !isKind(tail[frameSize]) {
		return false
	}
	return len(tail) <= frameSize+1 || tail[frameSize+1] == '{'
}

func isKind(b byte) bool {
	switch kind(b) {
	case kindHeader, kindSecrets, kindEntry, kindCheckpoint, kindCovered:
		return true
	}
	return false
}

// ReadPiece takes apart what was cut off a journal and set aside as torn: entries that can be read in it prove that it
// was not. Their secrets stay sealed.
func ReadPiece(data []byte) []Entry {
	c := &Contents{}
	for pos := 0; pos < len(data); {
		next, err := c.record(data, pos, false, nil)
		if err == nil && next > pos {
			pos = next
			continue
		}
		skip, found := nextSound(data[pos:])
		if !found {
			break
		}
		pos += skip
	}
	return c.Entries
}

// Salvage is Replayer for a damaged journal: it applies every entry that can be read and tells what is missing. Nothing
// is missing if all steps are known of, steps were begun behind the damage, and what comes out is sound: then what can
// be read stands on its own. A step whose end cannot be read counts as under way.
func (c *Contents) Salvage(base *state.Snapshot, id Identity) (replayer *Replayer, missing []string, done bool,
	err error) {
	if base == nil {
		base = &state.Snapshot{}
	}
	from, err := c.start(id)
	if err != nil && !c.beheaded {
		return nil, nil, false, err
	}
	gaps := c.Gaps[from.gaps:]
	if from.entries == len(c.Entries) && len(gaps) == 0 && from.covered {
		return nil, nil, true, nil
	}
	if from.origin == nil {
		replayer = NewReplayer(base)
	} else if replayer, err = Resume(base, *from.origin); err != nil {
		return nil, nil, false, err
	}
	k := knowledge{steps: map[int64]bool{}, low: 1, firstBegin: len(c.Entries), lastBegin: -1}
	if from.origin != nil {
		k.low = 0
		for _, step := range from.origin.Steps {
			k.saw(step)
		}
	}
	for i, e := range c.Entries[from.entries:] {
		if len(gaps) > 0 && from.entries+i >= gaps[0].entries {
			replayer.loosely(e)
		} else if err := replayer.Apply(e); err != nil {
			return nil, nil, false, fmt.Errorf("entry %d: %w", from.entries+i+1, err)
		}
		if e.Step != 0 {
			k.saw(e.Step)
		}
		if e.Begin != nil {
			k.firstBegin, k.lastBegin = min(k.firstBegin, from.entries+i), from.entries+i
		}
	}
	return replayer, k.missing(c, gaps, replayer), false, nil
}

// knowledge collects what entries tell about steps.
type knowledge struct {
	steps     map[int64]bool
	low, high int64 // the first step there can be, 0 when that is not known, and the last one seen
	// firstBegin and lastBegin are the numbers of the first and the last entry that begin a step.
	firstBegin, lastBegin int
}

func (k *knowledge) saw(step int64) {
	k.steps[step] = true
	k.high = max(k.high, step)
	if k.low != 1 && (k.low == 0 || step < k.low) {
		k.low = step
	}
}

func (k *knowledge) missing(c *Contents, gaps []Gap, replayer *Replayer) (missing []string) {
	if c.beheaded {
		missing = append(missing, "the beginning of the journal, which names the state that it continues")
	}
	if len(gaps) == 0 {
		return missing
	}
	for step := k.low; step <= k.high && len(missing) < 20; step++ {
		if !k.steps[step] && step > 0 {
			missing = append(missing, fmt.Sprintf("what step %d of the run was, and whether it was done", step))
		}
	}
	if k.low != 1 && gaps[0].entries <= k.firstBegin {
		missing = append(missing, fmt.Sprintf("whether anything was begun in the %d bytes from byte %d on", gaps[0].Length,
			gaps[0].Offset))
	}
	switch last := gaps[len(gaps)-1]; {
	case last.last:
		missing = append(missing, fmt.Sprintf("what was done last, in the %d bytes at the end", last.Length))
	case k.lastBegin < last.entries:
		missing = append(missing, fmt.Sprintf("whether anything was begun in the %d bytes from byte %d on", last.Length,
			last.Offset))
	}
	if s, err := replayer.Snapshot(); err != nil {
		missing = append(missing, err.Error())
	} else if err := s.Verify(); err != nil {
		missing = append(missing, err.Error())
	}
	return missing
}

// loosely applies an entry that comes behind damage, as far as it fits: what it adds or changes it describes in full.
func (b *Replayer) loosely(e Entry) {
	gone := func(id ID) bool { return b.slots[id] == nil }
	unknown := func(id ID) bool {
		_, known := b.slots[id]
		return !known
	}
	if e.Begin != nil {
		if _, known := b.live[e.Step]; !known && e.Step != 0 && e.Begin.Resource != nil {
			_ = b.Apply(e) // it has just been checked
		}
		return
	}
	fit := e
	fit.Remove = slices.DeleteFunc(slices.Clone(e.Remove), gone)
	fit.Amend, fit.Add = nil, nil
	for _, a := range e.Amend {
		switch {
		case !gone(a.ID):
			fit.Amend = append(fit.Amend, a)
		case unknown(a.ID): // it was added where nobody can read it
			fit.Add = append(fit.Add, a)
		}
	}
	for _, a := range e.Add {
		if unknown(a.ID) {
			fit.Add = append(fit.Add, a)
		}
	}
	if fit.Step != 0 && b.live[fit.Step] == nil {
		b.live[fit.Step], fit.Step = nil, 0 // its beginning cannot be read
	}
	_ = b.Apply(fit) // what does not fit was taken out
}
