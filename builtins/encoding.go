package builtins

import (
	"context"
	"crypto/sha1" //nolint:gosec // the function is called sha1; it protects nothing
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/value"
)

// encodingFuncs turn values into texts and back.
var encodingFuncs = []*Func{
	{
		Name:    "toJSON",
		Summary: "A value as JSON text.",
		Params:  []Param{{Name: "value", Type: schema.Any, Doc: "anything but assets, archives and resources"}},
		Result:  always(schema.String),
		Example: `fn::toJSON: {name: "${name}", ports: [80, 443]}`,
		Since:   "0.1.0", Rule: "L6.18", Portable: true,
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			text, err := value.JSON(args[0])
			if err != nil {
				return value.Null, blame(0, "%s", err)
			}
			return text, nil
		},
	},
	{
		Name:    "fromJSON",
		Summary: "The value that a JSON text describes.",
		Params:  []Param{{Name: "text", Type: schema.String, Doc: "the JSON"}},
		Result:  always(schema.Any),
		Example: `fn::fromJSON: ${document}`,
		Since:   "0.1.0", Rule: "L10.C4",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			v, err := value.FromJSON(str(args[0]))
			if err != nil {
				return value.Null, blameText(0, str(args[0]), "text: is not JSON, %s", err)
			}
			return v, nil
		},
	},
	{
		Name:    "toBase64",
		Summary: "The bytes of a text in Base64, standard alphabet with padding.",
		Params:  []Param{{Name: "text", Type: schema.String, Doc: "the text to encode"}},
		Result:  always(schema.String),
		Example: `fn::toBase64: hello`,
		Since:   "0.1.0", Rule: "L6.20", Portable: true,
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			return value.String(base64.StdEncoding.EncodeToString([]byte(str(args[0])))), nil
		},
	},
	{
		Name:    "fromBase64",
		Summary: "The text whose bytes a Base64 text describes.",
		Params:  []Param{{Name: "text", Type: schema.String, Doc: "standard alphabet with padding; the decoded bytes must be UTF-8"}},
		Result:  always(schema.String),
		Example: `fn::fromBase64: aGVsbG8=`,
		Since:   "0.1.0", Rule: "L6.20", Portable: true,
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			decoded, err := base64.StdEncoding.DecodeString(str(args[0]))
			if at := base64.CorruptInputError(0); errors.As(err, &at) {
				return value.Null, blameText(0, str(args[0]), "text: is not Base64 (fault at byte %d)", int64(at))
			}
			if err != nil {
				return value.Null, blameText(0, str(args[0]), "text: is not Base64")
			}
			if !utf8.Valid(decoded) {
				return value.Null, blameText(0, str(args[0]), "text: the decoded bytes are not UTF-8")
			}
			return value.String(string(decoded)), nil
		},
	},
	{
		Name:    "sha1",
		Summary: "The SHA-1 digest of a text in lower-case hexadecimal.",
		Params:  []Param{{Name: "text", Type: schema.String, Doc: "the text to digest"}},
		Result:  always(schema.String),
		Example: `fn::sha1: ${document}`,
		Since:   "0.1.0", Rule: "L6.21", Portable: true,
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			digest := sha1.Sum([]byte(str(args[0]))) //nolint:gosec // see the import
			return value.String(hex.EncodeToString(digest[:])), nil
		},
	},
	{
		Name:    "toString",
		Summary: "A string, number or boolean as text, as it would appear inside a longer text.",
		Params:  []Param{{Name: "value", Type: schema.Any, Doc: "a string, number, boolean or null"}},
		Result:  always(schema.String),
		Example: `fn::toString: ${port}`,
		Since:   "0.1.0", Rule: "L10.C7",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			text, err := value.Text(args[0])
			if err != nil {
				return value.Null, blame(0, "value: %s", err)
			}
			return text, nil
		},
	},
	{
		Name:    "toNumber",
		Summary: "The number that a text holds.",
		Params:  []Param{{Name: "value", Type: scalar, Doc: "a text such as 8080, -1.5 or 1e6, or a number"}},
		Result:  always(schema.Number),
		Example: `fn::toNumber: "8080"`,
		Since:   "0.1.0", Rule: "L10.C7",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			if args[0].Is(value.KindNumber) {
				return args[0], nil
			}
			text := strings.TrimSpace(str(args[0]))
			// The reader of JSON accepts decimal numbers only, without underscores, hexadecimal digits or infinities.
			v, err := value.FromJSON(strings.TrimPrefix(text, "+"))
			if err != nil || !v.Is(value.KindNumber) || !args[0].Is(value.KindString) {
				return value.Null, blameText(0, text, "value: is not a number")
			}
			return v, nil
		},
	},
	{
		Name:    "toBool",
		Summary: "The boolean that a text holds.",
		Params:  []Param{{Name: "value", Type: scalar, Doc: "the text true or false, in any case, or a boolean"}},
		Result:  always(schema.Bool),
		Example: `fn::toBool: "true"`,
		Since:   "0.1.0", Rule: "L10.C7",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			if args[0].Is(value.KindBool) {
				return args[0], nil
			}
			switch text := str(args[0]); strings.ToLower(text) {
			case "true":
				return value.Bool(true), nil
			case "false":
				return value.Bool(false), nil
			default:
				if n, ok := args[0].AsNumber(); ok {
					text = strconv.FormatFloat(n, 'g', -1, 64)
				}
				return value.Null, blameText(0, text, "value: must be true or false")
			}
		},
	},
}
