package embedded

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

const (
	petType      = "random:index/randomPet:RandomPet"
	stringType   = "random:index/randomString:RandomString"
	passwordType = "random:index/randomPassword:RandomPassword"
	integerType  = "random:index/randomInteger:RandomInteger"
	shuffleType  = "random:index/randomShuffle:RandomShuffle"
	idType       = "random:index/randomId:RandomId"
	bytesType    = "random:index/randomBytes:RandomBytes"
	uuidType     = "random:index/randomUuid:RandomUuid"
	uuid4Type    = "random:index/randomUuid4:RandomUuid4"
	uuid7Type    = "random:index/randomUuid7:RandomUuid7"
)

func TestRandomString(t *testing.T) {
	t.Parallel()
	r := configure(t, "random", Options{})
	for _, c := range []struct {
		name    string
		inputs  value.Value
		allowed string // regular expression for the whole result
		least   map[string]int
	}{
		{"all classes", obj("length", 200), `^[A-Za-z0-9!@#$%&*()\-_=+\[\]{}<>:?]{200}$`,
			map[string]int{"[a-z]": 1, "[A-Z]": 1, "[0-9]": 1}},
		{"digits only", obj("length", 9, "lower", false, "upper", false, "special", false), `^[0-9]{9}$`, nil},
		{"old name of numeric", obj("length", 50, "number", false, "special", false), `^[A-Za-z]{50}$`, nil},
		{"minimums", obj("length", 8, "minLower", 2, "minUpper", 2, "minNumeric", 2, "minSpecial", 2), `^.{8}$`,
			map[string]int{"[a-z]": 2, "[A-Z]": 2, "[0-9]": 2, "[^A-Za-z0-9]": 2}},
		{"own special characters", obj("length", 6, "overrideSpecial", "é°", "lower", false, "upper", false, "numeric",
			false), `^[é°]{6}$`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			id, outputs := r.create(stringType, c.inputs)
			result := text(outputs, "result")
			require.Equal(t, id, result)
			require.Regexp(t, c.allowed, result)
			for class, n := range c.least {
				require.GreaterOrEqual(t, len(regexp.MustCompile(class).FindAllString(result, -1)), n, class)
			}
			_, again := r.create(stringType, c.inputs)
			if len(result) > 20 {
				require.NotEqual(t, result, text(again, "result"))
			}
		})
	}
}

func TestRandomPassword(t *testing.T) {
	t.Parallel()
	r := configure(t, "random", Options{})
	inputs := obj("length", 80, "special", false, "keepers", obj("k", value.String("v").Secret()))
	checked := r.check(passwordType, inputs)
	require.True(t, value.Equal(inputs, checked), "defaults never become inputs")
	id, outputs := r.create(passwordType, inputs)
	require.Equal(t, "none", id)
	result := text(outputs, "result")
	require.Len(t, result, 80)
	require.NoError(t, bcrypt.CompareHashAndPassword([]byte(text(outputs, "bcryptHash")), []byte(result[:72])))
	require.True(t, at(outputs, "result").IsSecret())
	require.True(t, at(outputs, "bcryptHash").IsSecret())
	require.True(t, at(at(outputs, "keepers"), "k").IsSecret(), "secrecy of inputs stays")
	want := obj("length", 80, "special", false, "lower", true, "upper", true, "number", true, "numeric", true, "id",
		"none", "minLower", 0, "minUpper", 0, "minNumeric", 0, "minSpecial", 0, "keepers", at(inputs, "keepers"),
		"result", at(outputs, "result"), "bcryptHash", at(outputs, "bcryptHash"), "__meta", `{"schema_version":"3"}`)
	require.True(t, value.Equal(want, outputs), "%v", outputs.Keys())
}

func TestRandomPet(t *testing.T) {
	t.Parallel()
	r := configure(t, "random", Options{})
	for _, c := range []struct {
		inputs  value.Value
		pattern string
	}{
		{obj(), `^[a-z]+-[a-z]+$`},
		{obj("length", 1), `^[a-z]+$`},
		{obj("length", 4, "separator", "_"), `^[a-z]+_[a-z]+_[a-z]+_[a-z]+$`},
		{obj("length", 2, "prefix", "hi"), `^hi-[a-z]+-[a-z]+$`},
		{obj("length", 0), `^[a-z]+-[a-z]+$`},
	} {
		id, outputs := r.create(petType, c.inputs)
		require.Regexp(t, c.pattern, id)
		require.Equal(t, id, text(outputs, "id"))
	}
	// The outputs equal those in the captured state checkpoint-v3 without the plugin's internal keys.
	id, outputs := r.create(petType, obj("length", 2, "prefix", "hi"))
	require.True(t, value.Equal(obj("id", id, "length", 2, "prefix", "hi", "separator", "-"), outputs))
}

