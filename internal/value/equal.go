package value

import (
	"math"
	"slices"
)

// Equal reports whether a and b have the same content and the same marks (unknown, secret and dependencies), deeply.
// Numbers are compared as doubles, with NaN equal to itself and -0 equal to 0. Assets and archives with hashes are
// compared by their hashes alone, and references by URN and ID, whatever version of the package they name (F1.26).
func Equal(a, b Value) bool { return equal(a, b, likeness{marks: true}) }

// SameContent reports whether a and b have the same content, regardless of secrecy and dependencies. An unknown value
// equals only another unknown value of the same kind.
func SameContent(a, b Value) bool { return equal(a, b, likeness{}) }

// Identical is like Equal, but compares the bits of numbers, and all fields of assets, archives and references.
func Identical(a, b Value) bool { return equal(a, b, likeness{marks: true, bits: true}) }

// likeness selects what is compared besides content.
type likeness struct {
	marks bool // secrecy and dependencies
	bits  bool // the bits of numbers, and all fields of assets with hashes and of references
}

func equal(a, b Value, l likeness) bool {
	if a.Kind() != b.Kind() || a.IsKnown() != b.IsKnown() {
		return false
	}
	if l.marks && (a.IsSecret() != b.IsSecret() || !slices.Equal(a.Deps(), b.Deps())) {
		return false
	}
	if !a.IsKnown() {
		return true
	}
	switch x := a.payload.(type) {
	case nil:
		return true
	case bool:
		y, _ := b.AsBool()
		return x == y
	case float64:
		y, _ := b.AsNumber()
		if l.bits {
			return math.Float64bits(x) == math.Float64bits(y)
		}
		return x == y || x != x && y != y
	case string:
		y, _ := b.AsString()
		return x == y
	case []Value:
		y, _ := b.AsList()
		if len(x) > 0 && len(x) == len(y) && &x[0] == &y[0] {
			return true
		}
		return slices.EqualFunc(x, y, func(p, q Value) bool { return equal(p, q, l) })
	case *fields:
		y, ok := b.payload.(*fields)
		return x == y || ok && slices.Equal(x.keys, y.keys) &&
			slices.EqualFunc(x.values, y.values, func(p, q Value) bool { return equal(p, q, l) })
	case *Asset:
		y, ok := b.AsAsset()
		if ok && !l.bits && x.Hash != "" && y.Hash != "" {
			return x.Hash == y.Hash
		}
		return ok && *x == *y
	case *Archive:
		y, ok := b.AsArchive()
		if ok && !l.bits && x.Hash != "" && y.Hash != "" {
			return x.Hash == y.Hash
		}
		return ok && x.Path == y.Path && x.URI == y.URI && x.Hash == y.Hash && equal(x.Assets, y.Assets, l)
	case *ResourceRef:
		y, ok := b.AsResource()
		return ok && x.URN == y.URN && (!l.bits || x.PackageVersion == y.PackageVersion) && equal(x.ID, y.ID, l)
	}
	return false
}
