package embedded

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/internal/functions"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// uuidKind returns the kind of a resource that is one UUID. shape sets the version bits.
func (g generator) uuidKind(shape func([]byte, time.Time), adopt func(string) (string, value.Value, error)) kind {
	return kind{
		byOutputs: true, replaces: unlessEmpty, idOutput: true, adopt: adopt,
		create: func(context.Context, provider.Subject, value.Value) (string, value.Value, error) {
			data, err := g.fill(16)
			if err != nil {
				return "", value.Null, err
			}
			shape(data, g.Now())
			id, outputs := uuidOutputs(data)
			return id, outputs, nil
		},
	}
}

// uuid4 converts 16 random bytes to a UUID of version 4 (RFC 9562, section 5.4).
func uuid4(data []byte, _ time.Time) {
	data[6] = data[6]&0x0f | 0x40
	data[8] = data[8]&0x3f | 0x80
}

// uuid7 converts 16 random bytes to a UUID of version 7, which begins with the time in milliseconds (section 5.7).
func uuid7(data []byte, now time.Time) {
	var millis [8]byte
	binary.BigEndian.PutUint64(millis[:], uint64(now.UnixMilli()))
	copy(data, millis[2:])
	data[6] = data[6]&0x0f | 0x70
	data[8] = data[8]&0x3f | 0x80
}

func uuidOutputs(data []byte) (string, value.Value) {
	id := functions.UUID(data)
	return id, value.MapOf(value.Entry{Key: "result", Value: value.String(id)})
}

var errNoUUID = errors.New("the ID must be a UUID such as aabbccdd-eeff-0011-2233-445566778899")

// adoptPlainUUID imports a UUID of any version, written with 36 characters.
func adoptPlainUUID(text string) (string, value.Value, error) {
	data, ok := functions.ParseUUID(text)
	if !ok {
		return "", value.Null, errNoUUID
	}
	id, outputs := uuidOutputs(data)
	return id, outputs, nil
}

// adoptUUID also accepts a UUID in braces, after urn:uuid:, or as 32 digits.
func adoptUUID(text string) (string, value.Value, error) {
	switch {
	case len(text) == 45 && strings.EqualFold(text[:9], "urn:uuid:"):
		text = text[9:]
	case len(text) == 38 && text[0] == '{' && text[37] == '}':
		text = text[1:37]
	case len(text) == 32:
		text = strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
	}
	return adoptPlainUUID(text)
}
