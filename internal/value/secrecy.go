package value

import "slices"

// SecretLike returns v with the secrecy of before, an earlier version of v, for providers that do not report which of
// the values that they read are secret. Maps are matched by key, lists by content and then by position. If a secret
// item of a list cannot be found, the whole list becomes secret.
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
	return v.Secret() // its kind has changed, so any part may contain the secret
}

// secretItems implements SecretLike for lists.
func (v Value) secretItems(before Value) Value {
	items, _ := v.AsList()
	olds, _ := before.AsList()
	match := matchItems(items, olds)
	kept := make(map[int]bool, len(match)) // indexes of olds
	for _, i := range match {
		kept[i] = true
	}
	marked := make([]Value, len(items))
	for i, item := range items {
		switch k := match[i]; {
		case k >= 0:
			marked[i] = item.SecretLike(olds[k])
		case len(items) == len(olds) && !kept[i]:
			marked[i] = item.SecretLike(olds[i])
		default: // new, or moved and changed at once
			for j, old := range olds {
				if !kept[j] && old.ContainsSecret() {
					return v.Secret()
				}
			}
			marked[i] = item
		}
	}
	return List(marked...).WithMarksOf(v)
}

// matchItems returns for each item the index of a value in olds with the same content: the same index if possible, else
// the first one; -1 if there is none.
func matchItems(items, olds []Value) []int {
	match := make([]int, len(items))
	for i, item := range items {
		if i < len(olds) && SameContent(item, olds[i]) {
			match[i] = i
			continue
		}
		match[i] = slices.IndexFunc(olds, func(old Value) bool { return SameContent(item, old) })
	}
	return match
}
