package state

import (
	"bytes"
	"encoding/json"
	"maps"
	"time"
)

// Identical reports whether two resources give the same state file, with secrets compared by plain text. It may return
// false if only marks that a state file does not record differ.
func Identical(a, b *Resource) bool {
	if a == b {
		return true
	}
	for i := range resourceMembers {
		if !resourceMembers[i].same(a, b) {
			return false
		}
	}
	return identicalMembers(a.Unknown, b.Unknown)
}

func identicalTimes(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	_, x := a.Zone()
	_, y := b.Zone()
	return a.Equal(*b) && x == y
}

func identicalMembers(a, b map[string]json.RawMessage) bool {
	return maps.EqualFunc(a, b, func(x, y json.RawMessage) bool { return bytes.Equal(x, y) })
}