func TestPetWords(t *testing.T) {
	t.Parallel()
	for _, list := range [][]string{petAdverbs, petAdjectives, petNames} {
		require.Greater(t, len(list), 100)
		for _, word := range list {
			require.Regexp(t, `^[a-z]+$`, word)
		}
	}
}

// A seed gives the same sequence as in the public package. The sequence must never change.
func TestSeeds(t *testing.T) {
	t.Parallel()
	r := configure(t, "random", Options{})
	id, outputs := r.create(integerType, obj("min", 1, "max", 3, "seed", "12345"))
	require.Equal(t, "3", id)
	n, _ := lookupInt(outputs, "result")
	require.Equal(t, 3, n)
	_, outputs = r.create(shuffleType, obj("inputs", []string{"a", "b", "c", "d", "e"}, "seed", "-"))
	require.True(t, value.Equal(obj("x", []string{"a", "c", "b", "e", "d"}), obj("x", at(outputs, "results"))))
	_, outputs = r.create(shuffleType, obj("inputs", []string{"a", "b", "c", "d", "e"}, "seed", "-", "resultCount", 3))
	require.True(t, value.Equal(obj("x", []string{"a", "c", "b"}), obj("x", at(outputs, "results"))))
	_, outputs = r.create(shuffleType, obj("inputs", []string{"a", "b", "c", "d", "e"}, "seed", "-", "resultCount", 12))
	require.True(t, value.Equal(obj("x", []string{"a", "c", "b", "e", "d", "a", "e", "d", "c", "b", "a", "b"}),
		obj("x", at(outputs, "results"))))
}

func TestRandomIntegerAndShuffle(t *testing.T) {
	t.Parallel()
	r := configure(t, "random", Options{})
	seen := map[string]bool{}
	for range 100 {
		id, _ := r.create(integerType, obj("min", -1, "max", 1))
		seen[id] = true
	}
	require.Equal(t, map[string]bool{"-1": true, "0": true, "1": true}, seen)
	id, outputs := r.create(shuffleType, obj("inputs", []string{"a", "b", "c"}, "resultCount", 5))
	require.Equal(t, "-", id)
	items := texts(at(outputs, "results"))
	require.Len(t, items, 5)
	require.ElementsMatch(t, []string{"a", "b", "c"}, items[:3])
	for _, inputs := range []value.Value{obj("inputs", []string{}), obj("inputs", []string{"a"}, "resultCount", 0)} {
		_, outputs := r.create(shuffleType, inputs)
		require.Equal(t, 0, at(outputs, "results").Len())
		require.True(t, at(outputs, "results").Is(value.KindList))
	}
}

func TestRandomIDAndBytes(t *testing.T) {
	t.Parallel()
	r := configure(t, "random", Options{Random: strings.NewReader("\xff\x00\x01\xfe")})
	id, outputs := r.create(idType, obj("byteLength", 4, "prefix", "p-"))
	require.True(t, value.Equal(obj("byteLength", 4, "prefix", "p-", "b64Url", "p-_wAB_g", "b64Std", "p-/wAB/g==",
		"hex", "p-ff0001fe", "dec", "p-4278190590", "id", "_wAB_g"), outputs))
	require.Equal(t, "_wAB_g", id)
	r = configure(t, "random", Options{Random: strings.NewReader("\xff\x00\x01\xfe")})
	id, outputs = r.create(bytesType, obj("length", 4))
	require.Equal(t, "/wAB/g==", id)
	require.True(t, value.Equal(obj("length", 4, "base64", value.String("/wAB/g==").Secret(), "hex",
		value.String("ff0001fe").Secret()), outputs))
}

