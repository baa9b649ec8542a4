package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/runtime/state"
)

// ErrNotAJournal is returned if a file does not begin like a journal.
var ErrNotAJournal = errors.New("the file is not a journal")

// ErrNewerFormat is returned if the format of a journal is newer than this version of yamlhost supports.
var ErrNewerFormat = errors.New("the journal was written by a newer version of yamlhost")

// Contents is the decoded content of a journal file.
type Contents struct {
	Header  Header
	Entries []Entry
	Secrets *state.SecretsProvider // how the entries' secrets are sealed; nil if there are none
	Whole   int                    // length in bytes of the file without a torn tail
	Torn    int                    // length in bytes of the torn tail
	Mended  int                    // number of corrected bits
	Gaps    []Gap                  // the damaged parts, in order

	covered []cover
	ends    []int64 // end offsets of the entries
	// soundEnds are the end offsets of the entries in sound.
	soundEnds []int
	sound     []byte // the signature and all readable records, corrected
	headed    bool   // the header is readable
	beheaded  bool   // the header is unreadable
}

// cover is a note that a state file holds the first entries of the journal.
type cover struct {
	Identity Identity `json:"identity"`
	Origin   Origin   `json:"origin"`
	Size     int64    `json:"size,omitempty"` // the length of the journal that the file covers; only for kindCovered

	entries, gaps int // number of covered entries and gaps
}

// Read decodes a journal file. A torn tail is no error: it was never acknowledged. Read corrects a flipped bit, and
// lists other damage in Gaps. m opens secrets; a nil m leaves them sealed, which suffices to replay and rewrite them.
func Read(data []byte, m state.Sealer) (*Contents, error) {
	c := &Contents{sound: []byte(signature)}
	data, flipped := mendSignature(data)
	switch i := min(len(data), len(signature)); {
	case flipped:
		c.Mended++
	case len(data) >= len(signature) && string(data[:i-1]) == signature[:i-1] && data[i-1] != signature[i-1]:
		return nil, ErrNewerFormat
	case string(data[:i]) != signature[:i]:
		if _, found := nextSound(data); !found {
			return nil, ErrNotAJournal
		}
	}
	pos := min(len(data), len(signature))
	for first := true; pos < len(data); first = false {
		next, err := c.record(data, pos, first, m)
		if err != nil {
			return nil, fmt.Errorf("the journal is damaged at byte %d: %w", pos, err)
		}
		if next > pos {
			pos = next
			continue
		}
		skip, found := nextSound(data[pos:])
		if !found {
			break
		}
		c.gap(pos, skip)
		pos += skip
	}
	c.beheaded = !c.headed
	if tail := data[pos:]; len(tail) > 0 && !torn(tail) {
		c.gap(pos, len(tail))
		c.Gaps[len(c.Gaps)-1].last = true
		pos = len(data)
	}
	c.Whole, c.Torn = pos, len(data)-pos
	if c.beheaded && len(c.Gaps) == 0 { // every journal is created with its header
		c.gap(0, len(data))
		c.Gaps[0].last, c.Whole, c.Torn = true, len(data), 0
	}
	return c, nil
}

func (c *Contents) gap(offset, length int) {
	c.Gaps = append(c.Gaps, Gap{Offset: offset, Length: length, entries: len(c.Entries)})
}

// record decodes the record at pos and returns the position of the next one, or pos if no record can be read.
func (c *Contents) record(data []byte, pos int, first bool, m state.Sealer) (next int, err error) {
	k, payload, rest, ok := nextRecord(data[pos:])
	mended := !ok
	if mended {
		k, payload, rest, ok = mendRecord(data[pos:])
	}
	if !ok || first && k != kindHeader && mended {
		return pos, nil
	}
	if first && k != kindHeader { // the records before it are lost
		c.gap(pos, 0)
	}
	if err := c.take(k, payload, m); err != nil {
		if mended {
			return pos, nil
		}
		return pos, err
	}
	if mended {
		c.Mended++
	}
	next = len(data) - len(rest)
	switch k {
	case kindEntry:
		c.ends = append(c.ends, int64(next))
	case kindCovered:
		if payload, err = c.moved(); err != nil {
			return pos, err
		}
	}
	if c.sound = appendRecord(c.sound, k, payload); k == kindEntry {
		c.soundEnds = append(c.soundEnds, len(c.sound))
	}
	return next, nil
}

