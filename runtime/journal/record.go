package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value/urn"
)

const (
	signature = "yhjrnl\x00\x01"
	frameSize = 8
	// maxRecord bounds what is read for one record, so that a damaged length does not ask for all memory.
	maxRecord = 1 << 30
)

// Begins reports whether data is the beginning of a journal, and not a later piece of one.
func Begins(data []byte) bool {
	return len(data) >= len(signature) && string(data[:len(signature)-1]) == signature[:len(signature)-1]
}

type kind byte

const (
	kindHeader     kind = 'H'
	kindSecrets    kind = 'S' // how the secrets of the records after it are sealed
	kindEntry      kind = 'E'
	kindCheckpoint kind = 'C' // a state file that holds everything up to here is about to be written
)

// Identity tells one state file from another.
type Identity struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"` // of the bytes in the store, lower-case hex; empty when there is no file
}

// IdentityOf is the identity of a file with that content; nil stands for no file.
func IdentityOf(data []byte) Identity {
	if data == nil {
		return Identity{}
	}
	sum := sha256.Sum256(data)
	return Identity{Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}
}

// Header begins a journal.
type Header struct {
	Stack   string                 `json:"stack"` // fully qualified name
	Base    Identity               `json:"base"`  // the state file that the entries apply to
	Secrets *state.SecretsProvider `json:"secrets,omitempty"`
	Origin  *Origin                `json:"origin,omitempty"` // set when the base was written in the middle of the operation
	PID     int                    `json:"pid"`
	Host    string                 `json:"host"`
	Started time.Time              `json:"started"`
	Command string                 `json:"command,omitempty"` // what is being done: update, destroy, …
}

type entryRecord struct {
	Step    int64           `json:"step,omitempty"`
	Begin   json.RawMessage `json:"begin,omitempty"`
	Remove  []ID            `json:"remove,omitempty"`
	Amend   []amendedRecord `json:"amend,omitempty"`
	Add     []amendedRecord `json:"add,omitempty"`
	Retried urn.URN         `json:"retried,omitempty"`

	Extensions map[string]json.RawMessage `json:"extensions,omitempty"`
}

type amendedRecord struct {
	ID       ID              `json:"id"`
	Resource json.RawMessage `json:"resource"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendRecord appends one framed record.
func appendRecord(dst []byte, k kind, payload []byte) []byte {
	head := len(dst)
	dst = append(dst, make([]byte, frameSize)...)
	dst = append(append(dst, byte(k)), payload...)
	return seal(dst, head)
}

// seal fills in the frame at head, whose payload is everything after it.
func seal(dst []byte, head int) []byte {
	payload := dst[head+frameSize:]
	binary.LittleEndian.PutUint32(dst[head:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(dst[head+4:], crc32.Checksum(payload, castagnoli))
	return dst
}

// nextRecord takes the record at the start of data; ok is false if there is no whole, undamaged one.
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

// encodeEntry is the payload of an entry, its secrets sealed by m.
func encodeEntry(e Entry, m state.Sealer) ([]byte, error) {
	r := entryRecord{Step: e.Step, Remove: e.Remove, Retried: e.Retried, Extensions: e.Extensions}
	var err error
	if e.Begin != nil {
		if e.Begin.Resource == nil {
			return nil, errors.New("an operation without a resource cannot be journaled")
		}
		if r.Begin, err = state.EncodeOperation(*e.Begin, m); err != nil {
			return nil, err
		}
	}
	if r.Amend, err = encodeAmended(e.Amend, m); err != nil {
		return nil, err
	}
	if r.Add, err = encodeAmended(e.Add, m); err != nil {
		return nil, err
	}
	return r.append(nil)
}

func encodeAmended(list []Amended, m state.Sealer) ([]amendedRecord, error) {
	var out []amendedRecord
	for _, a := range list {
		if a.Resource == nil {
			return nil, fmt.Errorf("entry %d cannot be journaled without a resource", a.ID)
		}
		text, err := state.EncodeResource(a.Resource, m)
		if err != nil {
			return nil, err
		}
		out = append(out, amendedRecord{a.ID, text})
	}
	return out, nil
}

// append is the record's JSON. It is written by hand because the resources in it are JSON already and can be large.
func (r *entryRecord) append(dst []byte) ([]byte, error) {
	dst = fmt.Appendf(dst, `{"step":%d`, r.Step)
	if r.Begin != nil {
		dst = append(append(dst, `,"begin":`...), r.Begin...)
	}
	if len(r.Remove) > 0 {
		dst = append(dst, `,"remove":[`...)
		for i, id := range r.Remove {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = fmt.Appendf(dst, "%d", id)
		}
		dst = append(dst, ']')
	}
	dst = appendAmended(dst, "amend", r.Amend)
	dst = appendAmended(dst, "add", r.Add)
	if r.Retried != "" {
		text, err := json.Marshal(r.Retried)
		if err != nil {
			return nil, err
		}
		dst = append(append(dst, `,"retried":`...), text...)
	}
	if len(r.Extensions) > 0 {
		text, err := json.Marshal(r.Extensions)
		if err != nil {
			return nil, err
		}
		dst = append(append(dst, `,"extensions":`...), text...)
	}
	return append(dst, '}'), nil
}

func appendAmended(dst []byte, name string, list []amendedRecord) []byte {
	if len(list) == 0 {
		return dst
	}
	dst = fmt.Appendf(dst, `,"%s":[`, name)
	for i, a := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(fmt.Appendf(dst, `{"id":%d,"resource":`, a.ID), a.Resource...)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// decodeEntry reads an entry's payload. A nil m leaves secrets sealed.
func decodeEntry(payload []byte, m state.Sealer) (Entry, error) {
	var r entryRecord
	if err := json.Unmarshal(payload, &r); err != nil {
		return Entry{}, err
	}
	e := Entry{Step: r.Step, Remove: r.Remove, Retried: r.Retried, Extensions: r.Extensions}
	var err error
	if r.Begin != nil {
		op, err := state.DecodeOperation(r.Begin, m)
		if err != nil {
			return Entry{}, err
		}
		e.Begin = &op
	}
	if e.Amend, err = decodeAmended(r.Amend, m); err != nil {
		return Entry{}, err
	}
	e.Add, err = decodeAmended(r.Add, m)
	return e, err
}

func decodeAmended(list []amendedRecord, m state.Sealer) ([]Amended, error) {
	var out []Amended
	for _, a := range list {
		r, err := state.DecodeResource(a.Resource, m)
		if err != nil {
			return nil, err
		}
		out = append(out, Amended{ID: a.ID, Resource: r})
	}
	return out, nil
}
