package builtins

import (
	"context"
	"encoding/base64"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/internal/functions"
	"github.com/yamlhost/yamlhost/internal/value"
)

// encodingEvals are the functions that convert values to text and back.
var encodingEvals = map[string]evalFunc{
	"toJSON": plainly(func(args []value.Value) (value.Value, error) {
		text, err := value.JSON(args[0])
		return text, blameFor(0, "", err)
	}),
	"fromJSON": func(_ context.Context, env Env, args []value.Value) (value.Value, error) {
		v, inexact, err := value.InexactJSON(str(args[0]))
		if err != nil {
			return value.Null, blameText(0, str(args[0]), "text: is not JSON, %s", err)
		}
		if inexact != "" {
			env.LosesDigits()
		}
		return v, nil
	},
	"toYAML": plainly(func(args []value.Value) (value.Value, error) {
		text, err := yamlText(args[0])
		return value.String(text), blameFor(0, "", err)
	}),
	"fromYAML": func(_ context.Context, env Env, args []value.Value) (value.Value, error) {
		v, err := env.ParseYAML(str(args[0]))
		if err != nil {
			return value.Null, &Error{Arg: 0, Reason: "text: is not YAML", Detail: err.Error()}
		}
		return v, nil
	},
	"fromCSV": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		rows, repeated, err := functions.CSV(str(args[0]))
		switch {
		case errors.Is(err, functions.ErrHeader):
			return value.Null, blame(0, "text: has no header line")
		case err != nil:
			return value.Null, &Error{Arg: 0, Reason: "text: is not CSV", Detail: err.Error()}
		case repeated:
			return value.Null, blame(0, "text: two columns have the same name")
		}
		return value.List(rows...), nil
	},
	"urlEncode": text(url.QueryEscape),
	"urlDecode": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		text, err := url.QueryUnescape(str(args[0]))
		if err != nil || !utf8.ValidString(text) {
			return value.Null, blameText(0, str(args[0]), "text: is not URL-encoded")
		}
		return value.String(text), nil
	},
	"toBase64": digest(base64.StdEncoding.EncodeToString),
	"fromBase64": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		decoded, err := base64.StdEncoding.DecodeString(str(args[0]))
		if offset, ok := errors.AsType[base64.CorruptInputError](err); ok {
			return value.Null, blameText(0, str(args[0]), "text: is not Base64 (fault at byte %d)", int64(offset))
		}
		if err != nil {
			return value.Null, blameText(0, str(args[0]), "text: is not Base64")
		}
		if !utf8.Valid(decoded) {
			return value.Null, blameText(0, str(args[0]), "text: the decoded bytes are not UTF-8")
		}
		return value.String(string(decoded)), nil
	},
	"toString": plainly(func(args []value.Value) (value.Value, error) {
		text, err := value.Text(args[0])
		return text, blameFor(0, "value: ", err)
	}),
	"toNumber": func(_ context.Context, env Env, args []value.Value) (value.Value, error) {
		if args[0].Is(value.KindNumber) {
			return args[0], nil
		}
		text := strings.TrimSpace(str(args[0]))
		// The JSON parser accepts only decimal numbers, without underscores, hexadecimal digits or infinities.
		v, inexact, err := value.InexactJSON(strings.TrimPrefix(text, "+"))
		if err != nil || !v.Is(value.KindNumber) || !args[0].Is(value.KindString) {
			return value.Null, blameText(0, text, "value: is not a number")
		}
		if inexact != "" {
			env.LosesDigits()
		}
		return v, nil
	},
	"toBool": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
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
}
