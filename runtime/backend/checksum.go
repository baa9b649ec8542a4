package backend

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math/bits"

	"github.com/yamlhost/yamlhost/runtime/journal"
)

// A state file ends with a member that other programs pass over and do not keep: the CRC-32C of everything before it.
// So a flipped bit shows that would else make another state of it, and the checksum says which bit it was. A file that
// another program wrote has no such member and is taken as it is.
const (
	checksumMember = "yamlhostChecksum"
	checksumBefore = `,"` + checksumMember + `":"crc32c:`
	checksumAfter  = `"}`
	checksumLength = len(checksumBefore) + 8 + len(checksumAfter)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksumOf returns the end of a state file that begins with body.
func checksumOf(body []byte) []byte {
	return fmt.Appendf(nil, "%s%08x%s", checksumBefore, crc32.Checksum(body, castagnoli), checksumAfter)
}

// withChecksum returns the text of a state file with its checksum. It may take over the bytes of text, whose end it
// replaces then: a large state is not copied for a few bytes.
func withChecksum(text []byte) []byte {
	body, ok := bytes.CutSuffix(text, []byte("}"))
	if !ok || len(bytes.TrimSpace(body)) <= 1 { // an object without members has no place for one more
		return text
	}
	return append(body, checksumOf(body)...)
}

// FlippedError is returned when one bit of a state file has flipped since the file was written.
type FlippedError struct {
	Offset int // 0-based, in bytes of the unpacked text
	mended []byte
}

func (e *FlippedError) Error() string {
	return fmt.Sprintf("one bit of it has flipped since it was written, in byte %d", e.Offset)
}

// verifyChecksum compares a state file's text with its checksum. changed says that it is not what was written, by more
// than one bit: somebody has edited it, or it is damaged. A single flipped bit is a *FlippedError.
func verifyChecksum(text []byte) (changed bool, err error) {
	text = bytes.TrimRight(text, " \t\r\n")
	n := len(text) - checksumLength
	if n < 2 {
		return false, nil
	}
	body, found := text[:n], text[n:]
	want := checksumOf(body)
	switch offset := distance(found, want); {
	case offset == 0:
		return false, nil
	case offset == 1: // the bit is in the checksum; the state is as it was
		return false, &FlippedError{Offset: n + firstDifference(found, want), mended: append(body[:n:n], want...)}
	case !bytes.HasPrefix(found, []byte(checksumBefore)) || !bytes.HasSuffix(found, []byte(checksumAfter)):
		return false, nil
	}
	var stored [4]byte
	if _, err := hex.Decode(stored[:], found[len(checksumBefore):len(checksumBefore)+8]); err != nil {
		return true, nil
	}
	wrong := crc32.Checksum(body, castagnoli) ^ binary.BigEndian.Uint32(stored[:])
	if i, mask, found := journal.FlippedBit(n, wrong); found {
		mended := bytes.Clone(text)
		mended[i] ^= mask
		return false, &FlippedError{Offset: i, mended: mended}
	}
	return true, nil
}

// intact reports whether a state file's text ends with its checksum, so that every byte is as it was written.
func intact(text []byte) bool {
	n := len(text) - checksumLength
	return n > 1 && bytes.Equal(text[n:], checksumOf(text[:n]))
}

// distance returns in how many bits two texts of one length differ.
func distance(a, b []byte) (n int) {
	for i := range a {
		n += bits.OnesCount8(a[i] ^ b[i])
	}
	return n
}

// firstDifference returns the index of the first byte in which two texts of one length differ.
func firstDifference(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return len(a)
}
