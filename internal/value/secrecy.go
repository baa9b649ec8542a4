package value

import "slices"

// SecretLike returns v with everything marked secret that was secret in before, an earlier version of v: for providers
// that do not tell which of the values that they have read are secret. Maps are matched by key and lists by content,
// then by position. Where a secret member of a list cannot be found again, the whole list becomes secret.
func (v Value) SecretLike(before Value) Value {
	switch {
	case v.IsSecret():
		return v
	case before.IsSecret(), !v.IsKnown() && before.ContainsSecret():
		return v.Secret()
	case !before.ContainsSecret():
		return v
	case v.Is(KindMap) && before.Is(KindMap):
		for i, key := range before.Keys() {
			if part, found := v.Lookup(key); found {
				if marked := part.SecretLike(before.At(i)); !Equal(marked, part) {
					v = v.With(key, marked)
				}
			}
		}
		return v
	case v.Is(KindList) && before.Is(KindList):
		return v.secretItems(before)
	}
	return v.Secret() // it has become something else, which may tell the secret
}

// secretItems is SecretLike for lists.
func (v Value) secretItems(before Value) Value {
	items, _ := v.AsList()
	were, _ := before.AsList()
	match := matchItems(items, were)
	kept := make(map[int]bool, len(match)) // indexes into were
	for _, i := range match {
		kept[i] = true
	}
	marked := make([]Value, len(items))
	for i, item := range items {
		switch from := match[i]; {
		case from >= 0:
			marked[i] = item.SecretLike(were[from])
		case len(items) == len(were) && !kept[i]:
			marked[i] = item.SecretLike(were[i])
		default: // it is new, or it has moved and changed at once
			for j, was := range were {
				if !kept[j] && was.ContainsSecret() {
					return v.Secret()
				}
			}
			marked[i] = item
		}
	}
	return List(marked...).WithMarksOf(v)
}

// matchItems returns for each item the index of one with the same content in were: that at the same index if it is one,
// else the first; -1 if there is none.
func matchItems(items, were []Value) []int {
	match := make([]int, len(items))
	for i, item := range items {
		if i < len(were) && SameContent(item, were[i]) {
			match[i] = i
			continue
		}
		match[i] = slices.IndexFunc(were, func(was Value) bool { return SameContent(item, was) })
	}
	return match
}
