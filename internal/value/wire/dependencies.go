package wire

import "github.com/yamlhost/yamlhost/internal/value/urn"

// List converts the items of a list to or from their form in messages. It returns nil for an empty list.
func List[From, To any](items []From, item func(From) To) []To {
	if len(items) == 0 {
		return nil
	}
	list := make([]To, len(items))
	for i, x := range items {
		list[i] = item(x)
	}
	return list
}

// Texts converts URNs to strings.
func Texts(us []urn.URN) []string { return List(us, func(u urn.URN) string { return string(u) }) }

// URNs converts strings to URNs.
func URNs(list []string) []urn.URN {
	return List(list, func(text string) urn.URN { return urn.URN(text) })
}

// Dependencies returns the dependencies of each property in messages; each RPC has its own message type. It returns nil
// for an empty map.
func Dependencies[M interface{ GetUrns() []string }](m map[string]M) map[string][]urn.URN {
	if len(m) == 0 {
		return nil
	}
	deps := make(map[string][]urn.URN, len(m))
	for key, d := range m {
		deps[key] = URNs(d.GetUrns())
	}
	return deps
}

// DependencyMessages is the inverse of Dependencies; message creates the RPC's message from strings.
func DependencyMessages[M any](deps map[string][]urn.URN, message func([]string) M) map[string]M {
	if len(deps) == 0 {
		return nil
	}
	m := make(map[string]M, len(deps))
	for key, us := range deps {
		m[key] = message(Texts(us))
	}
	return m
}
