package deploy

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// searched returns the search result for the objects found, on a stack whose resource kept is the object x of the
// default provider. name is the template of the names.
func searched(name string, found ...engine.Found) *search {
	provider := urn.New("dev", "p", "", urn.ProviderType("a"), "default")
	base := &state.Snapshot{Resources: []*state.Resource{
		{URN: provider, Type: urn.ProviderType("a"), ID: "1"},
		{URN: urn.New("dev", "p", "", "a:b:C", "kept"), Type: "a:b:C", ID: "x", Custom: true,
			Provider: urn.Reference{URN: provider, ID: "1"}.String()},
	}}
	s := &search{query: &project.Query{Resources: []project.QueriedType{{Name: name}}}}
	s.name(base, []engine.Query{{Type: "a:b:C"}}, [][]engine.Found{found})
	return s
}

// Each object found gets a unique name that is valid in a stack and that a program can refer to.
func TestNamesOfWhatIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		template string
		found    []engine.Found
		want     []string
	}{
		"the provider's":           {"", []engine.Found{{ID: "1", Name: "one"}}, []string{"one"}},
		"none":                     {"", []engine.Found{{ID: "1"}}, []string{"1"}},
		"a template":               {"web-${name}/${id} $${x}", []engine.Found{{ID: "1", Name: "a"}}, []string{"web-a/1 ${x}"}},
		"a template and no name":   {"${name}", []engine.Found{{ID: "1"}}, []string{"1"}},
		"one name for all":         {"n", []engine.Found{{ID: "2"}, {ID: "1"}, {ID: "3"}}, []string{"n", "n-2", "n-3"}},
		"one that is made already": {"", []engine.Found{{ID: "1", Name: "a-2"}, {ID: "2", Name: "a"}, {ID: "3", Name: "a"}}, []string{"a", "a-2", "a-2-2"}},
		"one of the stack":         {"", []engine.Found{{ID: "1", Name: "kept"}}, []string{"kept-2"}},
		"the same variable":        {"", []engine.Found{{ID: "1", Name: "a b"}, {ID: "2", Name: "a-b"}}, []string{"a b", "a-b-2"}},
		"a terminal's commands":    {"", []engine.Found{{ID: "1", Name: "a\x1b[2Jb\x07"}}, nil},
		"parts of a URN":           {"", []engine.Found{{ID: "1", Name: "a::b\n\tc"}}, []string{"a:b c"}},
		"nothing but space":        {"", []engine.Found{{ID: "1", Name: " \n"}}, []string{"resource"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := searched(c.template, c.found...)
			var got []string
			for _, e := range s.missing() {
				require.NotContains(t, e.Name, "\x1b")
				got = append(got, e.Name)
			}
			if c.want != nil {
				require.Equal(t, c.want, got)
			}
		})
	}
	long := searched("", engine.Found{ID: "1", Name: strings.Repeat("ä", 5000)}).missing()[0].Name
	require.LessOrEqual(t, len(long), longestName)
}

// An object that the stack already has is shown but not imported. An object that two queries find counts once.
func TestWhatTheStackHas(t *testing.T) {
	t.Parallel()
	s := searched("", engine.Found{ID: "x", Name: "mine"}, engine.Found{ID: "y", Name: "other"})
	require.Len(t, s.missing(), 1)
	var out bytes.Buffer
	require.NoError(t, s.show(&out))
	require.Equal(t, "TYPE   NAME   ID  STACK\na:b:C  mine   x   has it as kept\na:b:C  other  y   -\n", out.String())

	twice := &search{query: &project.Query{Resources: make([]project.QueriedType, 2)}}
	one := []engine.Found{{ID: "1", Name: "one"}}
	twice.name(nil, []engine.Query{{Type: "a:b:C"}, {Type: "a:b:C"}}, [][]engine.Found{one, one})
	require.Len(t, twice.missing(), 1)
	// another provider can have another object with the same ID
	named := urn.Reference{URN: urn.New("dev", "p", "", urn.ProviderType("a"), "eu"), ID: "2"}.String()
	both := &search{query: &project.Query{Resources: make([]project.QueriedType, 2)}}
	both.name(nil, []engine.Query{{Type: "a:b:C"}, {Type: "a:b:C", Provider: named}}, [][]engine.Found{one, one})
	require.Len(t, both.missing(), 2)
}

// A hundred thousand objects with one name get unique names, and the table is cut short.
func TestManyAreFound(t *testing.T) {
	t.Parallel()
	found := make([]engine.Found, 100_000)
	for n := range found {
		found[n] = engine.Found{ID: fmt.Sprint(n), Name: "same"}
	}
	s := searched("", found...)
	names := map[string]bool{}
	for _, e := range s.missing() {
		names[e.Name] = true
	}
	require.Len(t, names, len(found))
	var out bytes.Buffer
	require.NoError(t, s.show(&out))
	require.Equal(t, mostShown+2, strings.Count(out.String(), "\n"))
	require.Contains(t, out.String(), "and 99900 more")
}
