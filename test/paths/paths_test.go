package paths

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/value"
)

var keys = []string{"a", "b", "x.y", "*", ""}

// values generates values at most depth deep, with few keys and short lists, so that paths often lead somewhere.
func values(depth int) *rapid.Generator[resource.PropertyValue] {
	return rapid.Custom(func(t *rapid.T) resource.PropertyValue {
		kind := rapid.IntRange(0, 9).Draw(t, "kind")
		if depth == 0 {
			kind = min(kind, 3)
		}
		switch kind {
		case 0:
			return resource.NewNullProperty()
		case 1, 2, 3:
			return resource.NewNumberProperty(float64(rapid.IntRange(0, 9).Draw(t, "number")))
		case 4:
			return resource.MakeSecret(values(depth-1).Filter(func(v resource.PropertyValue) bool { return !v.IsSecret() }).
				Draw(t, "secret"))
		case 5, 6:
			return resource.NewArrayProperty(rapid.SliceOfN(values(depth-1), 0, 3).Draw(t, "list"))
		}
		return resource.NewObjectProperty(objects(depth).Draw(t, "map"))
	})
}

func objects(depth int) *rapid.Generator[resource.PropertyMap] {
	return rapid.Custom(func(t *rapid.T) resource.PropertyMap {
		m := resource.PropertyMap{}
		for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 0, 3, rapid.ID[string]).Draw(t, "keys") {
			m[resource.PropertyKey(key)] = values(depth-1).Draw(t, "value")
		}
		return m
	})
}

// texts generates paths as users write them, most of them well formed.
func texts() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		steps := []string{"a", "b", ".a", ".b", "[0]", "[1]", "[2]", "[-1]", "[*]", ".*", "*", `["x.y"]`, `[""]`, `["*"]`,
			".", "[",
			`["a`, "[x]"}
		if rapid.IntRange(0, 9).Draw(t, "odd") > 0 {
			steps = steps[2:14]
		}
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(steps), 1, 4).Draw(t, "steps"), "")
		if rapid.Bool().Draw(t, "trim") {
			text = strings.TrimPrefix(text, ".")
		}
		return text
	})
}

// ours returns a value of the SDK as one of the program.
func ours(v resource.PropertyValue) value.Value {
	switch {
	case v.IsSecret():
		return ours(v.SecretValue().Element).Secret()
	case v.IsNumber():
		return value.Number(v.NumberValue())
	case v.IsArray():
		items := make([]value.Value, len(v.ArrayValue()))
		for i, item := range v.ArrayValue() {
			items[i] = ours(item)
		}
		return value.List(items...)
	case v.IsObject():
		m := map[string]value.Value{}
		for key, item := range v.ObjectValue() {
			m[string(key)] = ours(item)
		}
		return value.Map(m)
	}
	return value.Null
}

// parse parses a path in both ways. ok is false if neither accepts it.
func parse(t *rapid.T, text string) (theirs resource.PropertyPath, path value.Path, ok bool) {
	theirs, err := resource.ParsePropertyPath(text)
	path, problem := value.ParsePath(text)
	if (err == nil) != (problem == nil) {
		t.Fatalf("%q: %v, %v", text, err, problem)
	}
	_, err = resource.ParsePropertyPathStrict(text)
	_, strict := value.ParsePathStrict(text)
	if (err == nil) != (strict == nil) {
		t.Fatalf("%q, strictly: %v, %v", text, err, strict)
	}
	if problem == nil && len(theirs) != len(path) {
		t.Fatalf("%q: %v, %v", text, theirs, path)
	}
	return theirs, path, problem == nil && len(path) > 0
}

// TestReset compares what ignoreChanges does. The SDK visits the keys of a map in any order and ends at the first that
// it cannot reset, so that a path which cannot be reset as a whole may have several outcomes.
func TestReset(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		theirs, path, ok := parse(t, texts().Draw(t, "path"))
		if !ok {
			return
		}
		olds, news := objects(3).Draw(t, "olds"), objects(3).Draw(t, "news")
		if rapid.Bool().Draw(t, "similar") {
			news = olds.Copy()
			for key, v := range objects(3).Draw(t, "changes") {
				news[key] = v
			}
		}
		got, whole := path.Reset(ours(resource.NewObjectProperty(olds)), ours(resource.NewObjectProperty(news)))
		var outcomes []string
		for range 200 {
			after := copied(resource.NewObjectProperty(news)).ObjectValue()
			wholeThere := theirs.Reset(copied(resource.NewObjectProperty(olds)).ObjectValue(), after)
			want := ours(resource.NewObjectProperty(after))
			if whole == wholeThere && value.Equal(want, got) {
				return
			}
			if outcome := fmt.Sprint(wholeThere, " ", shown(want)); !slices.Contains(outcomes, outcome) {
				outcomes = append(outcomes, outcome)
			}
		}
		t.Fatalf("%v of\n%v\nin\n%v\nis %v %v, not one of\n%s", path, shown(ours(resource.NewObjectProperty(olds))),
			shown(ours(resource.NewObjectProperty(news))), whole, shown(got), strings.Join(outcomes, "\n"))
	})
}

// shown returns a value with its secrets, which hold digits only.
func shown(v value.Value) string {
	text, _ := value.AppendJSON(nil, v.Transform(func(x value.Value) value.Value {
		if x.IsSecret() {
			return value.MapOf(value.Entry{Key: "secret", Value: x.Public()})
		}
		return x
	}))
	return string(text)
}

// copied returns a deep copy, with the keys of each map added in any order: the order in which Go visits them depends on
// it, too.
func copied(v resource.PropertyValue) resource.PropertyValue {
	switch {
	case v.IsSecret():
		return resource.MakeSecret(copied(v.SecretValue().Element))
	case v.IsArray():
		items := make([]resource.PropertyValue, len(v.ArrayValue()))
		for i, item := range v.ArrayValue() {
			items[i] = copied(item)
		}
		return resource.NewArrayProperty(items)
	case v.IsObject():
		m := resource.PropertyMap{}
		keys := slices.Collect(maps.Keys(v.ObjectValue()))
		rand.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		for _, key := range keys {
			m[key] = copied(v.ObjectValue()[key])
		}
		return resource.NewObjectProperty(m)
	}
	return v
}

// TestContains compares what replaceOnChanges and hideDiffs match.
func TestContains(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		theirs, path, ok := parse(t, texts().Draw(t, "path"))
		others, other, also := parse(t, texts().Draw(t, "other"))
		if ok && also && theirs.Contains(others) != path.Contains(other) {
			t.Fatalf("%v, %v", theirs, others)
		}
	})
}

// TestGet compares what a path finds in a value without secrets; the SDK does not look into these.
func TestGet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		theirs, path, ok := parse(t, texts().Draw(t, "path"))
		v := resource.NewObjectProperty(objects(3).Draw(t, "value"))
		if !ok || v.ContainsSecrets() || slices.ContainsFunc(path, value.PathStep.IsWildcard) {
			return
		}
		want, found := theirs.Get(v)
		got, has := path.Get(ours(v))
		if found != has || found && !value.Equal(ours(want), got) {
			t.Fatalf("%v of %v is %v %v, not %v %v", path, v, got, has, want, found)
		}
	})
}
