package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/internal/value"
)

// fakeSecrets seals by writing CIPHERTEXT(x).
type fakeSecrets struct{}

func (fakeSecrets) Decrypt(c string) (string, error) {
	inner, ok := strings.CutPrefix(c, "CIPHERTEXT(")
	if !ok {
		return "", errors.New("not sealed by this test")
	}
	return strings.TrimSuffix(inner, ")"), nil
}

func readVector(t *testing.T, name string, dst any) {
	t.Helper()
	text := testfile.Bytes(t, filepath.Join("testdata", name))
	require.NoError(t, json.Unmarshal(text, dst))
}

func settings(t require.TestingT, text string) *Settings {
	s, diags := ParseSettings(diag.NewSource("Pulumi.dev.yaml", []byte(text)), "p")
	require.False(t, diags.HasErrors(), "%v", diags)
	return s
}

func saved(t require.TestingT, s *Settings) string {
	text, err := s.Text()
	require.NoError(t, err)
	return string(text)
}

// F3.9, F3.10: YAML scalars are read and rewritten as by Pulumi's own hosts.
func TestStackScalars(t *testing.T) {
	t.Parallel()
	var vector struct {
		StackConfig []struct {
			Key, YAML, EngineString string
			AfterRewriteByConfigSet *string
		}
	}
	readVector(t, "config-load.json", &vector)
	require.NotEmpty(t, vector.StackConfig)
	for _, c := range vector.StackConfig {
		t.Run(c.Key, func(t *testing.T) {
			t.Parallel()
			s, diags := ParseSettings(diag.NewSource("s", []byte("config:\n  p:"+c.Key+": "+c.YAML+"\n")), "p")
			if strings.HasPrefix(c.EngineString, "ERROR") {
				require.True(t, diags.HasErrors())
				require.Equal(t, 2, diags[0].Subject.StartPosition().Line)
				return
			}
			require.False(t, diags.HasErrors(), "%v", diags)
			require.Equal(t, c.EngineString, s.entries[0].text)
			s.Set(s.entries[0].Key, s.entries[0].Data())
			switch after := *c.AfterRewriteByConfigSet; after {
			case "block list, same items":
				require.Equal(t, "config:\n  p:list:\n    - 1\n    - a\n    - true\n    - null\n    - 1.5\n", saved(t, s))
			case "block map, key 2 quoted":
				require.Equal(t, "config:\n  p:map:\n    a: 1\n    \"2\": b\n", saved(t, s))
			default:
				require.Equal(t, "config:\n  p:"+c.Key+": "+after+"\n", saved(t, s))
			}
		})
	}
}

// F3.4, F3.5: defaults of the project file as text.
func TestProjectScalars(t *testing.T) {
	t.Parallel()
	var vector struct {
		ProjectConfig []struct{ Key, YAML, EngineString string }
	}
	readVector(t, "config-load.json", &vector)
	require.NotEmpty(t, vector.ProjectConfig)
	for _, c := range vector.ProjectConfig {
		t.Run(c.Key, func(t *testing.T) {
			t.Parallel()
			p, diags := Parse(diag.NewSource("Pulumi.yaml", []byte("name: p\nconfig:\n  "+c.Key+": "+c.YAML+"\n")))
			require.Empty(t, diags)
			config, diags, err := Merge(p, NewSettings("x", "p"), "dev", nil)
			require.NoError(t, err)
			require.Empty(t, diags)
			key, err := ParseKey(c.Key, "p")
			require.NoError(t, err)
			require.Equal(t, map[Key]Text{key: {Text: c.EngineString, FromProject: true, Value: config[key].Value}}, config)
		})
	}
}

