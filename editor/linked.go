package editor

import (
	"context"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// NamePattern is the regular expression of names that can be declared.
const NamePattern = `[A-Za-z_][A-Za-z0-9_-]*`

// Linked returns the places in the whole text that hold the name at an offset and can be edited together: its
// declaration and all uses. There are none where another file uses the name too, for a name that Rename does not
// change, and for one that is written with escapes.
func Linked(ctx context.Context, s *Snapshot, path string, offset int) ([]diag.Range, error) {
	name, _, ok := Renamable(ctx, s, path, offset)
	if !ok {
		return nil, ctx.Err()
	}
	if _, n, _ := s.named(ctx, path, offset); n.node == nil || n.node.Config != nil {
		return nil, ctx.Err() // the files of stacks, and types, hold such names in other forms
	}
	found, err := References(ctx, s, path, offset, true)
	if err != nil {
		return nil, err
	}
	var linked []diag.Range
	for _, l := range found {
		rng := unquoted(l.At)
		if l.Path != path || rng.Text() != name {
			return nil, nil
		}
		linked = append(linked, rng)
	}
	return linked, nil
}