// moved returns the last note of kindCovered with its size adjusted to the offsets in sound.
func (c *Contents) moved() ([]byte, error) {
	note := c.covered[len(c.covered)-1]
	if note.Size = int64(len(signature)); note.entries > 0 {
		note.Size = int64(c.soundEnds[note.entries-1])
	}
	return json.Marshal(note)
}

func (c *Contents) take(k kind, payload []byte, m state.Sealer) error {
	switch k {
	case kindHeader:
		if err := json.Unmarshal(payload, &c.Header); err != nil {
			return err
		}
		c.Secrets, c.headed = c.Header.Secrets, true
	case kindSecrets:
		c.Secrets = &state.SecretsProvider{}
		return json.Unmarshal(payload, c.Secrets)
	case kindEntry:
		e, err := decodeEntry(payload, m)
		if err != nil {
			return err
		}
		c.Entries = append(c.Entries, e)
	case kindCheckpoint, kindCovered:
		later := cover{entries: len(c.Entries), gaps: len(c.Gaps)}
		if err := json.Unmarshal(payload, &later); err != nil {
			return err
		}
		if k == kindCovered {
			later.entries, _ = slices.BinarySearch(c.ends, later.Size+1)
			later.gaps = slices.IndexFunc(c.Gaps, func(g Gap) bool { return int64(g.Offset+g.Length) > later.Size })
			if later.gaps < 0 {
				later.gaps = len(c.Gaps)
			}
		}
		c.covered = append(c.covered, later)
	default:
		return fmt.Errorf("a record is of the unknown kind %q", byte(k))
	}
	return nil
}

// MismatchError is returned if a journal does not belong to the current state file, because another tool has changed
// that since.
type MismatchError struct {
	Journal, Found Identity
}

// Error describes the mismatch.
func (e *MismatchError) Error() string {
	return "the journal belongs to another version of the state file: another tool changed that file after the " +
		"run was interrupted"
}

// beginning is the position in the journal of the first change that a state file lacks.
type beginning struct {
	origin  *Origin
	entries int  // number of entries in the file
	gaps    int  // number of gaps that the file covers
	covered bool // a note in the journal confirms that
}

// start returns the position from which to apply the journal to a state file. It returns a *MismatchError for an
// unknown file.
func (c *Contents) start(id Identity) (beginning, error) {
	for i := len(c.covered) - 1; i >= 0; i-- {
		if later := c.covered[i]; later.Identity == id {
			return beginning{&later.Origin, later.entries, later.gaps, true}, nil
		}
	}
	if id != c.Header.Base {
		return beginning{}, &MismatchError{c.Header.Base, id}
	}
	return beginning{origin: c.Header.Origin}, nil
}

// Replayer applies the journal to base, the content of a state file with the given identity; base is nil if there is
// none. If the file already holds all entries, done is true and there is no replayer: the run was interrupted after it
// wrote the file and before it removed the journal. It returns a *MismatchError if the file is a different one, and a
// *DamageError if the journal is damaged and the readable part does not suffice.
func (c *Contents) Replayer(base *state.Snapshot, id Identity) (replayer *Replayer, done bool, err error) {
	replayer, damage, done, err := c.Salvage(base, id)
	if damage != nil {
		return nil, false, damage
	}
	return replayer, done, err
}

// CoveredPiece returns a record that notes that a state file with the given identity holds everything before it.
func CoveredPiece(id Identity) ([]byte, error) {
	text, err := json.Marshal(cover{Identity: id})
	if err != nil {
		return nil, fmt.Errorf("journal a checkpoint: %w", err)
	}
	return appendRecord(nil, kindCheckpoint, text), nil
}

// Covering returns a journal of all readable records, and a note at the end that a state file with the given identity
// holds all of them.
func (c *Contents) Covering(id Identity) ([]byte, error) {
	sound := c.sound
	if c.beheaded {
		text, err := json.Marshal(c.Header)
		if err != nil {
			return nil, fmt.Errorf("journal a checkpoint: %w", err)
		}
		sound = append(appendRecord([]byte(signature), kindHeader, text), sound[len(signature):]...)
	}
	piece, err := CoveredPiece(id)
	return append(append([]byte(nil), sound...), piece...), err
}