// F3.13
func TestSetPath(t *testing.T) {
	t.Parallel()
	var vector []struct {
		Config map[string]any
		Error  string
		Steps  []struct {
			Key, Value   string
			Secret, Path bool
		}
	}
	readVector(t, "config-set-path.json", &vector)
	require.NotEmpty(t, vector)
	for _, c := range vector {
		last := c.Steps[len(c.Steps)-1]
		t.Run(last.Key+"="+last.Value, func(t *testing.T) {
			t.Parallel()
			s := NewSettings("x", "p")
			var err error
			for _, step := range c.Steps {
				var v any = step.Value
				path := KeyPath{}
				if !step.Path {
					path.Key, err = ParseKey(step.Key, "p")
				} else if path, err = ParseKeyPath(step.Key, "p"); len(path.Steps) > 0 {
					v = Coerce(step.Value)
				}
				if step.Secret {
					v = Secure("CIPHERTEXT(" + step.Value + ")")
				}
				if err == nil {
					err = s.SetPath(path, v)
				}
			}
			if c.Error != "" {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			// Save and read again, so that the edited tree is tested too.
			again := settings(t, saved(t, s))
			got := map[string]any{}
			for _, e := range again.Entries() {
				got[e.Key.String()] = e.Data()
			}
			want, err := json.Marshal(c.Config)
			require.NoError(t, err)
			have, err := json.Marshal(got)
			require.NoError(t, err)
			// On the next edit, the stock host rounds 2^64-1 to a double; we keep the number.
			have = []byte(strings.ReplaceAll(string(have), "18446744073709551615", "18446744073709552000"))
			require.JSONEq(t, string(want), string(have))
		})
	}
}

func TestSettingsFile(t *testing.T) {
	t.Parallel()
	text := testfile.Bytes(t, "testdata/Pulumi.dev.yaml")
	s, diags := ParseSettings(diag.NewSource("Pulumi.dev.yaml", text), "fmtcheck")
	require.Empty(t, diags)
	require.True(t, strings.HasPrefix(s.EncryptionSalt, "v1:dMmROWX71KE=:"))
	require.Len(t, s.Entries(), 5)
	require.True(t, s.Entry(Key{"fmtcheck", "obj"}).IsSecret(), "one secure leaf makes the whole key secret")
	require.False(t, s.Entry(Key{"fmtcheck", "label"}).IsSecret())
	require.Equal(t, string(text), saved(t, s), "a rewrite without a change leaves a file of the stock host as it was")
}

// F3.10: comments and the order of keys survive.
func TestEditKeepsComments(t *testing.T) {
	t.Parallel()
	s := settings(t, `# of the team
config:
  # how many
  size: 3 # a few
  p:obj:
    # inner
    b: 1
    a: [x]
  aws:region: eu # here
`)
	s.Set(Key{"p", "size"}, "4")
	path, err := ParseKeyPath("obj.c", "p")
	require.NoError(t, err)
	require.NoError(t, s.SetPath(path, Coerce("07")))
	s.Set(Key{"p", "new"}, Secure("v1:x"))
	s.EncryptionSalt = "v1:salt"
	require.Equal(t, `encryptionsalt: v1:salt
# of the team
config:
  # how many
  p:size: "4" # a few
  p:obj:
    # inner
    b: 1
    a:
      - x
    c: "07"
  aws:region: eu # here
  p:new:
    secure: v1:x
`, saved(t, s))
	require.True(t, s.Remove(Key{"p", "size"}))
	require.False(t, s.Remove(Key{"p", "size"}))
	gone, err := s.RemovePath(path)
	require.NoError(t, err)
	require.True(t, gone)
	require.NotContains(t, saved(t, s), "07")
}

// scalarTexts are spellings of values that a rewriting would change.
var scalarTexts = []string{"1", "1.10", "0x1F", "0o17", "1_000", "123456789012345678901234567890", "-99999999999999999999",
	"True", "~", "2020-01-01", "'single'", `"dou\u0062le"`, "plain # note", "[1, 2.50,   123456789012345678901]",
	"{a:  0777, b: [x]} # c", "!!str 5", "|\n    text\n     more\n", ">-\n    folded\n    text",
	"\n    - 1.0\n    # inside\n    - b: 07", "\n      deep:   x # c\n      more: [a]", "{secure:  v1:abc}"}

// F3.10: every edit of a stack's file leaves all that it does not change as it is, byte for byte.
func TestEditsLeaveTheRest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var entries []string // each with a comment above it
		for i := range rapid.IntRange(2, 5).Draw(t, "entries") {
			name := rapid.SampledFrom([]string{"p:k%d", "k%d", `"p:k%d"`}).Draw(t, "name")
			text := rapid.SampledFrom([]string{"", "  # above\n", "\n"}).Draw(t, "above") + "  " + fmt.Sprintf(name, i) + ": "
			text += strings.TrimRight(rapid.SampledFrom(scalarTexts).Draw(t, "value"), "\n") + "\n"
			entries = append(entries, strings.Replace(text, ": \n", ":\n", 1))
		}
		head := rapid.SampledFrom([]string{"config:\n", "# top\n\nconfig: # here\n", "encryptionsalt:   v1:x # s\nconfig:\n",
			"environment: [a,  b]\nconfig:\n"}).Draw(t, "head")
		tail := rapid.SampledFrom([]string{"", "# end\n", "secretsprovider:  'x'\n"}).Draw(t, "tail")
		file := head + strings.Join(entries, "") + tail
		breaks := strings.NewReplacer()
		if rapid.Bool().Draw(t, "windows") {
			breaks = strings.NewReplacer("\r\n", "\n")
			file = strings.ReplaceAll(file, "\n", "\r\n")
		}
		s := settings(t, file)
		saved := func(t *rapid.T, s *Settings) string {
			text := saved(t, s)
			require.Equal(t, strings.Contains(file, "\r\n"), strings.Count(text, "\n") == strings.Count(text, "\r\n"))
			return breaks.Replace(text)
		}
		at := rapid.IntRange(0, len(entries)-1).Draw(t, "at")
		key := Key{"p", fmt.Sprintf("k%d", at)}
		before, after := head+strings.Join(entries[:at], ""), strings.Join(entries[at+1:], "")+tail
		switch rapid.SampledFrom([]string{"set", "secret", "part", "new", "remove", "salt"}).Draw(t, "edit") {
		case "set":
			s.Set(key, "new")
		case "secret":
			s.Set(key, Secure("v1:new"))
		case "part":
			require.NoError(t, s.SetPath(KeyPath{Key: Key{"p", "new"}, Steps: value.Path{{Key: "a"}}}, int64(1)))
			require.Equal(t, head+strings.Join(entries, "")+"  p:new:\n    a: 1\n"+tail, saved(t, s))
			return
		case "new":
			s.Set(Key{"q", "new"}, "5")
			require.Equal(t, head+strings.Join(entries, "")+"  q:new: \"5\"\n"+tail, saved(t, s))
			return
		case "remove":
			require.True(t, s.Remove(key))
			filled := func(text string) string { return regexp.MustCompile(`\n+`).ReplaceAllString(text, "\n") }
			require.Equal(t, filled(before+after), filled(saved(t, s)))
			return
		case "salt":
			s.EncryptionSalt = "v1:y"
			got := saved(t, s)
			require.Contains(t, got, "encryptionsalt: v1:y")
			require.Contains(t, got, strings.Join(entries, "")+tail)
			return
		}
		got := saved(t, s)
		require.True(t, strings.HasPrefix(got, before), "%s\nof\n%s", got, file)
		require.True(t, strings.HasSuffix(got, after), "%s\nof\n%s", got, file)
	})
}

