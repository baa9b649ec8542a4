package project

import (
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value"
)

// Key names a configuration value (L2.1).
type Key struct{ Namespace, Name string }

// String returns the form kept in files: namespace:name.
func (k Key) String() string { return k.Namespace + ":" + k.Name }

// ParseKey parses a key. A key without a colon belongs to the project; the old spelling namespace:config:name is
// accepted (F3.8).
func ParseKey(text, project string) (Key, error) {
	parts := strings.Split(text, ":")
	key := Key{}
	switch {
	case len(parts) == 1:
		key = Key{project, parts[0]}
	case len(parts) == 2:
		key = Key{parts[0], parts[1]}
	case len(parts) == 3 && parts[1] == "config":
		key = Key{parts[0], parts[2]}
	default:
		return Key{}, fmt.Errorf("%q is not a configuration key: write name or namespace:name", text)
	}
	if key.Namespace == "" || key.Name == "" {
		return Key{}, fmt.Errorf("%q is not a configuration key: both sides of the colon need a name", text)
	}
	return key, nil
}

// KeyPath is a key with a path into its value.
type KeyPath struct {
	Key   Key
	Steps value.Path
}

// ParseKeyPath parses the argument of --path: a namespace, if any, and a property path whose first step is the key's
// name (F3.13).
func ParseKeyPath(text, project string) (KeyPath, error) {
	namespace, rest := project, text
	if i := strings.IndexAny(text, `:["`); i >= 0 && text[i] == ':' {
		namespace, rest = text[:i], strings.TrimPrefix(text[i+1:], "config:")
	}
	if namespace == "" {
		return KeyPath{}, fmt.Errorf("%q is not a configuration path: a name has to stand before the colon", text)
	}
	steps, err := value.ParsePathStrict(rest)
	if err != nil {
		return KeyPath{}, err
	}
	if len(steps) == 0 || steps[0].IsIndex || steps[0].Key == "" {
		return KeyPath{}, fmt.Errorf("%q is not a configuration path: it has to start with the name of a key", text)
	}
	return KeyPath{Key: Key{namespace, steps[0].Key}, Steps: steps[1:]}, nil
}

// pathText returns a path into a value, for messages.
func pathText(name string, steps value.Path) string {
	return append(value.PathOf(name), steps...).String()
}
