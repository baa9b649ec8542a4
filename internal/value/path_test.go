package value

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

func mustPath(t *testing.T, s string) Path {
	t.Helper()
	p, err := ParsePath(s)
	require.NoError(t, err, s)
	return p
}

func TestParsePathVectors(t *testing.T) { // F3.14
	t.Parallel()
	data := testfile.Bytes(t, "testdata/property-paths.json")
	var vectors []struct {
		Path        string `json:"path"`
		Parsed      []any  `json:"parsed"`
		Error       string `json:"error"`
		StrictError string `json:"strictError"`
	}
	require.NoError(t, json.Unmarshal(data, &vectors))
	require.NotEmpty(t, vectors)
	for _, v := range vectors {
		t.Run(v.Path, func(t *testing.T) {
			t.Parallel()
			var want Path
			for _, step := range v.Parsed {
				if f, ok := step.(float64); ok {
					want = append(want, IndexStep(int(f)))
				} else {
					want = append(want, KeyStep(step.(string)))
				}
			}
			for _, mode := range []struct {
				name  string
				parse func(string) (Path, error)
				fault string
			}{{"lenient", ParsePath, v.Error}, {"strict", ParsePathStrict, v.StrictError}} {
				got, err := mode.parse(v.Path)
				if mode.fault != "" {
					require.Error(t, err, mode.name)
					continue
				}
				require.NoError(t, err, mode.name)
				require.Equal(t, want, got, mode.name)
				again, err := ParsePath(got.String())
				require.NoError(t, err)
				require.Equal(t, got, again, "round trip")
			}
		})
	}
}