// In JSON, numbers keep their digits.
func TestEditsOfJSONKeepNumbers(t *testing.T) {
	t.Parallel()
	s := settings(t, `{"config": {"p:a": 123456789012345678901234567890, "p:b": [1.10], "p:c": 1}}`)
	s.Path = "Pulumi.dev.json"
	s.Set(Key{"p", "c"}, "2")
	require.Equal(t, `{"config":{"p:a":123456789012345678901234567890,"p:b":[1.10],"p:c":"2"}}`,
		strings.NewReplacer("\n", "", " ", "").Replace(saved(t, s)))
}

func TestSave(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "Pulumi.dev.yaml")
	s, diags, err := LoadSettings(confine.Door{}, path, "Pulumi.dev.yaml", "p")
	require.NoError(t, err)
	require.Empty(t, diags)
	require.NoError(t, s.Save())
	require.NoFileExists(t, path, "an empty file is not made")
	s.Set(Key{"p", "a"}, "1")
	require.NoError(t, s.Save())
	again, _, err := LoadSettings(confine.Door{}, path, "Pulumi.dev.yaml", "p")
	require.NoError(t, err)
	require.Equal(t, "1", again.Entry(Key{"p", "a"}).Data())
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o644), info.Mode().Perm())
}

// F3.7: beside a project file in JSON, stack settings are JSON too.
func TestJSONFile(t *testing.T) {
	t.Parallel()
	s := NewSettings("Pulumi.dev.json", "p")
	s.EncryptionSalt = "v1:x"
	s.Set(Key{"p", "b"}, "<1>")
	s.Set(Key{"p", "a"}, Secure("v1:y"))
	path, err := ParseKeyPath("o.n[0]", "p")
	require.NoError(t, err)
	require.NoError(t, s.SetPath(path, Coerce("7")))
	require.JSONEq(t, `{"encryptionsalt":"v1:x","config":{"p:b":"<1>","p:a":{"secure":"v1:y"},"p:o":{"n":[7]}}}`,
		saved(t, s))
	again := settings(t, saved(t, s))
	require.Equal(t, "<1>", again.Entry(Key{"p", "b"}).Data())
	require.True(t, again.Entry(Key{"p", "a"}).IsSecret())
}

