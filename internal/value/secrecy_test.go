package value_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/value"
)

// A secret value stays secret after a provider has answered in plain text, and nothing else becomes secret.
func TestSecretLike(t *testing.T) {
	t.Parallel()
	text := func(s string) value.Value { return value.String(s) }
	secret := func(s string) value.Value { return value.String(s).Secret() }
	object := func(v value.Value) value.Value { return value.MapOf(value.Entry{Key: "k", Value: v}) }
	for name, c := range map[string]struct{ before, now, want value.Value }{
		"nothing is secret": {value.List(text("a")), value.List(text("a")), value.List(text("a"))},
		"a text":            {secret("a"), text("b"), secret("b")},
		"one item": {value.List(text("x"), secret("s")), value.List(text("x"), text("s")),
			value.List(text("x"), secret("s"))},
		"one item, said to be secret": {value.List(text("x"), secret("s")), value.List(text("x"), secret("s")),
			value.List(text("x"), secret("s"))},
		"an item that has changed": {value.List(text("x"), secret("s")), value.List(text("x"), text("t")),
			value.List(text("x"), secret("t"))},
		"items in another order": {value.List(text("x"), secret("s")), value.List(text("s"), text("x")),
			value.List(secret("s"), text("x"))},
		"another item": {value.List(text("x"), secret("s")), value.List(text("x"), text("s"), text("y")),
			value.List(text("x"), secret("s"), text("y"))},
		"the secret has left": {value.List(text("x"), secret("s")), value.List(text("x")), value.List(text("x"))},
		"an item that changed and moved": {value.List(text("x"), secret("s")), value.List(text("t"), text("x")),
			value.List(text("t"), text("x")).Secret()},
		"one that may be the secret": {value.List(secret("s")), value.List(text("t"), text("u")),
			value.List(text("t"), text("u")).Secret()},
		"an object in a list": {value.List(object(secret("s"))), value.List(object(text("t"))),
			value.List(object(secret("t")))},
		"a list in an object": {object(value.List(text("x"), secret("s"))),
			object(value.List(text("x"), text("s"))), object(value.List(text("x"), secret("s")))},
		"another kind": {value.List(secret("s")), text("s"), secret("s")},
		"a secret whole": {value.List(text("x")).Secret(), value.List(text("x"), secret("s")),
			value.List(text("x"), text("s")).Secret()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := c.now.SecretLike(c.before)
			require.True(t, value.Equal(c.want, got), "want %s, got %s", c.want, got)
			require.True(t, value.Equal(got, got.SecretLike(c.before)), "a second time changes nothing")
		})
	}
}

// A secret has no secret inside: one mark covers all of it.
func TestSecretsDoNotNest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := values(3).Draw(t, "v").Secret()
		if v.Public().ContainsSecret() {
			t.Fatalf("%s has a secret inside of a secret", v)
		}
		before, now := values(3).Draw(t, "before"), values(3).Draw(t, "now")
		if !value.SameContent(now, now.SecretLike(before)) {
			t.Fatal("SecretLike changes marks only")
		}
		if before.ContainsSecret() && !before.DeepPublic().SecretLike(before).ContainsSecret() {
			t.Fatal("an echo in plain text loses its secrets")
		}
	})
}
