package value

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Path is the path of a part of a value: map keys and list indexes, outermost first (F3.14). The empty path is the
// value itself. Paths are immutable.
type Path []PathStep

// PathStep is one step of a Path: a map key, a list index, or with the key "*" every key and every index.
type PathStep struct {
	Key     string
	Index   int // from 0; negative indexes parse but match nothing
	IsIndex bool
}

// KeyStep returns the step to a map key. The key "*" is the wildcard even if it was quoted (F3.14).
func KeyStep(key string) PathStep { return PathStep{Key: key} }

// IndexStep returns the step to a list index.
func IndexStep(i int) PathStep { return PathStep{Index: i, IsIndex: true} }

// IsWildcard reports whether the step matches every key and index.
func (s PathStep) IsWildcard() bool { return !s.IsIndex && s.Key == "*" }

// PathOf returns a path of keys.
func PathOf(keys ...string) Path {
	p := make(Path, len(keys))
	for i, k := range keys {
		p[i] = KeyStep(k)
	}
	return p
}

// ParsePath parses the text form of a path (F3.14) in the lenient form that allows `a.[0]`. The empty text is the empty
// path.
func ParsePath(s string) (Path, error) { return parsePath(s, false) }

// ParsePathStrict is like ParsePath, but `a.[0]` is an error, as for `config set --path`.
func ParsePathStrict(s string) (Path, error) { return parsePath(s, true) }

func parsePath(s string, strict bool) (Path, error) {
	var path Path
	if strings.HasPrefix(s, ".") {
		return nil, fmt.Errorf("property path %q: expected a name or an index at the start", s)
	}
	for rest := s; rest != ""; {
		switch rest[0] {
		case '.':
			rest = rest[1:]
			if rest == "" {
				return nil, fmt.Errorf("property path %q: expected a name or an index at the end", s)
			}
			if strict && rest[0] == '[' {
				return nil, fmt.Errorf("property path %q: expected a name after \".\"", s)
			}
		case '[':
			step, tail, err := parseBracket(rest)
			if err != nil {
				return nil, fmt.Errorf("property path %q: %w", s, err)
			}
			path, rest = append(path, step), tail
		default:
			name := rest
			if end := strings.IndexAny(rest, ".["); end >= 0 {
				name = rest[:end]
			}
			path, rest = append(path, KeyStep(name)), rest[len(name):]
		}
	}
	return path, nil
}

// parseBracket parses `["name"]`, `[index]` or `[*]` at the start of s.
func parseBracket(s string) (step PathStep, rest string, err error) {
	if strings.HasPrefix(s, `["`) {
		var name strings.Builder
		for i := 2; i < len(s); i++ {
			switch {
			case s[i] == '\\' && i+1 < len(s) && s[i+1] == '"':
				i++
				name.WriteByte('"')
			case s[i] == '"':
				if i+1 >= len(s) || s[i+1] != ']' {
					return PathStep{}, "", fmt.Errorf("missing closing bracket after %s", s[:i+1])
				}
				return KeyStep(name.String()), s[i+2:], nil
			default:
				name.WriteByte(s[i])
			}
		}
		return PathStep{}, "", fmt.Errorf("missing closing quote in property name")
	}
	text, rest, closed := strings.Cut(s[1:], "]")
	if !closed {
		return PathStep{}, "", fmt.Errorf("missing closing bracket in array index")
	}
	if text == "*" {
		return KeyStep("*"), rest, nil
	}
	index, err := strconv.ParseInt(text, 10, 0)
	if err != nil {
		return PathStep{}, "", fmt.Errorf("%q is not an array index", text)
	}
	return IndexStep(int(index)), rest, nil
}

// String returns the text form of the path. ParsePath returns an equal path for it, except for keys that need quotes
// and have a backslash before a quote or at the end, which the grammar cannot express.
func (p Path) String() string {
	var b strings.Builder
	for i, step := range p {
		switch {
		case step.IsIndex:
			fmt.Fprintf(&b, "[%d]", step.Index)
		case step.IsWildcard():
			b.WriteString("[*]")
		case step.Key == "" || strings.ContainsAny(step.Key, `.[]"`):
			b.WriteString(`["` + strings.ReplaceAll(step.Key, `"`, `\"`) + `"]`)
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step.Key)
		}
	}
	return b.String()
}

// Then returns the path with more steps; p is not modified.
func (p Path) Then(steps ...PathStep) Path {
	longer := make(Path, 0, len(p)+len(steps))
	return append(append(longer, p...), steps...)
}

