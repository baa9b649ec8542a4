package state

import (
	"github.com/yamlhost/yamlhost/internal/jsontext"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// FindResource returns a resource of a state file without decoding the others; nil if it has none of that name. One
// that is left to delete counts only if there is no other. Secrets stay sealed.
func FindResource(data []byte, u urn.URN) (*Resource, error) {
	var found *Resource
	member := func(text []byte, name string, fn func(value []byte) error) error {
		return jsontext.EachMember(text, func(key string, value []byte) error {
			if key != name || jsontext.IsNull(value) {
				return nil
			}
			return fn(value)
		})
	}
	each := func(item []byte) error {
		named := false
		if err := member(item, "urn", func(value []byte) error {
			text, err := jsontext.StringOf(value)
			named = text == string(u)
			return err
		}); !named || err != nil {
			return err
		}
		r, err := DecodeResource(item, nil)
		if err == nil && (found == nil || found.Delete) {
			found = r
		}
		return err
	}
	err := member(data, "checkpoint", func(checkpoint []byte) error {
		return member(checkpoint, "latest", func(latest []byte) error {
			return member(latest, "resources", func(list []byte) error { return jsontext.EachItem(list, each) })
		})
	})
	return found, err
}
