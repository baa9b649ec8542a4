package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// changeLimit bounds how many property changes of one resource are shown without --diff.
const changeLimit = 12

// changeLines describes the properties that a step changes, one line for each leaf; nil if there are none. Values of
// secrets are masked on both sides, and properties of hideDiffs are named without values (L4.27).
func changeLines(s *engine.Step, p palette, m *mask.Masker, o Options) []string {
	switch s.Op {
	case engine.OpUpdate, engine.OpReplace, engine.OpRefresh, engine.OpImport:
	case engine.OpCreate:
		if !o.Diff {
			return nil
		}
	default:
		return nil
	}
	var lines []string
	shown, left, computed := 0, 0, 0
	c := changeWriter{p, m, o}
	set := o.Changes.Of(s)
	for i := range set {
		l := &set[i]
		switch {
		case l.Computed && !o.ShowComputed:
			computed++
			continue
		case shown == changeLimit && !o.Diff:
			left++
			continue
		}
		shown++
		lines = append(lines, c.property(s, l)...)
	}
	if s.Op == engine.OpRefresh && shown == 0 {
		return nil
	}
	if old, new := change.Inputs(s); s.Op != engine.OpCreate {
		lines = append(lines, c.madeByOtherCode(old, new)...)
	}
	said := reasons(s)
	if len(set) == 0 && len(said) == 0 && s.Old != nil && o.Causes != CausesNone {
		if words := causeWords(o.Changes.Causes(s)); words != "" {
			said = []string{words}
		}
	}
	for _, reason := range said {
		lines = append(lines, p.paint(dim, reason))
	}
	if left > 0 {
		lines = append(lines, p.paint(dim, fmt.Sprintf("… and %s more; --diff shows all", diag.Count(left, "change"))))
	}
	if computed > 0 {
		lines = append(lines, p.paint(dim, "and "+computedCount(computed)))
	}
	return lines
}

// property shows one property that a step changes, with what it forces, what has set it, and why it changes.
func (c changeWriter) property(s *engine.Step, l *change.Property) []string {
	lines := c.codeChange(s.Type, l)
	if lines == nil {
		lines = c.change(l)
	}
	if l.Replaces {
		lines[0] += c.p.paint(purple, " (forces replacement)")
	}
	if l.Transform != "" {
		pos := PositionIn(l.Transform)
		lines[0] += c.p.paint(dim, fmt.Sprintf(" (transform %s:%d)", pos.File, pos.Line))
	}
	switch {
	case c.o.Causes == CausesNone || s.Op == engine.OpRefresh:
	case c.o.Causes == CausesFull:
		lines = append(lines, c.chainLines(s, l)...)
	default:
		if words := causeWords(l.Causes); words != "" {
			lines[0] += c.p.paint(dim, " ("+words+")")
		}
	}
	return lines
}

// changeWriter shows changes of single properties.
type changeWriter struct {
	p    palette
	mask *mask.Masker
	o    Options
}

// change shows how one property changes, in at least one line.
func (c changeWriter) change(l *change.Property) []string {
	show := func(v value.Value) string {
		if l.Hidden {
			return "(hidden)"
		}
		return showValue(v, c.o.ShowSecrets, c.mask)
	}
	switch l.Kind {
	case change.Moved:
		what := show(l.After)
		if name := change.Identity(l.After); name != "" && !l.Hidden {
			what = c.mask.Hide(name)
		}
		return []string{c.p.paint(cyan, "> "+l.Path+": ") + what + c.p.paint(dim, " (moved from "+l.From+")")}
	case change.Named:
		return []string{c.p.paint(yellow, "~ "+l.Path)}
	case change.Added:
		return []string{c.p.paint(green, "+ "+l.Path+": "+show(l.After))}
	case change.Removed:
		return []string{c.p.paint(red, "- "+l.Path+": "+show(l.Before))}
	}
	secret := !c.o.ShowSecrets && (l.Before.IsSecret() || l.After.IsSecret())
	if l.Before.IsSecret() && l.After.IsSecret() && !l.Hidden && secret {
		return []string{c.p.paint(yellow, "~ "+l.Path+": ") + hiddenSecret + c.p.paint(dim, hiddenChange)}
	}
	from, isText := l.Before.AsString()
	to, alsoText := l.After.AsString()
	if isText && alsoText && !l.Hidden && !secret {
		if lines := c.textChange(l.Path, from, to); lines != nil {
			return lines
		}
	}
	return c.both(l.Path, show(l.Before), show(l.After))
}