// Contains reports whether other equals p or lies below it; a wildcard in p matches any one step (E4.69).
func (p Path) Contains(other Path) bool {
	if len(p) > len(other) {
		return false
	}
	for i, step := range p {
		if !step.IsWildcard() && step != other[i] {
			return false
		}
	}
	return true
}

// Get returns the value at the path, with the secrecy and dependencies of the containers around it, and whether it
// exists. The result below an unknown container is unknown. A wildcard matches nothing.
func (p Path) Get(v Value) (Value, bool) {
	for _, step := range p {
		if !v.IsKnown() {
			return v.UnknownAs(KindAny), true
		}
		if step.IsWildcard() {
			return Null, false
		}
		inner, ok := v.child(step)
		if !ok {
			return Null, false
		}
		v = inner.WithMarksOf(v)
	}
	return v, true
}

// child returns the part of a known container at a step, without the container's marks.
func (v Value) child(step PathStep) (Value, bool) {
	if !step.IsIndex {
		return v.Lookup(step.Key)
	}
	items, ok := v.AsList()
	if !ok || step.Index < 0 || step.Index >= len(items) {
		return Null, false
	}
	return items[step.Index], true
}

// withChild returns v with the part at step replaced.
func (v Value) withChild(step PathStep, part Value) Value {
	if !step.IsIndex {
		return v.With(step.Key, part)
	}
	items, _ := v.AsList()
	next := slices.Clone(items)
	next[step.Index] = part
	return Value{payload: next, marks: v.marks}
}

// Delete returns v without the part at the path, and whether that existed. List items behind a deleted one move up. A
// wildcard and the empty path delete nothing.
func (p Path) Delete(v Value) (Value, bool) {
	if len(p) == 0 || p[0].IsWildcard() {
		return v, false
	}
	inner, ok := v.child(p[0])
	if !ok {
		return v, false
	}
	if len(p) > 1 {
		next, ok := p[1:].Delete(inner)
		if !ok {
			return v, false
		}
		return v.withChild(p[0], next), true
	}
	if !p[0].IsIndex {
		return v.Without(p[0].Key), true
	}
	items, _ := v.AsList()
	next := slices.Concat(items[:p[0].Index], items[p[0].Index+1:])
	return Value{payload: next, marks: v.marks}, true
}

// Reset returns a copy of news in which the parts that match the path have their values in olds, and reports whether
// that was possible for all of them (E4.65). It is what the Pulumi engine does, also for the parts that it does reset
// before it comes to one that it cannot:
//
//   - A key that olds lacks is removed from news, and the map around it remains; one that news lacks is added again.
//   - A list keeps its length: an item that only one side has cannot be reset, and stays as in news.
//   - A part of a container that olds has and news lacks cannot be reset.
//   - A wildcard inside of a path is for keys that olds has; one at the end is also for those that only news has.
//
// Parts are visited in order of keys and indexes, the engine's keys in any order, up to the first that cannot be reset.
// A part of a secret becomes a secret.
func (p Path) Reset(olds, news Value) (Value, bool) {
	if len(p) == 0 {
		return news, false
	}
	return resetting{}.reset(p, olds, news)
}

// resetting reports whether a container around the part of a value that Path.Reset has come to is a secret, before and
// now.
type resetting struct{ before, now bool }

func (r resetting) reset(p Path, olds, news Value) (Value, bool) {
	r.before, r.now = r.before || olds.IsSecret(), r.now || news.IsSecret()
	step, last := p[0], len(p) == 1
	switch {
	case step.IsWildcard() && last:
		return r.all(olds, news)
	case step.IsWildcard():
		return r.each(p, olds, news)
	case step.IsIndex && step.Index < 0:
		return news, false
	case step.IsIndex && (!olds.Is(KindList) || !news.Is(KindList)),
		!step.IsIndex && !last && (!olds.Is(KindMap) || !news.Is(KindMap)):
		return news, olds.isContainer(step) == news.isContainer(step)
	}
	oldPart, inOld := olds.child(step)
	_, inNew := news.child(step)
	switch {
	case !inOld && !inNew:
		return news, last || !step.IsIndex
	case step.IsIndex && inOld != inNew, !last && !inNew:
		return news, false
	case !last:
		return r.within(p, oldPart, news)
	case !inOld:
		return news.Without(step.Key), true
	case !step.IsIndex && !news.Is(KindMap):
		return news, false
	}
	return news.withChild(step, r.concealed(oldPart)), true
}

