package wire

import (
	"slices"
	"strconv"

	"github.com/yamlhost/yamlhost/internal/value"
)

// fault is the error for a value that cannot be encoded or decoded. The path is collected while the recursion returns,
// so that valid values cost nothing.
type fault struct {
	reason string     // continues the name of the property: "is …", "has …"
	odd    bool       // the bytes are invalid or have an unusual encoding
	steps  value.Path // innermost first
}

// Error names the property and the problem. It never shows the value.
func (f *fault) Error() string {
	if len(f.steps) == 0 {
		return "the value " + f.reason
	}
	path := slices.Clone(f.steps)
	slices.Reverse(path)
	return "the value of property " + strconv.Quote(path.String()) + " " + f.reason
}

func newFault(reason string) *fault { return &fault{reason: reason} }

func newOddFault() *fault { return &fault{reason: "cannot be read", odd: true} }

func (f *fault) inKey(key string) *fault {
	f.steps = append(f.steps, value.KeyStep(key))
	return f
}

func (f *fault) inItem(i int) *fault {
	f.steps = append(f.steps, value.IndexStep(i))
	return f
}

// err returns f as an error; a nil fault is a nil error.
func (f *fault) err() error {
	if f == nil {
		return nil
	}
	return f
}
