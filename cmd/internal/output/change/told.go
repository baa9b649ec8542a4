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
	// Because are chains, root first; each ends with a property of the resource, or with it. None for a resource that is
	// created because the program has it.
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

// Keep returns what the history keeps of reasons beside the members that all tools know; nil for nothing.
func Keep(list []Told) json.RawMessage {
	if len(list) == 0 {
		return nil
	}
	text, _ := json.Marshal(kept{list}) // texts and lists always have a form
	return text
}

// Kept returns the reasons that Keep has kept; none if there are none, or if they are in a form of another version.
func Kept(text json.RawMessage) []Told {
	var k kept
	if len(text) == 0 || json.Unmarshal(text, &k) != nil {
		return nil
	}
	return k.Because
}

type kept struct {
	Because []Told `json:"because,omitempty"`
}