func TestRandomUUIDs(t *testing.T) {
	t.Parallel()
	r := configure(t, "random", Options{Now: func() time.Time { return time.UnixMilli(0x0197ad85fe6e) }})
	id, outputs := r.create(uuid4Type, obj())
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, id)
	require.Equal(t, id, text(outputs, "result"))
	id, _ = r.create(uuid7Type, obj())
	require.Regexp(t, `^0197ad85-fe6e-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, id)
}

func TestRandomDiff(t *testing.T) {
	t.Parallel()
	r := configure(t, "random", Options{})
	base := obj("length", 5, "keepers", obj("a", "1"))
	outputs := withCharacterDefaults(base).With("result", value.String("abcde")).With("id", value.String("abcde"))
	none, some := provider.DiffNone, provider.DiffSome
	for _, c := range []struct {
		name     string
		outputs  value.Value
		news     value.Value
		changes  provider.Changes
		replaces []string
		detailed map[string]provider.DiffKind
	}{
		{"nothing", outputs, base, none, nil, nil},
		{"a default written out", outputs, base.With("lower", value.Bool(true)), none, nil, nil},
		{"state without the new name", outputs.Without("numeric").Without("number"), base, none, nil, nil},
		{"length", outputs, base.With("length", value.Int(6)), some, []string{"length"},
			map[string]provider.DiffKind{"length": provider.DiffUpdateReplace}},
		{"keepers changed", outputs, base.With("keepers", obj("a", "2", "b", "3")), some, []string{"keepers"},
			map[string]provider.DiffKind{"keepers.a": provider.DiffUpdateReplace, "keepers.b": provider.DiffAddReplace}},
		{"keepers gone", outputs, base.Without("keepers"), some, []string{"keepers"},
			map[string]provider.DiffKind{"keepers": provider.DiffDeleteReplace}},
		{"keepers not known yet", outputs, base.With("keepers", value.Unknown(value.KindMap)), some, []string{"keepers"},
			map[string]provider.DiffKind{"keepers": provider.DiffUpdateReplace}},
		{"empty keepers come", outputs.Without("keepers"), base.With("keepers", obj()), some, nil,
			map[string]provider.DiffKind{"keepers": provider.DiffAdd}},
		{"empty keepers go", outputs.With("keepers", obj()), base.Without("keepers"), some, nil,
			map[string]provider.DiffKind{"keepers": provider.DiffDelete}},
		{"empty overrideSpecial goes", outputs.With("overrideSpecial", value.String("")), base, some, nil,
			map[string]provider.DiffKind{"overrideSpecial": provider.DiffDelete}},
		{"overrideSpecial goes", outputs.With("overrideSpecial", value.String("!")), base, some, []string{"overrideSpecial"},
			map[string]provider.DiffKind{"overrideSpecial": provider.DiffDeleteReplace}},
		{"becoming secret is not a change", outputs, base.With("length", value.Int(5).Secret()), none, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := r.diff(stringType, base, c.outputs, c.news)
			require.Equal(t, c.changes, got.Changes, "%v", got.Detailed)
			require.Equal(t, c.replaces, got.Replaces)
			require.Equal(t, len(c.replaces) > 0, got.Replace())
			kinds := map[string]provider.DiffKind{}
			for path, d := range got.Detailed {
				kinds[path] = d.Kind
			}
			if c.detailed == nil {
				c.detailed = map[string]provider.DiffKind{}
			}
			require.Equal(t, c.detailed, kinds)
		})
	}
	bytes := r.diff(bytesType, obj("length", 1), obj("length", 1, "base64", "AA==", "hex", "00"),
		obj("length", 1, "keepers", obj()))
	require.Equal(t, []string{"keepers"}, bytes.Replaces, "bytes have no exception for empty keepers")
}

func TestRandomUpdateOfEmptyKeepers(t *testing.T) {
	t.Parallel()
	r := configure(t, "random", Options{})
	old := obj("length", 2, "separator", "-", "id", "big-cat", "__pulumi_raw_state_delta", obj())
	updated, err := r.Update(t.Context(), provider.UpdateRequest{Subject: subject(petType), ID: "big-cat", OldOutputs: old,
		News: obj("keepers", obj())})
	require.NoError(t, err)
	require.True(t, value.Equal(obj("length", 2, "separator", "-", "id", "big-cat", "keepers", obj()), updated.Outputs))
}

func TestRandomImport(t *testing.T) {
	t.Parallel()
	r := configure(t, "random", Options{})
	for _, c := range []struct {
		name, typ, id, newID string
		inputs               value.Value
		outputs              map[string]value.Value // some of the outputs
	}{
		{"string", stringType, "supersecret", "supersecret",
			obj("length", 11, "lower", true, "upper", true, "number", true, "numeric", true, "special", true),
			map[string]value.Value{"result": value.String("supersecret"), "minLower": value.Int(0)}},
		{"password", passwordType, "supersecret", "none",
			obj("length", 11, "lower", true, "upper", true, "number", true, "numeric", true, "special", true),
			map[string]value.Value{"result": value.String("supersecret").Secret()}},
		{"integer", integerType, "15390,1,50000", "15390", obj("min", 1, "max", 50000),
			map[string]value.Value{"result": value.Int(15390)}},
		{"integer with seed", integerType, "5,0,9,x", "5", obj("min", 0, "max", 9, "seed", "x"), nil},
		{"id", idType, "p-9hUg", "p-9hUg", obj("byteLength", 4), map[string]value.Value{"hex": value.String("a7ef6152")}},
		{"id with prefix", idType, "my-prefix-,p-9hUg", "p-9hUg", obj("byteLength", 4, "prefix", "my-prefix-"),
			map[string]value.Value{"hex": value.String("my-prefix-a7ef6152")}},
		{"bytes", bytesType, "8/fu3q+2DcgSJ19i0jZ5Cw==", "8/fu3q+2DcgSJ19i0jZ5Cw==", obj("length", 16),
			map[string]value.Value{"hex": value.String("f3f7eedeafb60dc812275f62d236790b").Secret()}},
		{"uuid", uuidType, "AABBCCDD-eeff-0011-2233-445566778899", "aabbccdd-eeff-0011-2233-445566778899", obj(), nil},
		{"uuid7 in braces", uuid7Type, "{0197ad85-fe6e-7e92-a2f5-7550daa83030}", "0197ad85-fe6e-7e92-a2f5-7550daa83030",
			obj(), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			read, err := r.Read(t.Context(), provider.ReadRequest{Subject: subject(c.typ), ID: c.id})
			require.NoError(t, err)
			require.Equal(t, c.newID, read.ID)
			require.True(t, value.Equal(c.inputs, read.Inputs), "%v", read.Inputs.Keys())
			for key, want := range c.outputs {
				require.True(t, value.Equal(want, at(read.Outputs, key)), key)
			}
			diff := r.diff(c.typ, read.Inputs, read.Outputs, read.Inputs)
			require.Equal(t, provider.DiffNone, diff.Changes, "what was imported is not changed by its own inputs: %v",
				diff.Detailed)
		})
	}
	for _, c := range []struct{ typ, id, want string }{
		{integerType, "1,2", "{result},{min},{max}"}, {integerType, "a,b,c", "{result}"}, {idType, "?", "b64Url"},
		{bytesType, "?", "base64"},
		{uuidType, "x", "UUID"}, {uuid4Type, strings.Repeat("z", 32), "UUID"}, {petType, "a-b", "cannot be imported"},
		{shuffleType, "-", "cannot be imported"},
	} {
		_, err := r.Read(t.Context(), provider.ReadRequest{Subject: subject(c.typ), ID: c.id})
		require.ErrorContains(t, err, c.want)
	}
}

func TestRandomnessFails(t *testing.T) {
	t.Parallel()
	r := configure(t, "random", Options{Random: iotest.ErrReader(errors.New("dry"))})
	for typ, inputs := range leastInputs {
		if strings.HasPrefix(typ, "random:") {
			_, err := r.Create(t.Context(), provider.CreateRequest{Subject: subject(typ), Inputs: inputs})
			require.ErrorContains(t, err, "no random bytes", typ)
		}
	}
}

func FuzzAdopt(f *testing.F) {
	f.Add("1,2,3")
	f.Add("a,b64_")
	f.Add("aabbccdd-eeff-0011-2233-445566778899")
	f.Add(base64.StdEncoding.EncodeToString([]byte("x")))
	kinds := randomKinds(Options{Random: io.MultiReader(rand.Reader)})
	f.Fuzz(func(t *testing.T, id string) {
		for token, k := range kinds.resources {
			if k.adopt == nil || token == passwordType { // hashing is slow on purpose
				continue
			}
			newID, outputs, err := k.adopt(id)
			require.True(t, err != nil || outputs.Is(value.KindMap), token)
			_ = newID
		}
	})
}
