package eval

import (
	"errors"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
)

// storable refuses a value that is about to enter the state or a message to a provider although neither can hold it
// (F1.10): it may come from a file, from a function or from configuration. written says where top-level properties are
// written out.
func storable(what string, v value.Value, written places, otherwise diag.Range) *fault {
	err := value.Storable(v)
	if err == nil {
		return nil
	}
	rng := otherwise
	if f, ok := errors.AsType[*value.StorableError](err); ok && len(f.Path) > 0 {
		rng = written.of(f.Path[0].Key, otherwise)
	}
	return blame(diag.ReservedKey, rng,
		"select the part that is needed, or pass the value on as a string with fn::toJSON",
		"%s: %s", what, err)
}