func TestPathString(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a", "a.b", "a[0].b", `a["x.y"]`, "a[*].b", `["q\"uote"]`, `[""]`, "[0]"} {
		require.Equal(t, text, mustPath(t, text).String())
	}
}

func TestPathGetDelete(t *testing.T) {
	t.Parallel()
	tree := MapOf(
		Entry{"list", List(String("a"), MapOf(Entry{"k", Int(1)}))},
		Entry{"secret", MapOf(Entry{"inner", String("s")}).Secret()},
		Entry{"soon", Unknown(KindMap)},
	)
	get := func(path string) (Value, bool) { return mustPath(t, path).Get(tree) }

	got, ok := get("list[1].k")
	require.True(t, ok)
	require.True(t, Equal(Int(1), got))
	got, ok = get("secret.inner")
	require.True(t, ok)
	require.True(t, got.IsSecret(), "L5.37: containers pass on their secrecy")
	got, ok = get("soon.deep[3]")
	require.True(t, ok)
	require.False(t, got.IsKnown())
	for _, missing := range []string{"none", "list[2]", "list[-1]", "list.k", "list[*]", "secret[0]"} {
		_, ok = get(missing)
		require.False(t, ok, missing)
	}

	next, ok := mustPath(t, "list[0]").Delete(tree)
	require.True(t, ok)
	got, _ = mustPath(t, "list[0].k").Get(next)
	require.True(t, Equal(Int(1), got), "items move up")
	next, ok = mustPath(t, "secret.inner").Delete(tree)
	require.True(t, ok)
	_, ok = mustPath(t, "secret.inner").Get(next)
	require.False(t, ok)
	got, _ = next.Lookup("secret")
	require.True(t, got.IsSecret(), "the container's marks stay")
	require.True(t, tree.Get("secret").Has("inner"), "the original stays")
	_, ok = mustPath(t, "a.b").Delete(tree)
	require.False(t, ok)
}

func TestPathContains(t *testing.T) { // E4.69
	t.Parallel()
	for _, c := range []struct {
		path, other string
		want        bool
	}{
		{"a", "a", true}, {"a", "a.b[0]", true}, {"a.b", "a", false}, {"a[*].c", "a[7].c.d", true},
		{"a[*]", "a.key", true}, {"*", "anything[1]", true}, {"a[0]", "a[1]", false}, {"", "a", true},
	} {
		require.Equal(t, c.want, mustPath(t, c.path).Contains(mustPath(t, c.other)), "%s contains %s", c.path, c.other)
	}
}

func TestPathReset(t *testing.T) { // E4.65
	t.Parallel()
	list := func(items ...int) Value {
		values := make([]Value, len(items))
		for i, n := range items {
			values[i] = Int(n)
		}
		return List(values...)
	}
	m := func(key string, v Value) Value { return MapOf(Entry{key, v}) }
	for _, c := range []struct {
		name, path      string
		old, new, after Value
		ok              bool
	}{
		{"changed key", "a", m("a", Int(1)), m("a", Int(2)), m("a", Int(1)), true},
		{"added key", "a", EmptyMap(), m("a", Int(2)), EmptyMap(), true},
		{"removed key", "a", m("a", Int(1)), EmptyMap(), m("a", Int(1)), true},
		{"absent on both sides", "x.y", EmptyMap(), EmptyMap(), EmptyMap(), true},
		{"added container", "a.b", EmptyMap(), m("a", m("b", Int(1))), m("a", EmptyMap()), true},
		{"added containers", "a.b.c", EmptyMap(), m("a", m("b", m("c", Int(1)))), m("a", m("b", m("c", Int(1)))), false},
		{"added container with more", "a.b", EmptyMap(), MapOf(Entry{"a", MapOf(Entry{"b", Int(1)}, Entry{"c", Int(2)})}),
			m("a", m("c", Int(2))), true},
		{"added container that was empty", "a.b", EmptyMap(), m("a", EmptyMap()), m("a", EmptyMap()), true},
		{"no container before", "a.b", m("a", String("x")), m("a", m("b", Int(1))), m("a", EmptyMap()), true},
		{"added container, wildcard at the end", "a[*]", EmptyMap(), m("a", m("b", Int(1))), m("a", m("b", Int(1))), true},
		{"added container, wildcard inside", "a[*].c", EmptyMap(), m("a", m("b", m("c", Int(1)))),
			m("a", m("b", m("c", Int(1)))), false},
		{"added list", "a[0]", EmptyMap(), m("a", list(1)), m("a", list(1)), false},
		{"added list, wildcard at the end", "a[*]", EmptyMap(), m("a", list(1)), m("a", list(1)), true},
		{"added list, inside", "a[0].b", EmptyMap(), m("a", List(m("b", Int(1)))), m("a", List(m("b", Int(1)))), false},
		{"out of a secret", "a.b", m("a", m("b", Int(1)).Secret()), m("a", m("b", Int(2))), m("a", m("b", Int(1).Secret())),
			true},
		{"within a secret", "a.b", m("a", m("b", Int(1)).Secret()), m("a", m("b", Int(2)).Secret()),
			m("a", m("b", Int(1)).Secret()), true},
		{"all out of a secret", "*", m("a", Int(1)).Secret(), m("a", Int(2)), m("a", Int(1).Secret()), true},
		{"removed container", "a.b", m("a", m("b", Int(1))), EmptyMap(), EmptyMap(), false},
		{"index", "a[1]", m("a", list(1, 2)), m("a", list(1, 3)), m("a", list(1, 2)), true},
		{"added index", "a[1]", m("a", list(1)), m("a", list(1, 3)), m("a", list(1, 3)), false},
		{"wildcard at the end", "a[*]", m("a", list(1, 2)), m("a", list(3)), m("a", list(1)), false},
		{"wildcard inside", "a[*].b", m("a", List(m("b", Int(1)), m("b", Int(2)))),
			m("a", List(m("b", Int(8)), m("b", Int(9)))), m("a", List(m("b", Int(1)), m("b", Int(2)))), true},
		{"everything", "*", m("a", Int(1)), m("b", Int(2)), m("a", Int(1)), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, ok := mustPath(t, c.path).Reset(c.old, c.new)
			require.Equal(t, c.ok, ok)
			require.True(t, Equal(c.after, got))
		})
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	olds := MapOf(Entry{"same", Int(1)}, Entry{"gone", Int(1)}, Entry{"list", List(Int(1), Int(2))},
		Entry{"secret", String("x").Secret()}, Entry{"kind", Int(1)}, Entry{"soon", Int(1)})
	news := MapOf(Entry{"same", Int(1)}, Entry{"here", Int(1)}, Entry{"list", List(Int(1), Int(3), Int(4))},
		Entry{"secret", String("x")}, Entry{"kind", String("1")}, Entry{"soon", Unknown(KindNumber)})
	var got []string
	for _, c := range Changes(olds, news) {
		got = append(got, []string{"+", "-", "~"}[c.Kind]+c.Path.String())
	}
	require.Equal(t, []string{"-gone", "+here", "~kind", "~list[1]", "+list[2]", "~soon"}, got)
}

func FuzzParsePath(f *testing.F) {
	for _, seed := range []string{"a.b[0]", `a["x\"y"]`, "a[*]", "a.[0]", "..", `["\"]`, "a[-1]b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePath(s)
		if err != nil {
			return
		}
		for _, step := range p {
			if strings.Contains(step.Key, `\`) {
				return // not every such key can be written, see Path.String
			}
		}
		again, err := ParsePath(p.String())
		require.NoError(t, err, "%q became %q", s, p.String())
		require.Equal(t, p, again)
	})
}
