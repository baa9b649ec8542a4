package value

import (
	"fmt"
	"math"
	"strconv"

	"github.com/yamlhost/yamlhost/internal/jsontext"
)

// articles are the names of kinds with their articles, for messages.
var articles = [...]string{"null", "a boolean", "a number", "a string", "a list", "a map", "an asset", "an archive",
	"a resource", "a value"}

// textHints are the alternatives for values without a text form.
var textHints = map[Kind]string{
	KindList:     "use fn::join or fn::toJSON",
	KindMap:      "use fn::toJSON, or name one of its members",
	KindAsset:    "use its content or its path instead",
	KindArchive:  "use its path instead",
	KindResource: "name one of its properties, such as .id",
}

// Text returns v as it appears inside a longer text (L5.C): a string with the marks of v. Numbers are formatted with
// FormatNumber, null is empty, and an unknown v gives an unknown string. For a list, map, asset, archive or resource it
// returns an error with a hint.
func Text(v Value) (Value, error) {
	if !v.IsKnown() {
		return v.UnknownAs(KindString), nil
	}
	text := Value{marks: v.marks}
	switch p := v.payload.(type) {
	case nil:
		text.payload = ""
	case string:
		return v, nil
	case bool:
		text.payload = strconv.FormatBool(p)
	case float64:
		text.payload = FormatNumber(p)
	default:
		return Null, fmt.Errorf("%s cannot be put into a text; %s", articles[v.Kind()], textHints[v.Kind()])
	}
	return text, nil
}

// FormatNumber formats a number for display and in names (L5.C): zero as 0 without a sign, numbers from 1e-6 up to 1e21
// as plain decimals with the fewest digits that identify the number, all others with an exponent. Integers below 2^53
// have all of their digits.
func FormatNumber(f float64) string {
	switch abs := math.Abs(f); {
	case abs == 0:
		return "0"
	case math.IsInf(f, 0) || math.IsNaN(f) || abs < 1e-6 || abs >= 1e21:
		return strconv.FormatFloat(f, 'g', -1, 64)
	default:
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
}

// LosesDigits reports whether a text is a decimal integer whose digits no number keeps: FormatNumber writes others.
func LosesDigits(text string) bool { return jsontext.LosesDigits(text) }
