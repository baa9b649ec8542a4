//go:build unix

package embedded

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// richInputs holds more inputs of each resource, with a canary wherever any text is allowed.
var richInputs = map[string]value.Value{
	"random:index/randomBytes:RandomBytes":     obj("keepers", obj("k", "canary-keeper")),
	"random:index/randomId:RandomId":           obj("prefix", "canary-prefix", "keepers", obj("k", "canary-keeper")),
	"random:index/randomInteger:RandomInteger": obj("seed", "canary-seed", "keepers", obj("k", "canary-keeper")),
	"random:index/randomPassword:RandomPassword": obj("overrideSpecial", "canary", "lower", false, "upper", false,
		"numeric", false, "keepers", obj("k", "canary-keeper")),
	"random:index/randomString:RandomString": obj("overrideSpecial", "canary", "lower", false, "upper", false,
		"numeric", false, "keepers", obj("k", "canary-keeper")),
	"random:index/randomPet:RandomPet": obj("prefix", "canary-prefix", "separator", "canary-separator", "length", 3,
		"keepers", obj("k", "canary-keeper")),
	"random:index/randomShuffle:RandomShuffle": obj("inputs", []string{"canary-a", "canary-b"}, "seed", "canary-seed",
		"resultCount", 1, "keepers", obj("k", "canary-keeper")),
	"random:index/randomUuid:RandomUuid":   obj("keepers", obj("k", "canary-keeper")),
	"random:index/randomUuid4:RandomUuid4": obj("keepers", obj("k", "canary-keeper")),
	"random:index/randomUuid7:RandomUuid7": obj("keepers", obj("k", "canary-keeper")),
	"command:local:Command": obj("create", `echo canary-create; cat; echo "$A" | tee made.txt >&2`,
		"update", `echo canary-update "$A" "$PULUMI_COMMAND_STDOUT$PULUMI_COMMAND_STDERR"`, "stdin", "canary-stdin",
		"environment", obj("A", "canary-environment"), "delete", "echo canary-delete", "triggers", []string{"canary-t"},
		"assetPaths", []string{"*.txt"}, "addPreviousOutputInEnv", false),
	"tls:index/privateKey:PrivateKey": obj("algorithm", "RSA", "rsaBits", 1024),
	"tls:index/certRequest:CertRequest": obj("subject", obj("commonName", "canary-name", "organization", "canary-org"),
		"dnsNames", []string{"canary-dns.example"}, "uris", []string{"https://canary-uri"}),
	"tls:index/selfSignedCert:SelfSignedCert": obj("subject", obj("commonName", "canary-name"),
		"dnsNames", []string{"canary-dns.example"}, "earlyRenewalHours", 0),
	"tls:index/locallySignedCert:LocallySignedCert": obj("earlyRenewalHours", 0),
	"time:index/static:Static":                      obj("rfc3339", "2024-01-02T03:04:05Z", "triggers", obj("k", "canary-t")),
	"time:index/offset:Offset": obj("baseRfc3339", "2024-01-02T03:04:05Z", "offsetYears", 3, "triggers",
		obj("k", "canary-t")),
	"time:index/rotating:Rotating": obj("rfc3339", "2224-01-02T03:04:05Z", "rotationYears", 300, "triggers",
		obj("k", "canary-t")),
	"time:index/sleep:Sleep": obj("destroyDuration", "2ms", "triggers", obj("k", "canary-t")),
}

// drawInputs draws inputs of a resource: the least ones, some of the others, and any part of them secret.
// Texts end in suffix, so that a text that once was secret is not given in plain text later.
func drawInputs(t *rapid.T, token, suffix string) value.Value {
	var conceal func(v value.Value) value.Value
	conceal = func(v value.Value) value.Value {
		secret := rapid.IntRange(0, 4).Draw(t, "secret") == 0
		switch {
		case v.Is(value.KindMap):
			for i, key := range v.Keys() {
				v = v.With(key, conceal(v.At(i)))
			}
		case v.Is(value.KindList):
			items, _ := v.AsList()
			marked := make([]value.Value, len(items))
			for i, item := range items {
				marked[i] = conceal(item)
			}
			v = value.List(marked...)
		}
		if text, ok := v.AsString(); ok && strings.HasPrefix(text, "canary-") {
			v = value.String(text + suffix)
		}
		if secret {
			v = v.Secret()
		}
		return v
	}
	inputs := value.EmptyMap()
	for _, part := range []value.Value{leastInputs[token], richInputs[token]} {
		for i, key := range part.Keys() {
			if part.At(i).Is(value.KindNull) || leastInputs[token].Has(key) || rapid.Bool().Draw(t, key) {
				inputs = inputs.With(key, conceal(part.At(i)))
			}
		}
	}
	return inputs
}