// within resets the rest of a path in a part of news.
func (r resetting) within(p Path, oldPart, news Value) (Value, bool) {
	newPart, _ := news.child(p[0])
	part, ok := r.reset(p[1:], oldPart, newPart)
	return news.withChild(p[0], part), ok
}

// all resets all parts of a container.
func (r resetting) all(olds, news Value) (Value, bool) {
	switch {
	case news.Is(KindMap) && olds.Is(KindMap):
		for _, key := range unionKeys(news.Keys(), olds.Keys()) {
			if part, has := olds.Lookup(key); has {
				news = news.With(key, r.concealed(part))
			} else {
				news = news.Without(key)
			}
		}
	case news.Is(KindList) && olds.Is(KindList):
		for i := range min(olds.Len(), news.Len()) {
			news = news.withChild(IndexStep(i), r.concealed(olds.At(i)))
		}
		return news, olds.Len() == news.Len()
	}
	return news, news.Is(KindMap) || news.Is(KindList)
}

// each resets the rest of a path in all parts of a container.
func (r resetting) each(p Path, olds, news Value) (Value, bool) {
	ok := true
	switch {
	case news.Is(KindMap) && olds.Is(KindMap):
		for i, key := range olds.Keys() {
			if _, has := news.Lookup(key); !has {
				return news, false
			}
			if news, ok = r.within(append(PathOf(key), p[1:]...), olds.At(i), news); !ok {
				return news, false
			}
		}
		return news, true
	case news.Is(KindList) && olds.Is(KindList):
		for i := range min(olds.Len(), news.Len()) {
			if news, ok = r.within(append(Path{IndexStep(i)}, p[1:]...), olds.At(i), news); !ok {
				return news, false
			}
		}
		return news, olds.Len() == news.Len()
	}
	return news, false
}

// concealed returns v, marked secret if it comes out of a secret.
func (r resetting) concealed(v Value) Value {
	if r.before && !r.now && !v.IsSecret() {
		return v.Secret()
	}
	return v
}

// isContainer reports whether a value is a map or list as the step needs it.
func (v Value) isContainer(s PathStep) bool {
	if s.IsIndex {
		return v.Is(KindList)
	}
	return v.Is(KindMap)
}

// ChangeKind is the kind of a difference between two values.
type ChangeKind uint8

// The kinds of changes.
const (
	Added ChangeKind = iota
	Removed
	Changed
)

// Change is one difference between two values.
type Change struct {
	Path     Path
	Kind     ChangeKind
	Old, New Value // null if absent
}

// Changes returns the differences in content between two values, regardless of marks, in order of keys and indexes. It
// descends into maps and lists that both sides have and reports the innermost differences; null counts as absent.
func Changes(olds, news Value) []Change {
	var found []Change
	collectChanges(&found, nil, olds, news)
	return found
}

// collectChanges uses path as a stack, and copies it only for reported changes.
func collectChanges(found *[]Change, path Path, a, b Value) {
	switch {
	case a.IsNull() && b.IsNull():
	case a.IsNull():
		*found = append(*found, Change{slices.Clone(path), Added, a, b})
	case b.IsNull():
		*found = append(*found, Change{slices.Clone(path), Removed, a, b})
	case a.Is(KindMap) && b.Is(KindMap):
		for _, k := range unionKeys(a.Keys(), b.Keys()) {
			x, _ := a.Lookup(k)
			y, _ := b.Lookup(k)
			collectChanges(found, append(path, KeyStep(k)), x, y)
		}
	case a.Is(KindList) && b.Is(KindList):
		x, _ := a.AsList()
		y, _ := b.AsList()
		for i := range max(len(x), len(y)) {
			var p, q Value
			if i < len(x) {
				p = x[i]
			}
			if i < len(y) {
				q = y[i]
			}
			collectChanges(found, append(path, IndexStep(i)), p, q)
		}
	case !a.IsKnown() || !b.IsKnown() || !SameContent(a, b):
		*found = append(*found, Change{slices.Clone(path), Changed, a, b})
	}
}

// unionKeys merges two ascending lists of keys.
func unionKeys(a, b []string) []string {
	union := make([]string, 0, max(len(a), len(b)))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			union, a = append(union, a[0]), a[1:]
		case a[0] > b[0]:
			union, b = append(union, b[0]), b[1:]
		default:
			union, a, b = append(union, a[0]), a[1:], b[1:]
		}
	}
	return append(append(union, a...), b...)
}
