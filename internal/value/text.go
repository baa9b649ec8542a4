package value

import (
	"fmt"
	"math"
	"strconv"
)

// articles are the names of kinds as the subject of a sentence.
var articles = [...]string{"null", "a boolean", "a number", "a string", "a list", "a map", "an asset", "an archive",
	"a resource", "a value"}

// textHints say what to write in the place of a value that has no text.
var textHints = map[Kind]string{
	KindList:     "use fn::join or fn::toJSON",
	KindMap:      "use fn::toJSON, or name one of its members",
	KindAsset:    "use its content or its path instead",
	KindArchive:  "use its path instead",
	KindResource: "name one of its properties, such as .id",
}

// Text is v as it appears inside a longer text (L5.C): a string value with the marks of v. Numbers are written by
// FormatNumber, null is the empty text, an unknown v gives an unknown string. A list, map, asset, archive or resource
// is an error that names the way out.
func Text(v Value) (Value, error) {
	if !v.IsKnown() {
		return v.UnknownAs(KindString), nil
	}
	text := Value{kind: KindString, marks: v.marks}
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
		return Null, fmt.Errorf("%s cannot be put into a text; %s", articles[v.kind], textHints[v.kind])
	}
	return text, nil
}

// FormatNumber writes a number for people and names (L5.C): an integer below 2^53 with all of its digits and never with
// an exponent, everything from 1e-6 up to 1e21 as plain decimals with as few digits as tell it from its neighbours, the
// rest with an exponent. Minus zero is 0.
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