func TestKeys(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Key{
		"a": {"p", "a"}, "aws:region": {"aws", "region"}, "aws:config:region": {"aws", "region"}, // L2.1
	} {
		got, err := ParseKey(text, "p")
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"a:b:c", ":a", "a:", "", "a:config:b:c"} {
		_, err := ParseKey(text, "p")
		require.Error(t, err, text)
	}
}

func TestSettingsFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		code diag.Code
		line int
	}{
		"no YAML":        {"config: [", diag.Syntax, 1},
		"list":           {"- a", diag.WrongKind, 1},
		"bad key":        {"config:\n  a:b:c: 1\n", diag.WrongKind, 2},
		"twice":          {"config:\n  a: 1\n  p:a: 2\n", diag.Duplicate, 3},
		"config list":    {"config:\n- a\n", diag.WrongKind, 2},
		"salt number":    {"encryptionsalt: 3\n", diag.WrongKind, 1},
		"null warns":     {"config:\n  a:\n", diag.Ignored, 2},
		"misspelled key": {"confg:\n  a: 1\n", diag.UnknownKey, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, diags := ParseSettings(diag.NewSource("s", []byte(c.text)), "p")
			require.Len(t, diags, 1)
			require.Equal(t, c.code, diags[0].Code)
			require.Equal(t, c.line, diags[0].Subject.StartPosition().Line)
		})
	}
}

