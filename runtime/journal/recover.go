package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/runtime/state"
)

// ErrNotAJournal says that a file does not begin like a journal at all.
var ErrNotAJournal = errors.New("the file is no journal")

// ErrNewerFormat says that the journal was written by a version of yamlhost that this one does not understand.
var ErrNewerFormat = errors.New("the journal was written by a newer version of yamlhost")

// Contents is what is in a journal file.
type Contents struct {
	Header  Header
	Entries []Entry
	Secrets *state.SecretsProvider // how the entries' secrets are sealed; nil when there are none
	Whole   int                    // length of what is sound; anything behind it is a torn tail
	Torn    int                    // length of the torn tail

	covered []cover
}

// cover is a state file that holds the first entries of the journal.
type cover struct {
	Identity Identity `json:"identity"`
	Origin   Origin   `json:"origin"`
	entries  int
}

// Read takes a journal file apart. A torn tail is no error: it was never acknowledged. A file in which not even the header
// is whole has no entries and a Whole of 0. m opens secrets; a nil m leaves them sealed, which is enough to replay and to
// write them again.
func Read(data []byte, m state.Sealer) (*Contents, error) {
	c := &Contents{}
	if len(data) < len(signature) {
		if !strings.HasPrefix(signature, string(data)) {
			return nil, ErrNotAJournal
		}
		c.Torn = len(data)
		return c, nil
	}
	if head := data[:len(signature)-1]; string(head) != signature[:len(signature)-1] {
		return nil, ErrNotAJournal
	}
	if data[len(signature)-1] != signature[len(signature)-1] {
		return nil, ErrNewerFormat
	}
	rest := data[len(signature):]
	for first := true; ; first = false {
		k, payload, after, ok := nextRecord(rest)
		if !ok || first && k != kindHeader {
			break
		}
		if err := c.take(k, payload, m); err != nil {
			return nil, fmt.Errorf("the journal is damaged at byte %d: %w", len(data)-len(rest), err)
		}
		rest = after
		c.Whole = len(data) - len(rest)
	}
	c.Torn = len(data) - c.Whole
	return c, nil
}

func (c *Contents) take(k kind, payload []byte, m state.Sealer) error {
	switch k {
	case kindHeader:
		if err := json.Unmarshal(payload, &c.Header); err != nil {
			return err
		}
		c.Secrets = c.Header.Secrets
	case kindSecrets:
		c.Secrets = &state.SecretsProvider{}
		return json.Unmarshal(payload, c.Secrets)
	case kindEntry:
		e, err := decodeEntry(payload, m)
		if err != nil {
			return err
		}
		c.Entries = append(c.Entries, e)
	case kindCheckpoint:
		by := cover{entries: len(c.Entries)}
		if err := json.Unmarshal(payload, &by); err != nil {
			return err
		}
		c.covered = append(c.covered, by)
	default:
		return fmt.Errorf("a record is of the unknown kind %q", byte(k))
	}
	return nil
}

// MismatchError says that a journal does not belong to the state file that is there: somebody else has written that since.
type MismatchError struct {
	Journal, Found Identity
}

func (e *MismatchError) Error() string {
	return "the journal belongs to another version of the state file: the file was changed by another tool after the run " +
		"that the journal is of was cut off"
}

// Book applies the journal to the state that was read from a file with the identity at; base is nil when there is none.
// If the file holds everything that the journal has, done is true and there is no book: the run was cut off between
// writing the file and dropping the journal. A *MismatchError says that the file is another one.
func (c *Contents) Book(base *state.Snapshot, at Identity) (book *Book, done bool, err error) {
	if base == nil {
		base = &state.Snapshot{}
	}
	origin, entries := c.Header.Origin, c.Entries
	for i := len(c.covered) - 1; ; i-- {
		if i < 0 {
			if at != c.Header.Base {
				return nil, false, &MismatchError{c.Header.Base, at}
			}
			break
		}
		if by := c.covered[i]; by.Identity == at {
			origin, entries, done = &by.Origin, c.Entries[by.entries:], by.entries == len(c.Entries)
			break
		}
	}
	switch {
	case done:
		return nil, true, nil
	case origin == nil:
		book = NewBook(base)
	default:
		if book, err = Resume(base, *origin); err != nil {
			return nil, false, err
		}
	}
	for i, e := range entries {
		if err := book.Apply(e); err != nil {
			return nil, false, fmt.Errorf("entry %d: %w", len(c.Entries)-len(entries)+i+1, err)
		}
	}
	return book, false, nil
}

// CoveredPiece is a piece of a journal that says that a state file with this identity holds everything before it.
func CoveredPiece(by Identity) ([]byte, error) {
	text, err := json.Marshal(cover{Identity: by})
	if err != nil {
		return nil, fmt.Errorf("journal a checkpoint: %w", err)
	}
	return appendRecord(nil, kindCheckpoint, text), nil
}

// AppendCovered is the sound part of a journal file's data with a note behind it that a state file with this identity
// holds everything in it.
func (c *Contents) AppendCovered(data []byte, by Identity) ([]byte, error) {
	piece, err := CoveredPiece(by)
	return append(append([]byte(nil), data[:c.Whole]...), piece...), err
}
