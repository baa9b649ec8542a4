package state

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value/urn"
)

const (
	uStack    = urn.URN("urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev")
	uProvider = urn.URN("urn:pulumi:dev::p::pulumi:providers:pkg::default")
	uA        = urn.URN("urn:pulumi:dev::p::pkg:index:Res::a")
	uB        = urn.URN("urn:pulumi:dev::p::pkg:index:Res::b")
)

func sound() *Snapshot {
	ref := urn.Reference{URN: uProvider, ID: "1"}.String()
	return &Snapshot{Manifest: NewManifest("test", time.Time{}), Resources: []*Resource{
		{URN: uStack, Type: urn.RootStackType},
		{URN: uProvider, Type: "pulumi:providers:pkg", Custom: true, ID: "1"},
		{URN: uA, Type: "pkg:index:Res", Custom: true, ID: "a", Provider: ref, Parent: uStack},
		{URN: uB, Type: "pkg:index:Res", Custom: true, ID: "b", Provider: ref, Parent: uStack,
			Dependencies: []urn.URN{uA}, PropertyDependencies: urn.DependenciesOf(map[string][]urn.URN{"k": {uA}})},
	}}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	require.NoError(t, sound().Verify())
	require.NoError(t, (&Snapshot{}).Verify(), "E6.7: empty version and magic")
	for _, c := range []struct {
		name   string
		breaks func(s *Snapshot)
		rule   string
		urn    urn.URN
		text   string
	}{
		{"magic", func(s *Snapshot) { s.Manifest.Magic = "00" }, "E6.43", "", "magic"},
		{"no URN", func(s *Snapshot) { s.Resources[2].URN = "" }, "E6.44", "", "no URN"},
		{"no type", func(s *Snapshot) { s.Resources[2].Type = "" }, "E6.44", uA, "no type"},
		{"E1.21 component with ID", func(s *Snapshot) { s.Resources[0].ID = "x" }, "E6.45", uStack, "component"},
		{"malformed provider", func(s *Snapshot) { s.Resources[2].Provider = "x" }, "E6.46", uA, "not a provider reference"},
		{"provider's ID", func(s *Snapshot) { s.Resources[1].ID = "2" }, "E6.46", uA, "is not in the state"},
		{"provider late", func(s *Snapshot) {
			s.Resources[1], s.Resources[2] = s.Resources[2], s.Resources[1]
		}, "E6.46", uA, "comes after it"},
		{"parent", func(s *Snapshot) { s.Resources[2].Parent = uB }, "E6.47", uA, "its parent " + string(uB) +
			" comes after"},
		{"dependency", func(s *Snapshot) { s.Resources[2].Dependencies = []urn.URN{"urn:pulumi:dev::p::t::x"} }, "E6.47", uA,
			"not in the state"},
		{"itself", func(s *Snapshot) { s.Resources[2].Dependencies = []urn.URN{uA} }, "E6.47", uA,
			"its dependency is itself"},
		{"own parent", func(s *Snapshot) { s.Resources[2].Parent = uA }, "E6.47", uA, "its parent is itself"},
		{"malformed URN", func(s *Snapshot) { s.Resources[2].URN = "urn:pulumi:dev::p" }, "E6.44", "urn:pulumi:dev::p",
			"malformed"},
		{"property", func(s *Snapshot) {
			s.Resources[2].PropertyDependencies = urn.DependenciesOf(map[string][]urn.URN{"q": {uB}})
		}, "E6.47", uA,
			`"q"`},
		{"deletedWith", func(s *Snapshot) { s.Resources[2].DeletedWith = uB }, "E6.47", uA, "deleted with"},
		{"replaceWith", func(s *Snapshot) { s.Resources[2].ReplaceWith = []urn.URN{uB} }, "E6.47", uA, "replaced with"},
		{"twice", func(s *Snapshot) { s.Resources = append(s.Resources, s.Resources[2]) }, "E6.48", uA, "listed twice"},
		{"snippets", func(s *Snapshot) { s.Snippets = json.RawMessage(`[{"uuid":"1"},{"uuid":"1"}]`) }, "E6.49", "", `"1"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := sound()
			c.breaks(s)
			var fault *IntegrityError
			require.ErrorAs(t, s.Verify(), &fault)
			require.Equal(t, c.rule, fault.Rule)
			require.Equal(t, c.urn, fault.URN)
			require.ErrorContains(t, fault, c.text)
		})
	}
	t.Run("allowed", func(t *testing.T) {
		t.Parallel()
		s := sound()
		left := s.Resources[3].Clone()
		left.Delete = true
		again := left.Clone()
		s.Resources = append(s.Resources, left, again)
		s.Resources[2].Provider = "gone"
		s.Resources[2].PendingReplacement = true // E6.46
		require.NoError(t, s.Verify(), "E6.48: any number of entries to delete")
	})
}

func TestNormalize(t *testing.T) { // E6.32, F5.14
	t.Parallel()
	s := sound()
	same, err := s.Normalize()
	require.NoError(t, err)
	require.Same(t, s, same)

	const uNew, uNewProvider = urn.URN("urn:pulumi:dev::p::pkg:index:New::a2"),
		urn.URN("urn:pulumi:dev::p::pulumi:providers:pkg::p2")
	s.Resources[1] = &Resource{URN: uNewProvider, Type: "pulumi:providers:pkg", Custom: true, ID: "1",
		Aliases: []urn.URN{uProvider}}
	s.Resources[2] = &Resource{URN: uNew, Type: "pkg:index:New", Custom: true, ID: "a", Aliases: []urn.URN{uA},
		Provider: urn.Reference{URN: uNewProvider, ID: "1"}.String()}
	child := urn.New("dev", "p", uA, "pkg:index:Res", "child")
	grandchild := urn.New("dev", "p", child, "pkg:index:Res", "grandchild")
	s.Resources = append(s.Resources,
		&Resource{URN: child, Type: "pkg:index:Res", Parent: uA, DeletedWith: uA, ReplaceWith: []urn.URN{uB, uA}, ViewOf: uA},
		&Resource{URN: grandchild, Type: "pkg:index:Res", Parent: child, Dependencies: []urn.URN{child}})
	s.Pending = []Operation{{Kind: Updating, Resource: s.Resources[3]}}
	before, err := Encode(s, nil)
	require.NoError(t, err)

	n, err := s.Normalize()
	require.NoError(t, err)
	require.NoError(t, n.Verify())
	after, err := Encode(s, nil)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after), "the original is left alone")
	ref := urn.Reference{URN: uNewProvider, ID: "1"}.String()
	newChild := urn.New("dev", "p", uNew, "pkg:index:Res", "child")
	require.Equal(t, []*Resource{
		{URN: uStack, Type: urn.RootStackType},
		{URN: uNewProvider, Type: "pulumi:providers:pkg", Custom: true, ID: "1"},
		{URN: uNew, Type: "pkg:index:New", Custom: true, ID: "a", Provider: ref},
		{URN: uB, Type: "pkg:index:Res", Custom: true, ID: "b", Provider: ref, Parent: uStack,
			Dependencies: []urn.URN{uNew}, PropertyDependencies: urn.DependenciesOf(map[string][]urn.URN{"k": {uNew}})},
		{URN: newChild, Type: "pkg:index:Res", Parent: uNew, DeletedWith: uNew, ReplaceWith: []urn.URN{uB, uNew},
			ViewOf: uNew},
		{URN: urn.New("dev", "p", newChild, "pkg:index:Res", "grandchild"), Type: "pkg:index:Res", Parent: newChild,
			Dependencies: []urn.URN{newChild}},
	}, n.Resources)
	require.Equal(t, n.Resources[3], n.Pending[0].Resource)

	s.Resources[3].Aliases = []urn.URN{uA}
	_, err = s.Normalize()
	require.ErrorContains(t, err, "claimed by")
}
