package urn_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value/urn"
)

func TestParse(t *testing.T) { // E1.1
	t.Parallel()
	for text, valid := range map[string]bool{
		"urn:pulumi:dev::p::t:m:R::n":       true,
		"urn:pulumi:dev::p::t:m:R::n::more": true,
		"urn:pulumi:::::::":                 true, // empty parts are parts
		"urn:pulumi:dev::p::t":              false,
		"urn:other:dev::p::t:m:R::n":        false,
		"dev::p::t:m:R::n":                  false,
		"":                                  false,
	} {
		_, err := urn.Parse(text)
		require.Equal(t, valid, err == nil, text)
		require.Equal(t, valid, urn.URN(text).Valid(), text)
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	u := urn.New("dev", "p", "urn:pulumi:dev::p::a:b:C$d:e:F::top", "g:h:I", "a::b")
	require.Equal(t, urn.URN("urn:pulumi:dev::p::a:b:C$d:e:F$g:h:I::a::b"), u, "E1.3")
	require.Equal(t, []string{"dev", "p", "a:b:C$d:e:F$g:h:I", "g:h:I", "a::b", "g"},
		[]string{u.Stack(), u.Project(), u.QualifiedType(), u.Type(), u.Name(), u.Package()},
		"E1.2, E1.5: the bare name of the stack")
	require.Equal(t, urn.URN("urn:pulumi:dev::p::g:h:I::n"), urn.New("dev", "p", urn.RootStack("dev", "p"), "g:h:I", "n"),
		"E1.3, E1.6")
}

func TestReference(t *testing.T) { // E1.13
	t.Parallel()
	const provider = "urn:pulumi:dev::p::pulumi:providers:pkg::default"
	got, err := urn.ParseReference(provider + "::some-id")
	require.NoError(t, err)
	require.Equal(t, urn.Reference{URN: provider, ID: "some-id"}, got)
	require.Equal(t, provider+"::some-id", got.String())
	require.Empty(t, urn.Reference{}.String())
	for text, why := range map[string]string{
		"":                                "expected <urn>::<id>",
		"some-id":                         "expected <urn>::<id>",
		"urn:pulumi:dev::p::t::id":        "it needs a stack, a project, a type and a name",
		"urn:pulumi:dev::p::t:m:R::n::id": `its type is "t:m:R", not pulumi:providers:<package>`,
	} {
		_, err := urn.ParseReference(text)
		require.ErrorContains(t, err, why, text)
	}
}
