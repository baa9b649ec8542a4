package change

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// Told is why one resource changes, in words, as plans and the history keep it. Secrets in it are masked.
type Told struct {
	URN urn.URN   `json:"urn"`
	Op  engine.Op `json:"op"`
	// Because are chains, root first; each ends with a property of the resource, or with it. None for a resource that
	// is created because the program has it.
	Because [][]Link `json:"because,omitempty"`
}

// Link is one link of a chain in words.
type Link struct {
	Place *Place    `json:"place,omitempty"`
	Kind  CauseKind `json:"kind"`           // also property and resource
	URN   urn.URN   `json:"urn,omitempty"`  // of a property's resource
	Path  string    `json:"path,omitempty"` // of a property
	Text  string    `json:"text"`
}

// At returns file:line; empty for no place.
func (l Link) At() string {
	if l.Place == nil {
		return ""
	}
	return l.Place.String()
}

// The kinds of links that are no causes.
const (
	LinkProperty CauseKind = "property"
	LinkResource CauseKind = "resource"
)

// Changed returns the steps that have changed something, at most so many: first those of resources that were there
// before. What a refresh has found of a resource is among them if nothing else has changed that.
func (b *Book) Changed(most int) []*engine.Step {
	if b == nil || b.explain == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	list := slices.DeleteFunc(slices.Collect(maps.Values(b.steps)), func(s *engine.Step) bool {
		return s.Op == engine.OpSame || b.failed[s.URN] || s.URN.IsDefaultProvider()
	})
	for u, s := range b.refreshes {
		if own := b.steps[u]; (own == nil || own.Op == engine.OpSame) && !b.failed[u] && s.New != s.Old &&
			(s.New == nil || len(b.of(s)) > 0) {
			list = append(list, s)
		}
	}
	fresh := func(s *engine.Step) int {
		if s.Old == nil {
			return 1
		}
		return 0
	}
	slices.SortFunc(list, func(x, y *engine.Step) int {
		return cmp.Or(fresh(x)-fresh(y), cmp.Compare(x.URN, y.URN))
	})
	return list[:min(most, len(list))]
}

// Kept is what the history keeps of an operation beside the members that all tools know.
type Kept struct {
	Because     []Told `json:"because,omitempty"`
	Interrupted bool   `json:"interrupted,omitempty"` // and nothing else failed; for other tools it has failed
	Took        int64  `json:"took,omitempty"`        // milliseconds; other tools know whole seconds
}

// Encode returns the JSON of k; nil for nothing.
func (k Kept) Encode() json.RawMessage {
	if len(k.Because) == 0 && !k.Interrupted && k.Took == 0 {
		return nil
	}
	text, _ := json.Marshal(k) // texts and lists always have a form
	return text
}

// KeptOf returns what Encode has encoded; nothing if there is nothing, or if it is in a form of another version.
func KeptOf(text json.RawMessage) Kept {
	var k Kept
	if len(text) == 0 || json.Unmarshal(text, &k) != nil {
		return Kept{}
	}
	return k
}

// Ended returns how an operation with a recorded result has ended, in the words of engine.Summary's Ended.
func (k Kept) Ended(recorded string) string {
	if k.Interrupted {
		return "interrupted"
	}
	return recorded
}