// What is made of a secret is a secret, in each operation on each resource of each embedded provider: no public output
// reveals a secret input of this or an earlier operation in a form that the masker knows, and where an input that is
// not opaque is secret, no output is public but those that repeat a public input.
func TestWhatIsMadeOfASecretIsASecret(t *testing.T) {
	t.Parallel()
	rigs, all := map[string]rig{}, map[string]kind{}
	for _, pkg := range Names() {
		rigs[pkg] = configure(t, pkg, Options{Dir: t.TempDir(), Environ: shellEnviron})
		maps.Copy(all, catalog[pkg].kinds(Options{}.withDefaults()).resources)
	}
	tokens := slices.Sorted(maps.Keys(all))
	for _, token := range tokens {
		require.Contains(t, richInputs, token, "a new resource needs inputs for this test")
	}
	rapid.Check(t, func(t *rapid.T) {
		token := rapid.SampledFrom(tokens).Draw(t, "token")
		pkg, _, _ := strings.Cut(token, ":")
		rigs[pkg].secretLife(t, token, all[token])
	})
}

func (r rig) secretLife(t *rapid.T, token string, k kind) {
	var history []value.Value
	check := func(operation string, inputs, outputs value.Value) {
		t.Helper()
		inputs = k.complete(inputs)
		history = append(history, inputs)
		secrets, source := mask.New(value.List(history...)), inputs
		for _, name := range opaque {
			source = source.Without(name)
		}
		for i, key := range outputs.Keys() {
			v := outputs.At(i)
			input, given := inputs.Lookup(key)
			repeated := given && value.SameContent(input, v)
			if source.ContainsSecret() && !repeated && !v.IsSecret() && key != "id" && key != schemaNote {
				t.Fatalf("%s of %s with %v: %s is public", operation, token, inputs, key)
			}
			if repeated {
				require.True(t, value.Equal(v, v.SecretLike(input)), "%s of %s: %s is not marked as its input", operation,
					token, key)
				continue
			}
			v.Any(func(leaf value.Value) bool {
				text, isText := leaf.AsString()
				if isText && !leaf.IsSecret() && !v.IsSecret() && key != "id" && secrets.Hide(text) != text {
					t.Fatalf("%s of %s with %v: %s has %q", operation, token, inputs, key, text)
				}
				return false
			})
		}
	}
	inputs := drawInputs(t, token, "-first")
	checked, err := r.Check(r.t.Context(), provider.CheckRequest{Subject: subject(token), News: inputs})
	require.NoError(t, err)
	require.Empty(t, checked.Failures)
	request := provider.CreateRequest{Subject: subject(token), Inputs: checked.Inputs, Preview: true}
	preview, err := r.Create(r.t.Context(), request)
	require.NoError(t, err)
	check("preview", checked.Inputs, preview.Outputs)
	request.Preview = false
	made, err := r.Create(r.t.Context(), request)
	require.NoError(t, err)
	check("create", checked.Inputs, made.Outputs)
	for _, key := range made.Outputs.Keys() {
		require.Equal(t, at(made.Outputs, key).IsSecret(), at(preview.Outputs, key).IsSecret(), "preview of %s", key)
	}
	before, outputs := checked.Inputs, made.Outputs
	for i := range rapid.IntRange(0, 2).Draw(t, "updates") {
		news, err := r.Check(r.t.Context(), provider.CheckRequest{Subject: subject(token),
			News: drawInputs(t, token, fmt.Sprint("-", i))})
		require.NoError(t, err)
		require.Empty(t, news.Failures)
		diff, err := r.Diff(r.t.Context(), provider.DiffRequest{Subject: subject(token), ID: made.ID, OldInputs: before,
			OldOutputs: outputs, News: news.Inputs})
		require.NoError(t, err)
		if diff.Replace() {
			return
		}
		updated, err := r.Update(r.t.Context(), provider.UpdateRequest{Subject: subject(token), ID: made.ID,
			OldInputs: before, OldOutputs: outputs, News: news.Inputs})
		require.NoError(t, err)
		before, outputs = news.Inputs, updated.Outputs
		check("update", before, outputs)
	}
	// A state of an older release has no marks on what was made of secrets.
	plain := outputs
	for _, key := range outputs.Keys() {
		if input, given := before.Lookup(key); !given {
			plain = plain.With(key, at(outputs, key).Public())
		} else {
			plain = plain.With(key, at(outputs, key).SecretLike(input))
		}
	}
	read, err := r.Read(r.t.Context(), provider.ReadRequest{Subject: subject(token), ID: made.ID, Inputs: before,
		Outputs: plain})
	require.NoError(t, err)
	history = nil
	check("read", before, read.Outputs)
}