func FuzzSettings(f *testing.F) {
	f.Add("config:\n  a: {secure: x}\n  b: [1, {c: 2}]\n")
	f.Add("a: &a [*a]\nconfig:\n  x: *a\n")
	f.Add("config: {<<: {a: 1}, ? [x] : y}")
	f.Fuzz(func(t *testing.T, text string) {
		s, diags := ParseSettings(diag.NewSource("s", []byte(text)), "p")
		for _, d := range diags {
			require.LessOrEqual(t, int(d.Subject.End), len(text))
		}
		if diags.HasErrors() {
			return
		}
		out, err := s.Text()
		if err != nil {
			return // refused: the file is unchanged
		}
		again, diags := ParseSettings(diag.NewSource("s", out), "p")
		require.False(t, diags.HasErrors(), "%s\n%v", out, diags)
		require.Len(t, again.entries, len(s.entries))
		for i, e := range s.entries {
			require.Equal(t, e.Key, again.entries[i].Key)
			require.Equal(t, e.text, again.entries[i].text, "%s", out)
		}
	})
}

// L2.35: without a stack, every key that some stack of the project sets may be configuration.
func TestStackKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Pulumi.dev.yaml": "config: {p:a: 1, b: 2}\n", "Pulumi.prod.yaml": "config: {p:b: 3, aws:region: x}\n",
		"Pulumi.broken.yaml": "config: [\n", "Pulumi.yaml": "name: p\nconfig: {p:no: 1}\n",
		"other.yaml": "config: {p:no: 1}\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	p := &Project{Name: Literal{Text: "p"}, Dir: dir, Path: filepath.Join(dir, "Pulumi.yaml")}
	var keys []string
	found, open := StackKeys(p, nil)
	require.False(t, open)
	for _, key := range found {
		keys = append(keys, key.String())
	}
	require.ElementsMatch(t, []string{"p:a", "p:b", "aws:region"}, keys)
}

// A field that the schema of the project file allows is no error; a misspelt one is a warning.
func TestTemplateFields(t *testing.T) {
	t.Parallel()
	for text, summaries := range map[string][]string{
		"name: p\ntemplate: {config: {a: {value: x, anything: y}}, other: z}\n": nil,
		"name: p\ntemplate: {config: {a: {descripton: x}}}\n": {"unknown key descripton in " +
			"template.config.a; did you mean description?"},
	} {
		_, diags := Parse(diag.NewSource("Pulumi.yaml", []byte(text)))
		var found []string
		for _, d := range diags {
			require.Equal(t, diag.Warning, d.Severity)
			found = append(found, d.Summary)
		}
		require.Equal(t, summaries, found)
	}
}

func TestFromJSON(t *testing.T) {
	t.Parallel()
	got, err := FromJSON([]byte(`{"big": 9007199254740993, "path": "a\/b", "pair": "\ud83d\ude00",
		"key": {"secure": "x"}}`))
	require.NoError(t, err)
	require.Equal(t, map[string]any{"big": int64(9007199254740993), "path": "a/b", "pair": "😀", "key": Secure("x")},
		got)
	_, err = FromJSON([]byte(`{`))
	require.EqualError(t, err, "the value is not JSON")
}

// Entry finds exactly the values that Entries lists, after any sequence of edits.
func TestEntryFindsWhatEntriesList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, diags := ParseSettings(diag.NewSource("Pulumi.dev.yaml", []byte("config: {a: 1, p:b: 2}\n")), "p")
		require.Empty(t, diags)
		want := []Key{{"p", "a"}, {"p", "b"}}
		for range rapid.IntRange(0, 20).Draw(t, "edits") {
			key := Key{"p", rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "name")}
			had := slices.Contains(want, key)
			if rapid.Bool().Draw(t, "set") {
				s.Set(key, "v")
				if !had {
					want = append(want, key)
				}
			} else {
				require.Equal(t, had, s.Remove(key))
				want = slices.DeleteFunc(want, func(k Key) bool { return k == key })
			}
		}
		var listed []Key
		for _, e := range s.Entries() {
			listed = append(listed, e.Key)
			require.Same(t, e, s.Entry(e.Key))
		}
		require.ElementsMatch(t, want, listed)
		for _, name := range []string{"a", "b", "c", "d"} {
			key := Key{"p", name}
			require.Equal(t, slices.Contains(want, key), s.Entry(key) != nil)
		}
	})
}
