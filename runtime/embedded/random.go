package embedded

import (
	"cmp"
	"context"
	crand "crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"math/big"
	"math/rand"
	"strconv"
	"strings"

	"golang.org/x/crypto/bcrypt"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// largestRandom limits lengths and counts, so that a typing error cannot exhaust the memory.
const largestRandom = 1 << 24

// schemaNote is the public package's key for the version of the state of strings and passwords. With it the plugin uses
// our state without upgrading it; an upgrade would hash a password again.
const schemaNote, schemaNoteText = "__meta", `{"schema_version":"3"}`

// randomKinds returns the package random. Its resources never change in place: every change is a replacement, except
// for some changes between an absent and an empty value (see unlessEmpty).
func randomKinds(o Options) kinds {
	g := generator{o}
	return kinds{
		resources: map[string]kind{
			"random:index/randomBytes:RandomBytes": {
				byOutputs: true, replaces: always, check: checkRange("length", 1), create: g.bytes, adopt: adoptBytes,
			},
			"random:index/randomId:RandomId": {
				byOutputs: true, replaces: unlessEmpty, check: checkRange("byteLength", 1), create: g.id, adopt: adoptID,
				idOutput: true, fillIn: emptyIsAbsent("prefix"),
			},
			"random:index/randomInteger:RandomInteger": {
				byOutputs: true, replaces: unlessEmpty, check: checkMinMax, create: g.integer, adopt: adoptInteger,
				idOutput: true, fillIn: emptyIsAbsent("seed"),
			},
			"random:index/randomPassword:RandomPassword": {
				byOutputs: true, replaces: unlessEmpty, check: checkCharacters, create: g.password,
				adopt:    adoptPassword,
				idOutput: true, fillIn: withCharacterDefaults,
			},
			"random:index/randomString:RandomString": {
				byOutputs: true, replaces: unlessEmpty, check: checkCharacters, create: g.text, adopt: adoptString,
				idOutput: true, fillIn: withCharacterDefaults,
			},
			"random:index/randomPet:RandomPet": {
				byOutputs: true, replaces: unlessEmpty, check: checkRange("length", -largestRandom), create: g.pet,
				idOutput: true, fillIn: withPetDefaults, cannotAdopt: "its ID does not tell how the name was made",
			},
			"random:index/randomShuffle:RandomShuffle": {
				byOutputs: true, replaces: unlessEmpty, check: checkRange("resultCount", 0), create: g.shuffle,
				idOutput: true, fillIn: emptyIsAbsent("seed"), cannotAdopt: "its ID does not tell what was shuffled",
			},
			"random:index/randomUuid:RandomUuid":   g.uuidKind(uuid4, adoptPlainUUID),
			"random:index/randomUuid4:RandomUuid4": g.uuidKind(uuid4, adoptUUID),
			"random:index/randomUuid7:RandomUuid7": g.uuidKind(uuid7, adoptUUID),
		},
		refused: map[string]string{
			"pulumi:providers:random/terraformConfig": "it describes a Terraform provider; install the plugin to read it",
		},
	}
}

func always(string, value.Value, value.Value) bool { return true }

// unlessEmpty reports whether a change replaces the resource: every change does, except between absent and empty
// keepers, and from an empty to an absent overrideSpecial.
func unlessEmpty(property string, before, after value.Value) bool {
	switch property {
	case "keepers":
		return !(before.IsKnown() && after.IsKnown() && before.Len() == 0 && after.Len() == 0)
	case "overrideSpecial":
		text, _ := before.AsString()
		return !after.IsNull() || before.IsNull() || text != ""
	}
	return true
}

// emptyIsAbsent returns a fillIn function that removes the property if it is an empty text.
func emptyIsAbsent(property string) func(value.Value) value.Value {
	return func(inputs value.Value) value.Value {
		v, _ := inputs.Lookup(property)
		if text, ok := v.AsString(); ok && text == "" {
			return inputs.Without(property)
		}
		return inputs
	}
}

func withPetDefaults(inputs value.Value) value.Value {
	defaults := value.MapOf(
		value.Entry{Key: "length", Value: value.Int(2)}, value.Entry{Key: "separator", Value: value.String("-")},
	)
	return overlay(defaults, emptyIsAbsent("prefix")(inputs))
}

// withCharacterDefaults adds the defaults of strings and passwords: all classes of characters are allowed, none is
// required. number is the old name of numeric; each sets both.
func withCharacterDefaults(inputs value.Value) value.Value {
	numeric := value.Bool(true)
	for _, name := range [...]string{"number", "numeric"} {
		if v, ok := inputs.Lookup(name); ok {
			numeric = v
		}
	}
	return overlay(value.MapOf(
		value.Entry{Key: "lower", Value: value.Bool(true)}, value.Entry{Key: "upper", Value: value.Bool(true)},
		value.Entry{Key: "special", Value: value.Bool(true)},
		value.Entry{Key: "number", Value: numeric}, value.Entry{Key: "numeric", Value: numeric},
		value.Entry{Key: "minLower", Value: value.Int(0)}, value.Entry{Key: "minUpper", Value: value.Int(0)},
		value.Entry{Key: "minNumeric", Value: value.Int(0)}, value.Entry{Key: "minSpecial", Value: value.Int(0)},
	), inputs)
}

// checkRange returns a check that a number, if it is given and known, is from least to largestRandom.
func checkRange(property string, least int) func(value.Value) []provider.Failure {
	return func(inputs value.Value) []provider.Failure {
		v, _ := inputs.Lookup(property)
		f, ok := v.AsNumber()
		switch {
		case ok && f < float64(least):
			return []provider.Failure{{Property: property, Reason: fmt.Sprintf("%s must be at least %d", property, least)}}
		case ok && f > largestRandom:
			return []provider.Failure{{Property: property, Reason: fmt.Sprintf("%s must be at most %d", property,
				largestRandom)}}
		}
		return nil
	}
}

func checkMinMax(inputs value.Value) []provider.Failure {
	var failures []provider.Failure
	for _, name := range [...]string{"min", "max"} {
		v, _ := inputs.Lookup(name)
		if _, ok := v.AsInt(); v.IsKnown() && !ok {
			failures = append(failures, provider.Failure{Property: name, Reason: name + " is too large to be exact"})
		}
	}
	low, high, known := bounds(inputs)
	if known && low > high {
		failures = append(failures, provider.Failure{Property: "min",
			Reason: fmt.Sprintf("min (%d) must not be greater than max (%d)", low, high)})
	}
	return failures
}

func bounds(inputs value.Value) (low, high int, known bool) {
	a, _ := inputs.Lookup("min")
	b, _ := inputs.Lookup("max")
	low, okLow := a.AsInt()
	high, okHigh := b.AsInt()
	return low, high, okLow && okHigh
}

func checkCharacters(inputs value.Value) []provider.Failure {
	failures := checkRange("length", 1)(inputs)
	number, numberOK := lookupBool(inputs, "number")
	numeric, numericOK := lookupBool(inputs, "numeric")
	if numberOK && numericOK && number != numeric {
		failures = append(failures, provider.Failure{Property: "number",
			Reason: "number and numeric differ; give numeric only, number is its old name"})
	}
	all := withCharacterDefaults(inputs)
	classes := false
	for _, name := range [...]string{"lower", "upper", "numeric", "special"} {
		enabled, known := lookupBool(all, name)
		classes = classes || enabled || !known
	}
	if !classes {
		failures = append(failures, provider.Failure{Property: "special",
			Reason: "one of lower, upper, numeric and special must be true"})
	}
	length, lengthOK := lookupInt(all, "length")
	least := 0
	for _, name := range [...]string{"minLower", "minUpper", "minNumeric", "minSpecial"} {
		failures = append(failures, checkRange(name, 0)(inputs)...)
		n, known := lookupInt(all, name)
		lengthOK = lengthOK && known
		least += n
	}
	if lengthOK && len(failures) == 0 && least > length {
		failures = append(failures, provider.Failure{Property: "length", Reason: fmt.Sprintf(
			"length (%d) must be at least the sum of minLower, minUpper, minNumeric and minSpecial (%d)", length, least)})
	}
	return failures
}

func lookupBool(v value.Value, key string) (b, ok bool) {
	inner, _ := v.Lookup(key)
	return inner.AsBool()
}

func lookupInt(v value.Value, key string) (n int, ok bool) {
	inner, _ := v.Lookup(key)
	return inner.AsInt()
}

func lookupString(v value.Value, key string) string {
	s, _ := v.Get(key).AsString()
	return s
}

// generator makes random things.
type generator struct{ Options }

func (g generator) fill(n int) ([]byte, error) {
	data := make([]byte, n)
	if _, err := io.ReadFull(g.Random, data); err != nil {
		return nil, randomnessError(err)
	}
	return data, nil
}

// below returns a uniformly random number from 0 to n-1.
func (g generator) below(n int) (int, error) {
	i, err := crand.Int(g.Random, big.NewInt(int64(n)))
	if err != nil {
		return 0, randomnessError(err)
	}
	return int(i.Int64()), nil
}

func randomnessError(err error) error {
	return &provider.Error{Message: "the system returned no random bytes: " + err.Error(), Cause: err}
}

// seeded returns the generator that the public package uses for a seed: math/rand with a checksum of the text. Go
// guarantees its sequences.
func seeded(seed string) *rand.Rand {
	return rand.New(rand.NewSource(int64(crc64.Checksum([]byte(seed), crc64.MakeTable(crc64.ISO)))))
}

func bytesOutputs(data []byte) value.Value {
	return value.MapOf(
		value.Entry{Key: "base64", Value: value.String(base64.StdEncoding.EncodeToString(data))},
		value.Entry{Key: "hex", Value: value.String(hex.EncodeToString(data))},
		value.Entry{Key: "length", Value: value.Int(len(data))},
	)
}

// bytes creates a RandomBytes. As in the public package, the ID is the base64 of the bytes.
func (g generator) bytes(_ context.Context, _ provider.Subject, inputs value.Value) (string, value.Value, error) {
	length, _ := lookupInt(inputs, "length")
	data, err := g.fill(length)
	if err != nil {
		return "", value.Null, err
	}
	return base64.StdEncoding.EncodeToString(data), bytesOutputs(data), nil
}

func adoptBytes(id string) (string, value.Value, error) {
	data, err := base64.StdEncoding.DecodeString(id)
	if err != nil || len(data) == 0 {
		return "", value.Null, errors.New("the ID must be the bytes in base64")
	}
	return id, bytesOutputs(data), nil
}

func idOutputs(prefix string, data []byte) (string, value.Value) {
	id := base64.RawURLEncoding.EncodeToString(data)
	outputs := value.MapOf(
		value.Entry{Key: "byteLength", Value: value.Int(len(data))},
		value.Entry{Key: "b64Url", Value: value.String(prefix + id)},
		value.Entry{Key: "b64Std", Value: value.String(prefix + base64.StdEncoding.EncodeToString(data))},
		value.Entry{Key: "hex", Value: value.String(prefix + hex.EncodeToString(data))},
		value.Entry{Key: "dec", Value: value.String(prefix + new(big.Int).SetBytes(data).String())},
	)
	return id, outputs
}

func (g generator) id(_ context.Context, _ provider.Subject, inputs value.Value) (string, value.Value, error) {
	length, _ := lookupInt(inputs, "byteLength")
	data, err := g.fill(length)
	if err != nil {
		return "", value.Null, err
	}
	id, outputs := idOutputs(lookupString(inputs, "prefix"), data)
	return id, outputs, nil
}

// adoptID imports "b64Url" or "prefix,b64Url"; the prefix may contain commas.
func adoptID(text string) (string, value.Value, error) {
	prefix := ""
	if comma := strings.LastIndexByte(text, ','); comma >= 0 {
		prefix, text = text[:comma], text[comma+1:]
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(data) == 0 {
		return "", value.Null, errors.New("the ID must be b64Url, or a prefix, a comma and b64Url without the prefix")
	}
	id, outputs := idOutputs(prefix, data)
	if prefix != "" {
		outputs = outputs.With("prefix", value.String(prefix))
	}
	return id, outputs, nil
}

func (g generator) integer(_ context.Context, _ provider.Subject, inputs value.Value) (string, value.Value, error) {
	low, high, _ := bounds(inputs)
	span := high - low + 1
	var n int
	if seed := lookupString(inputs, "seed"); seed != "" {
		n = seeded(seed).Intn(span)
	} else {
		var err error
		if n, err = g.below(span); err != nil {
			return "", value.Null, err
		}
	}
	return strconv.Itoa(low + n), value.MapOf(value.Entry{Key: "result", Value: value.Int(low + n)}), nil
}

func adoptInteger(text string) (string, value.Value, error) {
	usage := errors.New("the ID must be {result},{min},{max} or {result},{min},{max},{seed}")
	parts := strings.Split(text, ",")
	if len(parts) != 3 && len(parts) != 4 {
		return "", value.Null, usage
	}
	outputs := value.EmptyMap()
	for i, name := range [...]string{"result", "min", "max"} {
		n, err := strconv.ParseInt(parts[i], 10, 64)
		if err != nil {
			return "", value.Null, usage
		}
		outputs = outputs.With(name, value.Int(int(n)))
	}
	if len(parts) == 4 {
		outputs = outputs.With("seed", value.String(parts[3]))
	}
	return parts[0], outputs, nil
}

// The classes of characters.
const (
	lowerCharacters   = "abcdefghijklmnopqrstuvwxyz"
	upperCharacters   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	numericCharacters = "0123456789"
	specialCharacters = "!@#$%&*()-_=+[]{}<>:?"
)

// characters returns a random text of length characters with the required minimum of each class, shuffled. As in the
// public package, a minimum also applies to a class that is switched off.
func (g generator) characters(inputs value.Value) (string, error) {
	special := cmp.Or(lookupString(inputs, "overrideSpecial"), specialCharacters)
	length, _ := lookupInt(inputs, "length")
	made := make([]rune, 0, length)
	draw := func(characters string, n int) error {
		set := []rune(characters)
		for range n {
			i, err := g.below(len(set))
			if err != nil {
				return err
			}
			made = append(made, set[i])
		}
		return nil
	}
	var all string
	for _, class := range [...]struct{ enabled, least, set string }{
		{"upper", "minUpper", upperCharacters}, {"lower", "minLower", lowerCharacters},
		{"numeric", "minNumeric", numericCharacters}, {"special", "minSpecial", special},
	} {
		if enabled, _ := lookupBool(inputs, class.enabled); enabled {
			all += class.set
		}
		least, _ := lookupInt(inputs, class.least)
		if err := draw(class.set, least); err != nil {
			return "", err
		}
	}
	if err := draw(all, length-len(made)); err != nil {
		return "", err
	}
	for i := len(made) - 1; i > 0; i-- {
		j, err := g.below(i + 1)
		if err != nil {
			return "", err
		}
		made[i], made[j] = made[j], made[i]
	}
	return string(made), nil
}

func (g generator) text(_ context.Context, _ provider.Subject, inputs value.Value) (string, value.Value, error) {
	text, err := g.characters(inputs)
	return text, stringOutputs(text), err
}

func stringOutputs(text string) value.Value {
	return value.MapOf(
		value.Entry{Key: "result", Value: value.String(text)},
		value.Entry{Key: schemaNote, Value: value.String(schemaNoteText)},
	)
}

// adoptString returns the ID and outputs of a RandomString for an import.
func adoptString(text string) (string, value.Value, error) {
	return text, stringOutputs(text).With("length", value.Int(len(text))), nil
}

// passwordID is the ID of every RandomPassword: the password itself must not be the ID.
const passwordID = "none"

func (g generator) password(_ context.Context, _ provider.Subject, inputs value.Value) (string, value.Value, error) {
	text, err := g.characters(inputs)
	if err != nil {
		return "", value.Null, err
	}
	outputs, err := passwordOutputs(text)
	return passwordID, outputs, err
}

// passwordOutputs returns the outputs of a password. bcrypt hashes only the first 72 bytes, its limit.
func passwordOutputs(text string) (value.Value, error) {
	hash, err := bcrypt.GenerateFromPassword([]byte(text)[:min(len(text), 72)], bcrypt.DefaultCost)
	if err != nil {
		return value.Null, &provider.Error{Message: "hash the password: " + err.Error(), Cause: err}
	}
	return stringOutputs(text).With("bcryptHash", value.String(string(hash))), nil
}

func adoptPassword(text string) (string, value.Value, error) {
	outputs, err := passwordOutputs(text)
	return passwordID, outputs.With("length", value.Int(len(text))), err
}

// pet creates a RandomPet: length words, of which the last is a name, the one before an adjective, the others adverbs.
// A length below one counts as two.
func (g generator) pet(_ context.Context, _ provider.Subject, inputs value.Value) (string, value.Value, error) {
	length, _ := lookupInt(inputs, "length")
	if length < 1 {
		length = 2
	}
	words := make([]string, 0, length)
	if prefix := lookupString(inputs, "prefix"); prefix != "" {
		words = append(words, prefix)
	}
	for left := length; left > 0; left-- {
		list := petAdverbs
		switch left {
		case 1:
			list = petNames
		case 2:
			list = petAdjectives
		}
		i, err := g.below(len(list))
		if err != nil {
			return "", value.Null, err
		}
		words = append(words, list[i])
	}
	return strings.Join(words, lookupString(inputs, "separator")), value.EmptyMap(), nil
}

// shuffle creates a RandomShuffle. It appends permutations of the inputs until there are enough results.
func (g generator) shuffle(_ context.Context, _ provider.Subject, inputs value.Value) (string, value.Value, error) {
	given := inputs.Get("inputs")
	items, _ := given.AsList()
	count, asked := lookupInt(inputs, "resultCount")
	if !asked {
		count = len(items)
	}
	permute := func() ([]int, error) { return g.permutation(len(items)) }
	if seed := lookupString(inputs, "seed"); seed != "" {
		source := seeded(seed)
		permute = func() ([]int, error) { return source.Perm(len(items)), nil }
	}
	results := make([]value.Value, 0, count)
	for len(items) > 0 && len(results) < count {
		order, err := permute()
		if err != nil {
			return "", value.Null, err
		}
		for _, i := range order[:min(len(order), count-len(results))] {
			results = append(results, items[i])
		}
	}
	return "-", value.MapOf(value.Entry{Key: "results", Value: value.List(results...).WithMarksOf(given)}), nil
}

// permutation returns a random permutation of the numbers from 0 to n-1.
func (g generator) permutation(n int) ([]int, error) {
	order := make([]int, n)
	for i := range order {
		j, err := g.below(i + 1)
		if err != nil {
			return nil, err
		}
		order[i], order[j] = order[j], i
	}
	return order, nil
}
