package plan

import "github.com/yamlhost/yamlhost/internal/value"

// withoutNewDefaults returns inputs without those defaults that an existing resource does not have, so that a stack
// which another program has made, or a schema that has got a default since, changes nothing by itself. A default counts
// for an existing resource where its recorded inputs have that property, or lack all that is around it (L3.15).
func withoutNewDefaults(inputs, recorded value.Value, defaults []value.Path) value.Value {
	for _, path := range defaults {
		if len(path) > 1 {
			if around, found := path[:len(path)-1].Get(recorded); !found || !around.Is(value.KindMap) {
				continue // a part that is new has its defaults
			}
		}
		if _, had := path.Get(recorded); !had {
			inputs, _ = path.Delete(inputs)
		}
	}
	return inputs
}
