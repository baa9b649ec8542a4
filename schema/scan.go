package schema

import "github.com/yamlhost/yamlhost/internal/jsontext"

// maxTypeDepth bounds how deep type specifications may nest in each other.
const maxTypeDepth = 64

// stringInto, boolInto and stringsInto read a member of a package schema into a field, for decodeFields.
func stringInto(dst *string) func([]byte) error {
	return func(raw []byte) (err error) { *dst, err = jsontext.StringOf(raw); return err }
}

func boolInto(dst *bool) func([]byte) error {
	return func(raw []byte) (err error) { *dst, err = jsontext.BoolOf(raw); return err }
}

func stringsInto(dst *[]string) func([]byte) error {
	return func(raw []byte) (err error) { *dst, err = jsontext.StringsOf(raw); return err }
}

func scalarInto(dst *any) func([]byte) error {
	return func(raw []byte) (err error) { *dst, err = jsontext.ScalarOf(raw); return err }
}

func rawInto(dst *[]byte) func([]byte) error {
	return func(raw []byte) error {
		if !jsontext.IsNull(raw) {
			*dst = raw
		}
		return nil
	}
}