// both shows the former and the new value in one line. If both look the same, because their difference is hidden or
// cut, it shows that there is one.
func (c changeWriter) both(path, before, after string) []string {
	if before == after {
		return []string{c.p.paint(yellow, "~ "+path+": ") + after + c.p.paint(dim, hiddenChange)}
	}
	return []string{c.p.paint(yellow, "~ "+path+": ") + before + c.p.paint(dim, " => ") + after}
}

// hiddenChange is behind a value that has changed and looks as before.
const hiddenChange = " (changed)"

// reasons returns the causes of a replacement other than properties.
func reasons(s *engine.Step) []string {
	if s.Op != engine.OpReplace {
		return nil
	}
	if s.Reason != "" {
		return []string{s.Reason}
	}
	var out []string
	for _, k := range s.Keys {
		switch k {
		case "provider":
			out = append(out, "replaced because its provider changes")
		case "replaceWith":
			out = append(out, "replaced together with a resource named by replaceWith")
		case "deletedWith":
			out = append(out, "replaced because the resource named by deletedWith is")
		case "id":
			out = append(out, "replaced on request")
		}
	}
	return out
}

// Value returns a value as changes show it: on one line, cut when long, without secrets.
func Value(v value.Value) string { return showValue(v, false, mask.New()) }

// showValue returns a value on one line, cut when long. Unknown values are marked as such; secrets are masked unless
// shown.
func showValue(v value.Value, showSecrets bool, m *mask.Masker) string {
	text := m.Hide(valueText(v, showSecrets)) // before cutting, which would leave the beginning of a secret
	const limit = 100
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit-1]) + fmt.Sprintf("… (%s)", diag.Count(len(text), "byte"))
	}
	return text
}

func valueText(v value.Value, showSecrets bool) string {
	if v.IsSecret() && !showSecrets {
		return hiddenSecret
	}
	if !v.IsKnown() {
		return "(known after apply)"
	}
	if s, ok := v.AsString(); ok {
		return strconv.Quote(s)
	}
	if items, ok := v.AsList(); ok {
		parts := make([]string, len(items))
		for i, item := range items {
			parts[i] = valueText(item, showSecrets)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	if keys := v.Keys(); v.Is(value.KindMap) {
		parts := make([]string, len(keys))
		for i, k := range keys {
			parts[i] = k + ": " + valueText(v.At(i), showSecrets)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	if f, ok := v.AsNumber(); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	if b, ok := v.AsBool(); ok {
		return strconv.FormatBool(b)
	}
	if a, ok := v.AsAsset(); ok {
		return "asset(" + contentName(a.Path, a.URI, a.Hash) + ")"
	}
	if a, ok := v.AsArchive(); ok {
		return "archive(" + contentName(a.Path, a.URI, a.Hash) + ")"
	}
	if r, ok := v.AsResource(); ok {
		return string(r.URN)
	}
	return "null"
}

func contentName(path, uri, hash string) string {
	if len(hash) > 7 {
		hash = hash[:7]
	}
	switch {
	case path != "":
		return path + " " + hash
	case uri != "":
		return uri + " " + hash
	}
	return "text " + hash
}

// computedCount returns how many properties only a provider computes.
func computedCount(n int) string {
	if n == 1 {
		return "1 computed property"
	}
	return fmt.Sprintf("%d computed properties", n)
}

// ComputedNote returns a line about changes in n computed properties of a number of resources.
func ComputedNote(n, resources int) string {
	return computedCount(n) + " of " + diag.Count(resources, "resource") + " changed; --show-computed shows them"
}
