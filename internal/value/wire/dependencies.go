package wire

import "github.com/yamlhost/yamlhost/internal/value/urn"

// Texts are URNs as messages carry them. None at all are nil.
func Texts(us []urn.URN) []string {
	if len(us) == 0 {
		return nil
	}
	list := make([]string, len(us))
	for i, u := range us {
		list[i] = string(u)
	}
	return list
}

// URNs is the reverse of Texts.
func URNs(list []string) []urn.URN {
	if len(list) == 0 {
		return nil
	}
	us := make([]urn.URN, len(list))
	for i, text := range list {
		us[i] = urn.URN(text)
	}
	return us
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
