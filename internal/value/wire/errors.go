package wire

import (
	"slices"
	"strconv"

	"github.com/yamlhost/yamlhost/internal/value"
)

// fault is the error for a value that cannot be translated, with the place of the property in it. The steps to that
// are collected on the way back, so that a walk without faults pays nothing for paths.
type fault struct {
	reason string     // reads on after the property's name: "is …", "has …"
	odd    bool       // of bytes that are no message, or one written as no program writes it
	steps  value.Path // innermost first
}

// Error names the property and what is wrong with it. It never shows the value.
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

// err returns the fault as an error; a nil fault is a nil error.
func (f *fault) err() error {
	if f == nil {
		return nil
	}
	return f
}
