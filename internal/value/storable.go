package value

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// SignatureKey is the map key that marks a map as a special value in messages and in states (F1.3). It is reserved:
// maps of programs and of providers' answers must not have it.
const SignatureKey = "4dabf18193072939515e22adb298388d"

// MaxDepth is the maximum nesting of lists, maps and archives in a value that a state can store, with room for the
// structures around it.
const MaxDepth = 900

// StorableError is returned for a value that a state cannot store: it would not be read back as the same value.
type StorableError struct {
	Path   Path // of the invalid part
	Reason string
}

// Error describes the path and the reason, and never shows a value.
func (e *StorableError) Error() string {
	if len(e.Path) == 0 {
		return "the value " + e.Reason
	}
	return fmt.Sprintf("the value of %s %s", e.Path, e.Reason)
}

// Storable returns a *StorableError if a state cannot store v and read it back (F1.10).
func Storable(v Value) error {
	if f := storable(v, 0, false); f != nil {
		slices.Reverse(f.Path)
		f.Path = f.Path[:min(len(f.Path), 8)] // the beginning suffices to find the part
		return f
	}
	return nil
}

// storable collects the path from the innermost step, so that a valid value costs nothing.
func storable(v Value, depth int, secret bool) *StorableError {
	secret = secret || v.IsSecret()
	if depth > MaxDepth {
		return &StorableError{Reason: fmt.Sprintf("is nested more than %d deep", MaxDepth)}
	}
	inside := func(step PathStep, part Value, depth int) *StorableError {
		f := storable(part, depth, secret)
		if f != nil {
			f.Path = append(f.Path, step)
		}
		return f
	}
	switch p := v.payload.(type) {
	case []Value:
		for i, item := range p {
			if f := inside(IndexStep(i), item, depth+1); f != nil {
				return f
			}
		}
	case *fields:
		for i, key := range p.keys {
			switch {
			case key == SignatureKey:
				return &StorableError{Reason: unrecognized(p.values[i], secret)}
			case !utf8.ValidString(key):
				return &StorableError{Reason: "has a key that is not UTF-8"}
			}
			if f := inside(KeyStep(key), p.values[i], depth+1); f != nil {
				return f
			}
		}
	case *Asset:
		return storableTexts(p.Text, p.Path, p.URI, p.Hash)
	case *Archive:
		if f := storableTexts(p.Path, p.URI, p.Hash); f != nil {
			return f
		}
		return storable(p.Assets, depth+1, secret)
	case *ResourceRef:
		id, _ := p.ID.AsString()
		return storableTexts(string(p.URN), id, p.PackageVersion)
	}
	return nil
}

// unrecognized describes a map with the reserved key. It shows the signature only if it is not secret and no longer
// than a signature can be.
func unrecognized(signature Value, secret bool) string {
	text, ok := signature.AsString()
	if !ok || secret || signature.IsSecret() || len(text) > 64 {
		return fmt.Sprintf("has an unrecognized signature under the reserved key %q", SignatureKey)
	}
	return fmt.Sprintf("has the unrecognized signature %q under the reserved key %q", text, SignatureKey)
}

func storableTexts(texts ...string) *StorableError {
	if slices.ContainsFunc(texts, func(text string) bool { return !utf8.ValidString(text) }) {
		return &StorableError{Reason: "has a string that is not UTF-8 where a state cannot keep it"}
	}
	return nil
}
