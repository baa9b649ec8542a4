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

// A tail that was not written completely is torn: it was never acknowledged. Everything else that cannot be read is
// damage, as the checksum of each record and the records behind it prove. A single flipped bit is corrected, because
// the checksum identifies it; records behind a damaged one are used if they are consistent on their own, see
// Contents.Salvage.

// Gap is a part of a journal that cannot be read although its records were acknowledged.
type Gap struct {
	Offset, Length int // in bytes of the file
	entries        int // number of entries before it
	last           bool
}

// DamageError is returned if a journal cannot be used without losing finished steps.
type DamageError struct {
	Gaps    []Gap
	Missing []string // descriptions of what is unknown, to follow "it is not known"
	Entries int      // number of readable entries
	Err     error    // why nothing can be read, or what does not fit; may be nil
}

// Error describes the damage and what is missing.
func (e *DamageError) Error() string {
	text := "the journal is damaged"
	if len(e.Gaps) > 0 {
		text += fmt.Sprintf(": %s cannot be read", gapsText(e.Gaps))
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	for _, m := range e.Missing {
		text += "\n  missing: " + m
	}
	return text
}

// Unwrap gives the cause.
func (e *DamageError) Unwrap() error { return e.Err }

// Unreadable returns the damage of a journal that Read does not accept, for the reason err: nothing in it is known.
func Unreadable(data []byte, err error) *DamageError {
	return &DamageError{Gaps: []Gap{{Length: len(data), last: true}}, Err: err,
		Missing: []string{"what the interrupted run did"}}
}

func gapsText(gaps []Gap) string {
	parts := make([]string, len(gaps))
	for i, g := range gaps {
		parts[i] = fmt.Sprintf("%s from byte %d on", bytesText(g.Length), g.Offset)
	}
	return strings.Join(parts, ", ")
}

func bytesText(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// mendSignature returns data with a correct signature if at most one bit of it is wrong. Future versions of the format
// must therefore differ in at least two bits.
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

// looksSound is a cheap check whether a record begins at data, before its checksum is computed. size is the length of
// the payload in bytes.
func looksSound(data []byte, size uint32) bool {
	return size >= 2 && size <= maxRecord && int(size) <= len(data)-frameSize && isKind(data[frameSize])
}

// mendRecord returns the record at the start of data with one flipped bit corrected; ok is false if more is wrong.
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
	if bits.OnesCount32(wrong) != 1 { // otherwise the flipped bit is in the checksum
		i, mask, found := FlippedBit(len(payload), wrong)
		if !found {
			return 0, nil, nil, false
		}
		payload = slices.Clone(payload)
		payload[i] ^= mask
	}
	return kind(payload[0]), payload[1:], rest, true
}

// FlippedBit finds the bit in n bytes whose flip changes their CRC-32C by wrong; found is false if no single bit does.
func FlippedBit(n int, wrong uint32) (i int, mask byte, found bool) {
	var change [8]uint32 // of the checksum, by a flip of each bit of the current byte
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

// nextSound returns the distance from the start of data to the next valid record; ok is false if there is none.
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

// torn reports whether a tail without valid records looks like an incomplete write: it begins like a record and the
// file ends inside of it, or it has zeros where blocks never reached the disk. Only the frame of a record contains zero
// bytes.
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

// ReadPiece returns the entries in a piece that was cut off a journal as torn. If there are any, the piece was not
// torn. Their secrets stay sealed.
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

// Salvage is like Replayer for a damaged journal: it applies every readable entry that fits. damage describes what is
// missing; it is nil if all steps are known, steps were begun behind the damage, and the resulting state is valid: then
// the readable entries suffice. A step whose end is unreadable counts as in progress.
func (c *Contents) Salvage(base *state.Snapshot, id Identity) (replayer *Replayer, damage *DamageError, done bool,
	err error) {
	if base == nil {
		base = &state.Snapshot{}
	}
	begin, err := c.start(id)
	if err != nil && !c.beheaded {
		return nil, nil, false, err
	}
	gaps := c.Gaps[begin.gaps:]
	if begin.entries == len(c.Entries) && len(gaps) == 0 && begin.covered {
		return nil, nil, true, nil
	}
	k := knowledge{steps: map[int64]bool{}, low: 1, firstBegin: len(c.Entries), lastBegin: -1}
	if begin.origin == nil {
		replayer = NewReplayer(base)
	} else if replayer, err = Resume(base, *begin.origin); err != nil {
		k.misfit, replayer = err, NewReplayer(base)
	} else {
		k.low = 0
		for _, step := range begin.origin.Steps {
			k.saw(step)
		}
	}
	for i, e := range c.Entries[begin.entries:] {
		if k.misfit != nil || len(gaps) > 0 && begin.entries+i >= gaps[0].entries {
			replayer.loosely(e)
		} else if err := replayer.Apply(e); err != nil {
			k.misfit = fmt.Errorf("its entry %d does not fit the others: %w", begin.entries+i+1, err)
			replayer.loosely(e)
		}
		if e.Step != 0 {
			k.saw(e.Step)
		}
		if e.Begin != nil {
			k.firstBegin, k.lastBegin = min(k.firstBegin, begin.entries+i), begin.entries+i
		}
	}
	if missing := k.missing(c, gaps, replayer); len(missing) > 0 {
		damage = &DamageError{Gaps: c.Gaps, Missing: missing, Entries: len(c.Entries), Err: k.misfit}
	}
	return replayer, damage, false, nil
}

// knowledge collects which steps appear in entries.
type knowledge struct {
	steps     map[int64]bool
	low, high int64 // the first possible step, 0 if unknown, and the last one seen
	// firstBegin and lastBegin are the indexes of the first and the last entry that begin a step.
	firstBegin, lastBegin int
	// misfit is the first reason why entries do not fit the base or each other although they can be read; nil if they
	// do.
	misfit error
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
		missing = append(missing, "which state the journal continues, because its beginning is lost")
	}
	if k.misfit != nil {
		missing = append(missing, "whether all entries are there, in their order")
	}
	if len(gaps) == 0 && k.misfit == nil {
		return missing
	}
	for step := k.low; step <= k.high && len(missing) < 20; step++ {
		if !k.steps[step] && step > 0 {
			missing = append(missing, fmt.Sprintf("what step %d of the run was, and whether it was done", step))
		}
	}
	if len(gaps) > 0 && k.low != 1 && gaps[0].entries <= k.firstBegin {
		missing = append(missing, "whether anything was begun in the "+gapsText(gaps[:1]))
	}
	if len(gaps) > 0 {
		switch last := gaps[len(gaps)-1]; {
		case last.last:
			missing = append(missing, "what was done last, in the "+bytesText(last.Length)+" at the end")
		case k.lastBegin < last.entries:
			missing = append(missing, "whether anything was begun in the "+gapsText([]Gap{last}))
		}
	}
	if s, err := replayer.Snapshot(); err != nil {
		missing = append(missing, "what the whole state was: "+err.Error())
	} else if err := s.Verify(); err != nil {
		missing = append(missing, "what the whole state was: "+err.Error())
	}
	return missing
}

// loosely applies the parts of an entry behind damage that fit; added and amended resources are complete in it.
func (b *Replayer) loosely(e Entry) {
	gone := func(id ID) bool { return b.slots[id] == nil }
	unknown := func(id ID) bool {
		_, known := b.slots[id]
		return !known
	}
	if e.Begin != nil {
		if _, known := b.live[e.Step]; !known && e.Step != 0 && e.Begin.Resource != nil {
			_ = b.Apply(e) // checked above
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
		case unknown(a.ID): // its addition is unreadable
			fit.Add = append(fit.Add, a)
		}
	}
	for _, a := range e.Add {
		if unknown(a.ID) {
			fit.Add = append(fit.Add, a)
		}
	}
	if fit.Step != 0 && b.live[fit.Step] == nil {
		b.live[fit.Step], fit.Step = nil, 0 // its beginning is unreadable
	}
	_ = b.Apply(fit) // the parts that do not fit are removed
}
