package operation

import (
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// StackOutputs are a stack's outputs, a map.
func StackOutputs(s *state.Snapshot) value.Value {
	for _, r := range s.Resources {
		if r.Type == urn.RootStackType && !r.Delete {
			if r.Outputs.Is(value.KindMap) {
				return r.Outputs
			}
		}
	}
	return value.EmptyMap()
}
