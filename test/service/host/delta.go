package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
)

// edit replaces the bytes from one offset to another.
type edit struct {
	Span struct {
		Start struct{ Offset int }
		End   struct{ Offset int }
	}
	NewText string
}

// patch applies edits to a text. Their offsets refer to the original text. The result must have the hash.
func patch(base, edits []byte, hash string) ([]byte, error) {
	var list []edit
	if err := json.Unmarshal(edits, &list); err != nil {
		return nil, fail(http.StatusBadRequest, "malformed delta: %v", err)
	}
	var out []byte
	position := 0
	for _, e := range list {
		start, end := e.Span.Start.Offset, e.Span.End.Offset
		if start < position || end < start || end > len(base) {
			return nil, fail(http.StatusBadRequest, "the delta does not fit the last checkpoint")
		}
		out = append(append(out, base[position:start]...), e.NewText...)
		position = end
	}
	out = append(out, base[position:]...)
	if sum := sha256.Sum256(out); hex.EncodeToString(sum[:]) != hash {
		return nil, fail(http.StatusBadRequest, "the checkpoint hash does not match")
	}
	return out, nil
}
