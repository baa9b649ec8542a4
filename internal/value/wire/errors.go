package wire

import (
	"strconv"
	"strings"
)

// PropertyError is a value that cannot be translated, with the place of the property in it.
type PropertyError struct {
	Path   string // such as tags["a.b"][0]; empty for the whole value
	Reason string // reads on after the property's name: "is …", "has …"
}

// Error names the property and what is wrong with it. It never shows the value.
func (e *PropertyError) Error() string {
	if e.Path == "" {
		return "the value " + e.Reason
	}
	return "the value of property " + strconv.Quote(e.Path) + " " + e.Reason
}

// fault is a PropertyError under way from the property to the top: the steps are collected on the way back, so that a
// walk without faults pays nothing for paths.
type fault struct {
	reason string
	odd    bool   // of bytes that are no message, or one written as no program writes it
	steps  []step // innermost first
}

// step is a key, or an item of a list when index is not negative.
type step struct {
	key   string
	index int
}

func newFault(reason string) *fault { return &fault{reason: reason} }

func newOddFault() *fault { return &fault{reason: "cannot be read", odd: true} }

func (f *fault) inKey(key string) *fault {
	f.steps = append(f.steps, step{key, -1})
	return f
}

func (f *fault) inItem(i int) *fault {
	f.steps = append(f.steps, step{"", i})
	return f
}

// err makes the error; a nil fault is a nil error.
func (f *fault) err() error {
	if f == nil {
		return nil
	}
	var path strings.Builder
	for i := len(f.steps) - 1; i >= 0; i-- {
		s := f.steps[i]
		switch {
		case s.index >= 0:
			path.WriteString("[" + strconv.Itoa(s.index) + "]")
		case s.key == "" || strings.ContainsAny(s.key, ".[]\""):
			path.WriteString("[" + strconv.Quote(s.key) + "]")
		default:
			if path.Len() > 0 {
				path.WriteByte('.')
			}
			path.WriteString(s.key)
		}
	}
	return &PropertyError{Path: path.String(), Reason: f.reason}
}
