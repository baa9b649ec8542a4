package confine

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/internal/osfile"
)

// Name is one element of a path on every system: the name of a file or a folder that foreign data gives, such as that
// of a package, a version, a plugin or a component. Only NewName makes one; the zero value is the name of nothing.
type Name struct{ text string }

// longestName is the length of the longest name, in bytes: 255 fit, and endings are added.
const longestName = 200

// NewName checks a name. what says in the error what it is the name of, as in "a package".
func NewName(what, text string) (Name, error) {
	if problem := problemOf(text); problem != "" {
		return Name{}, fmt.Errorf("%q cannot be the name of %s: %s", text, what, problem)
	}
	return Name{text}, nil
}

// problemOf returns the reason why a text cannot be one element of a path; empty if it can.
func problemOf(text string) string {
	switch {
	case text == "":
		return "it is empty"
	case len(text) > longestName:
		return fmt.Sprintf("it is longer than %d bytes", longestName)
	case !utf8.ValidString(text):
		return "it is not UTF-8"
	case strings.Trim(text, ". ") == "":
		return "it would name a folder"
	}
	if problem := osfile.Reserved(text); problem != "" {
		return problem
	}
	for _, c := range text {
		if strings.ContainsRune(`/\:*?"<>|`, c) || unicode.IsControl(c) {
			return fmt.Sprintf("it may not have %q", c)
		}
	}
	return ""
}

// String returns the name.
func (n Name) String() string { return n.text }

// In returns the path of the file or folder of the name in a folder, with an ending such as ".yaml".
func (n Name) In(folder, ending string) string {
	if n.text == "" {
		panic("confine: a name that was not checked")
	}
	return filepath.Join(folder, n.text+ending)
}
