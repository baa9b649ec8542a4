package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"time"

	"github.com/yamlhost/yamlhost/internal/jsontext"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

const (
	signature = "yhjrnl\x00\x01"
	frameSize = 8
	// maxRecord is the maximum length of a record, so that a damaged length does not cause a huge allocation.
	maxRecord = 1 << 30
)

// Begins reports whether data is the beginning of a journal rather than a later piece of one.
func Begins(data []byte) bool {
	return len(data) >= len(signature) && string(data[:len(signature)-1]) == signature[:len(signature)-1]
}

type kind byte

const (
	kindHeader     kind = 'H'
	kindSecrets    kind = 'S' // how the secrets of later records are sealed
	kindEntry      kind = 'E'
	kindCheckpoint kind = 'C' // a state file with all records so far is about to be written
	kindCovered    kind = 'K' // a state file with a part of the records so far is about to be written
)

// Identity distinguishes one state file from another.
type Identity struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"` // of the stored bytes, lower-case hex; empty if there is no file
}

// IdentityOf returns the identity of a state file with the given content; nil stands for no file.
func IdentityOf(data []byte) Identity {
	if data == nil {
		return Identity{}
	}
	sum := sha256.Sum256(data)
	return Identity{Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}
}

// Header is the first record of a journal.
type Header struct {
	Stack   string                 `json:"stack"` // fully qualified name
	Base    Identity               `json:"base"`  // the state file that the entries apply to
	Secrets *state.SecretsProvider `json:"secrets,omitempty"`
	// Origin is set if the base was written during the operation.
	Origin  *Origin   `json:"origin,omitempty"`
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Started time.Time `json:"started"`
	Command string    `json:"command,omitempty"` // update, destroy, …
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendRecord appends one framed record.
func appendRecord(dst []byte, k kind, payload []byte) []byte {
	head := len(dst)
	dst = append(dst, make([]byte, frameSize)...)
	dst = append(append(dst, byte(k)), payload...)
	return seal(dst, head)
}

// seal writes the frame at head, whose payload is everything after it.
func seal(dst []byte, head int) []byte {
	payload := dst[head+frameSize:]
	binary.LittleEndian.PutUint32(dst[head:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(dst[head+4:], crc32.Checksum(payload, castagnoli))
	return dst
}

// nextRecord returns the record at the start of data; ok is false if there is no complete, undamaged one.
func nextRecord(data []byte) (k kind, payload, rest []byte, ok bool) {
	if len(data) < frameSize {
		return 0, nil, nil, false
	}
	size := binary.LittleEndian.Uint32(data)
	if size == 0 || size > maxRecord || int(size) > len(data)-frameSize {
		return 0, nil, nil, false
	}
	payload = data[frameSize : frameSize+int(size)]
	if crc32.Checksum(payload, castagnoli) != binary.LittleEndian.Uint32(data[4:]) {
		return 0, nil, nil, false
	}
	return kind(payload[0]), payload[1:], data[frameSize+int(size):], true
}

// appendEntry appends the payload of an entry, with its secrets sealed by m.
func appendEntry(dst []byte, e Entry, m state.Sealer) ([]byte, error) {
	dst = strconv.AppendInt(append(dst, `{"step":`...), e.Step, 10)
	var err error
	if e.Begin != nil {
		if e.Begin.Resource == nil {
			return nil, errors.New("an operation without a resource cannot be journaled")
		}
		if dst, err = state.AppendOperation(append(dst, `,"begin":`...), *e.Begin, state.Sealed(m)); err != nil {
			return nil, err
		}
	}
	if len(e.Remove) > 0 {
		dst = append(dst, `,"remove":[`...)
		for i, id := range e.Remove {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = strconv.AppendInt(dst, int64(id), 10)
		}
		dst = append(dst, ']')
	}
	if dst, err = appendAmended(dst, "amend", e.Amend, m); err != nil {
		return nil, err
	}
	if dst, err = appendAmended(dst, "add", e.Add, m); err != nil {
		return nil, err
	}
	if e.Retried != "" {
		text, err := json.Marshal(e.Retried)
		if err != nil {
			return nil, err
		}
		dst = append(append(dst, `,"retried":`...), text...)
	}
	if len(e.Extensions) > 0 {
		text, err := json.Marshal(e.Extensions)
		if err != nil {
			return nil, err
		}
		dst = append(append(dst, `,"extensions":`...), text...)
	}
	return append(dst, '}'), nil
}

func appendAmended(dst []byte, name string, list []Amended, m state.Sealer) (_ []byte, err error) {
	if len(list) == 0 {
		return dst, nil
	}
	dst = append(append(append(dst, `,"`...), name...), `":[`...)
	for i, a := range list {
		if a.Resource == nil {
			return nil, fmt.Errorf("entry %d cannot be journaled without a resource", a.ID)
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(strconv.AppendInt(append(dst, `{"id":`...), int64(a.ID), 10), `,"resource":`...)
		if dst, err = state.AppendResource(dst, a.Resource, state.Sealed(m)); err != nil {
			return nil, err
		}
		dst = append(dst, '}')
	}
	return append(dst, ']'), nil
}

// decodeEntry decodes an entry's payload. A nil m leaves secrets sealed.
func decodeEntry(payload []byte, m state.Sealer) (e Entry, err error) {
	err = readEntry(payload, &e, func(raw []byte) (state.Operation, error) { return state.DecodeOperation(raw, m) },
		func(raw []byte) (*state.Resource, error) { return state.DecodeResource(raw, m) })
	return e, err
}

// readable returns an error if decodeEntry could not decode a payload.
func readable(payload []byte) error {
	return readEntry(payload, &Entry{}, func(raw []byte) (state.Operation, error) {
		return state.Operation{},
			state.ReadableOperation(raw)
	}, func(raw []byte) (*state.Resource, error) { return nil, state.ReadableResource(raw) })
}

// readEntry decodes a payload into e with the given decoders for operations and resources.
func readEntry(payload []byte, e *Entry, operation func([]byte) (state.Operation, error),
	resource func([]byte) (*state.Resource, error)) error {
	amended := func(raw []byte, list *[]Amended) error {
		return jsontext.EachItem(raw, func(item []byte) error {
			var a Amended
			err := jsontext.EachMember(item, func(key string, raw []byte) (err error) {
				switch key {
				case "id":
					err = readNumber(raw, &a.ID)
				case "resource":
					a.Resource, err = resource(raw)
				}
				return err
			})
			*list = append(*list, a)
			return err
		})
	}
	return jsontext.EachMember(payload, func(key string, raw []byte) (err error) {
		switch key {
		case "step":
			err = readNumber(raw, &e.Step)
		case "begin":
			var op state.Operation
			if op, err = operation(raw); err == nil {
				e.Begin = &op
			}
		case "remove":
			err = jsontext.EachItem(raw, func(item []byte) error {
				var id ID
				err := readNumber(item, &id)
				e.Remove = append(e.Remove, id)
				return err
			})
		case "amend":
			err = amended(raw, &e.Amend)
		case "add":
			err = amended(raw, &e.Add)
		case "retried":
			var text string
			text, err = jsontext.StringOf(raw)
			e.Retried = urn.URN(text)
		case "extensions":
			err = json.Unmarshal(raw, &e.Extensions)
		}
		return err
	})
}

func readNumber[T ~int64](raw []byte, n *T) error {
	parsed, err := strconv.ParseInt(string(raw), 10, 64)
	*n = T(parsed)
	return err
}
