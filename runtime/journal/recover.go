package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/runtime/state"
)

// ErrNotAJournal is returned when a file does not begin like a journal at all.
var ErrNotAJournal = errors.New("the file is not a journal")

// ErrNewerFormat is returned when the journal was written by a version of yamlhost that this one does not understand.
var ErrNewerFormat = errors.New("the journal was written by a newer version of yamlhost")

// Contents is the parsed content of a journal file.
type Contents struct {
	Header  Header
	Entries []Entry
	Secrets *state.SecretsProvider // how the entries' secrets are sealed; nil when there are none
	Whole   int                    // length of the file before a torn tail, in bytes
	Torn    int                    // length of the torn tail
	Mended  int                    // flipped bits that were put right
	Gaps    []Gap                  // what is damaged, in order

	covered []cover
	ends    []int64 // of the entries, as offsets
	// soundEnds are the same in sound.
	soundEnds []int
	sound     []byte // the signature and all records that can be read, mended
	headed    bool   // the header can be read
	beheaded  bool   // it cannot, although it was there
}

// cover is a state file that holds the first entries of the journal.
type cover struct {
	Identity Identity `json:"identity"`
	Origin   Origin   `json:"origin"`
	Size     int64    `json:"size,omitempty"` // of the journal up to which the file holds it; of kindCovered only

	entries, gaps int // before that
}

// Read decodes a journal file. A torn tail is no error: it was never acknowledged. Read corrects a flipped bit, and
// lists other damage in Gaps. m opens secrets; a nil m leaves them sealed, which is enough to replay and to write
// them again.
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
	if c.beheaded && len(c.Gaps) == 0 { // a journal comes to be with its header
		c.gap(0, len(data))
		c.Gaps[0].last, c.Whole, c.Torn = true, len(data), 0
	}
	return c, nil
}

func (c *Contents) gap(offset, length int) {
	c.Gaps = append(c.Gaps, Gap{Offset: offset, Length: length, entries: len(c.Entries)})
}

// record takes the record at pos and returns where the next one begins; pos itself if there is none that can be read.
func (c *Contents) record(data []byte, pos int, first bool, m state.Sealer) (next int, err error) {
	k, payload, rest, ok := nextRecord(data[pos:])
	mended := !ok
	if mended {
		k, payload, rest, ok = mendRecord(data[pos:])
	}
	if !ok || first && k != kindHeader && mended {
		return pos, nil
	}
	if first && k != kindHeader { // whatever was in front of it is gone
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

// moved is the last note of kindCovered for the sound part of the journal, in which entries have other places.
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

// MismatchError is returned when a journal does not belong to the state file that is there: somebody else has written
// that since.
type MismatchError struct {
	Journal, Found Identity
}

// Error reports that the state file is another one.
func (e *MismatchError) Error() string {
	return "the journal belongs to another version of the state file: another tool changed that file after the " +
		"run was interrupted"
}

// beginning is where in the journal what a state file does not hold begins.
type beginning struct {
	origin  *Origin
	entries int  // number of entries that the file holds
	gaps    int  // number of gaps that do not matter, because the file holds what was there
	covered bool // a note in the journal says so
}

// start finds where to go on from a state file. A *MismatchError says that the file is not one that the journal knows.
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

// Replayer applies the journal to the state that was read from a file with the identity id; base is nil when there is
// none. If the file holds everything that the journal has, done is true and there is no replayer: the run was cut off
// between writing the file and dropping the journal. A *MismatchError says that the file is another one, a *DamageError
// that the journal is damaged and what is left does not stand on its own.
func (c *Contents) Replayer(base *state.Snapshot, id Identity) (replayer *Replayer, done bool, err error) {
	replayer, missing, done, err := c.Salvage(base, id)
	if len(missing) > 0 {
		return nil, false, &DamageError{c.Gaps, missing, len(c.Entries)}
	}
	return replayer, done, err
}

// CoveredPiece is a piece of a journal that says that a state file with this identity holds everything before it.
func CoveredPiece(id Identity) ([]byte, error) {
	text, err := json.Marshal(cover{Identity: id})
	if err != nil {
		return nil, fmt.Errorf("journal a checkpoint: %w", err)
	}
	return appendRecord(nil, kindCheckpoint, text), nil
}

// Covering is a journal of all records that can be read, with a note behind them that a state file with this identity
// holds everything in them.
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
