package paths

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// inheritedData generates what an environment and a stack may have for a key: JSON that is YAML, too.
func inheritedData(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kind := rapid.IntRange(0, 9).Draw(t, "kind")
		if depth == 0 {
			kind = min(kind, 4)
		}
		switch kind {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(t, "bool")
		case 2:
			return rapid.SampledFrom([]any{0, 1, -7, 1.5, 0.25, 0.1, 1e20, 1e21, 1e-7, 1e-6, 9007199254740992}).Draw(t, "number")
		case 3, 4:
			return rapid.SampledFrom([]any{"", "x", "1", "true", "null", "a b", "1.50"}).Draw(t, "text")
		case 5:
			return rapid.SliceOfN(inheritedData(depth-1), 0, 2).Draw(t, "list")
		}
		return rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c"}), inheritedData(depth-1), 0, 3).Draw(t, "map")
	})
}

// fromEnvironment returns a value of an environment in the forms of the Pulumi CLI and of programs. Some texts are
// secret.
func fromEnvironment(t *rapid.T, data any) (config.Plaintext, value.Value) {
	switch x := data.(type) {
	case bool:
		return config.NewPlaintext(x), value.Bool(x)
	case int:
		return config.NewPlaintext(int64(x)), value.Number(float64(x))
	case float64:
		return config.NewPlaintext(x), value.Number(x)
	case string:
		if rapid.IntRange(0, 4).Draw(t, "secret") == 0 {
			return config.NewPlaintext(config.PlaintextSecret(x)), value.String(x).Secret()
		}
		return config.NewPlaintext(x), value.String(x)
	case []any:
		theirs, ours := make([]config.Plaintext, len(x)), make([]value.Value, len(x))
		for i, item := range x {
			theirs[i], ours[i] = fromEnvironment(t, item)
		}
		return config.NewPlaintext(theirs), value.List(ours...)
	case map[string]any:
		theirs, ours := make(map[string]config.Plaintext, len(x)), make([]value.Entry, 0, len(x))
		for key, item := range x {
			theirItem, ourItem := fromEnvironment(t, item)
			theirs[key], ours = theirItem, append(ours, value.Entry{Key: key, Value: ourItem})
		}
		return config.NewPlaintext(theirs), value.MapOf(ours...)
	}
	return config.Plaintext{}, value.Null
}

// TestInheritedConfiguration compares the configuration that a program gets of a stack with environments.
func TestInheritedConfiguration(t *testing.T) {
	t.Parallel()
	p, diags := project.Parse(diag.NewSource("Pulumi.yaml", []byte("name: p\nruntime: yaml\n")))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	rapid.Check(t, func(t *rapid.T) {
		written := map[string]any{}
		for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"k", "l", "m"}), 0, 3, rapid.ID).Draw(t, "keys") {
			written["p:"+key] = inheritedData(2).Draw(t, "own "+key)
		}
		text, err := json.Marshal(written)
		if err != nil {
			t.Fatal(err)
		}
		theirs := config.Map{}
		if err := yaml.Unmarshal(text, &theirs); err != nil {
			t.Fatal(err)
		}
		ours, found := project.ParseSettings(diag.NewSource("Pulumi.dev.yaml", []byte("config: "+string(text)+"\n")), "p")
		if found.HasErrors() {
			t.Fatal(found)
		}
		plaintexts, entries := map[config.Key]config.Plaintext{}, []value.Entry{}
		shown := map[string]any{}
		for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"k", "l", "m"}), 1, 3, rapid.ID).Draw(t, "theirs") {
			data := inheritedData(2).Draw(t, "environment's "+key)
			theirItem, ourItem := fromEnvironment(t, data)
			plaintexts[config.MustMakeKey("p", key)] = theirItem
			entries, shown[key] = append(entries, value.Entry{Key: key, Value: ourItem}), data
		}
		sealed, err := config.EncryptMap(context.Background(), plaintexts, config.Base64Crypter)
		if err != nil {
			t.Fatal(err)
		}
		for key, inherited := range sealed {
			if own, has := theirs[key]; has {
				if inherited, err = own.Merge(inherited); err != nil {
					t.Fatal(err)
				}
			}
			theirs[key] = inherited
		}
		ours.Inherit(value.MapOf(entries...), true, func(string) diag.Range { return diag.Range{} })
		merged, found, err := project.Merge(p, ours, "dev", project.Unread{})
		if err != nil || found.HasErrors() {
			t.Fatal(err, found)
		}
		want, got := map[string]string{}, map[string]string{}
		plain, err := theirs.Decrypt(config.Base64Crypter)
		if err != nil {
			t.Fatal(err)
		}
		for key, text := range plain {
			want[key.String()] = fmt.Sprint(text, " ", theirs[key].Secure())
		}
		for key, v := range merged {
			got[key.String()] = fmt.Sprint(v.Text, " ", v.Secret)
		}
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("%s over %v: %v, and here %v", text, shown, want, got)
		}
	})
}

// TestNumbersOfStacks compares the texts that programs get of numbers in the settings of a stack.
func TestNumbersOfStacks(t *testing.T) {
	t.Parallel()
	p, _ := project.Parse(diag.NewSource("Pulumi.yaml", []byte("name: p\nruntime: yaml\n")))
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.StringMatching(`[-+]?(0x[0-9A-F]{1,16}|0o?[0-7]{1,4}|[0-9]{1,24}|[0-9]{0,8}\.[0-9]{1,9})(e[-+]?[0-2]?[0-9])?`).
			Draw(t, "number")
		text := "p:k: " + number + "\n"
		theirs := config.Map{}
		if err := yaml.Unmarshal([]byte(text), &theirs); err != nil {
			t.Fatal(err)
		}
		want, err := theirs.Decrypt(config.Base64Crypter)
		if err != nil {
			t.Fatal(err)
		}
		settings, found := project.ParseSettings(diag.NewSource("Pulumi.dev.yaml", []byte("config:\n  "+text)), "p")
		if found.HasErrors() {
			t.Fatal(found)
		}
		got, _, err := project.Merge(p, settings, "dev", project.Unread{})
		if err != nil {
			t.Fatal(err)
		}
		for key, text := range got {
			if want := want[config.MustMakeKey("p", "k")]; text.Text != want {
				t.Fatalf("%s: %s is %q, and here %q", key, number, want, text.Text)
			}
		}
	})
}
