package dynamic

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/value"
)

// Code may make any output of any input, and of any output that it made before. So in a random life of a resource whose
// code mixes everything that it gets into its answers, each output that has a text of a secret is secret, unless the
// author declares it as public or it is the text of the public input of its name, which the program itself shows; and
// without a secret no output is secret but those that the author declares.
func TestOutputsMadeOfSecretsAreSecret(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "c", "d", "e"}
	rapid.Check(t, func(t *rapid.T) {
		typ := Type{Secret: rapid.SliceOfN(rapid.SampledFrom(names), 0, 1).Draw(t, "secret")}
		for _, name := range names {
			if !slices.Contains(typ.Secret, name) && rapid.IntRange(0, 4).Draw(t, "public") == 0 {
				typ.Public = append(typ.Public, name)
			}
		}
		prior, tainted := value.Null, map[string]bool{} // tainted: outputs that have a secret's text
		anySecret := false
		for range 3 {
			inputs, secretInput := value.EmptyMap(), map[string]bool{}
			for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID).Draw(t, "inputs") {
				v := value.String("in-" + name)
				if rapid.IntRange(0, 3).Draw(t, "secret input") == 0 {
					v, secretInput[name], anySecret = v.Secret(), true, true
				}
				inputs = inputs.With(name, v)
			}
			outputs, now := value.EmptyMap(), map[string]bool{}
			for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID).Draw(t, "outputs") {
				text := ""
				for _, from := range inputs.Keys() {
					if rapid.Bool().Draw(t, "use input") {
						part, _ := inputs.Get(from).AsString()
						text, now[name] = text+part, now[name] || secretInput[from]
					}
				}
				for _, from := range prior.Keys() {
					if rapid.IntRange(0, 3).Draw(t, "use output") == 0 {
						part, _ := prior.Get(from).AsString()
						text, now[name] = text+part, now[name] || tainted[from]
					}
				}
				outputs = outputs.With(name, value.String(text))
			}
			sealed := typ.seal(outputs, inputs, prior)
			for name := range now { // what was secret before may be a public input today
				if input, ok := inputs.Lookup(name); ok && !secretInput[name] && value.SameContent(outputs.Get(name), input) {
					now[name] = false
				}
			}
			for i, name := range sealed.Keys() {
				declared, free := slices.Contains(typ.Secret, name), slices.Contains(typ.Public, name)
				switch secret := sealed.At(i).IsSecret(); {
				case declared && !secret, now[name] && !free && !secret:
					t.Fatalf("%s is public: %v of %v and %v", name, sealed, inputs, prior)
				case !anySecret && !declared && secret:
					t.Fatalf("%s is secret: %v of %v and %v", name, sealed, inputs, prior)
				}
				if free { // the author answers for it
					now[name] = sealed.At(i).IsSecret()
				}
				if declared {
					now[name] = false // the author's own secret: what is made of it is for the author to declare
				}
			}
			prior, tainted = sealed, now
		}
	})
}
