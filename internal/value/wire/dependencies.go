package wire

import "github.com/yamlhost/yamlhost/internal/value/urn"

// List returns the items of a list as messages carry them, or the reverse. None at all are nil.
func List[From, To any](items []From, item func(From) To) []To {
	if len(items) == 0 {
		return nil
	}
	list := make([]To, len(items))
	for i, from := range items {
		list[i] = item(from)
	}
	return list
}

// Texts are URNs as messages carry them.
func Texts(us []urn.URN) []string { return List(us, func(u urn.URN) string { return string(u) }) }

// URNs is the reverse of Texts.
func URNs(list []string) []urn.URN {
	return List(list, func(text string) urn.URN { return urn.URN(text) })
}

// Dependencies reads the dependencies of each property from messages; each RPC has a message type of its own. An
// empty map gives nil.
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

// DependencyMessages is the reverse of Dependencies; message makes a call's own message of the texts of URNs.
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
