package builtins

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/yamlhost/yamlhost/internal/value"
)

// BundleRequest describes the archive that fn::bundle creates.
type BundleRequest struct {
	Entry    string   // source file, relative to the program directory
	Export   string   // the only export to keep, which must exist; empty for all exports
	Captured bool     // the sources may import the captured value
	External []string // packages that are not bundled; may be patterns such as "@aws-sdk/*"
	Minify   bool
}

// ErrSource is wrapped by every Error about a source that cannot be bundled.
var ErrSource = errors.New("source")

// capturedName is the name of the archive member with the captured value.
const capturedName = "captured.json"

// bundleEvals are the functions that create archives of source files.
var bundleEvals = map[string]evalFunc{
	"bundle": func(ctx context.Context, env Env, args []value.Value) (value.Value, error) {
		capture := args[2]
		allowed := str(args[5])
		if !args[5].IsNull() && allowed != "allow" {
			return value.Null, blameText(5, allowed, "secret: the only value is allow")
		}
		if secret := secretAt("capture", capture); secret != "" && allowed == "" {
			return value.Null, blame(2,
				"%s is secret, and the archive would hold it in plain text; read it where the code runs, "+
					"or write secret: allow, which makes the archive secret", secret)
		}
		request := BundleRequest{Entry: str(args[0]), Export: str(args[1]), Captured: !capture.IsNull()}
		if items, ok := args[3].AsList(); ok {
			for _, item := range items {
				request.External = append(request.External, str(item))
			}
		}
		request.Minify, _ = args[4].AsBool()
		texts, err := env.Bundle(ctx, request)
		if err != nil {
			return value.Null, &Error{Arg: 0, Reason: err.Error(), Err: errors.Join(ErrSource, err)}
		}
		if capture.ContainsUnknown() {
			return value.UnknownFrom(value.KindArchive, capture), nil
		}
		members := make([]value.Entry, 0, len(texts)+1)
		if request.Captured {
			text, err := value.AppendJSON(nil, capture.Bare())
			if err != nil {
				return value.Null, blame(2, "capture: %s", err)
			}
			if _, taken := texts[capturedName]; taken {
				return value.Null, blame(2, "the sources already have a file %s", capturedName)
			}
			texts = maps.Clone(texts)
			texts[capturedName] = string(text)
		}
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			a := value.Asset{Text: texts[name], HasText: true}
			members = append(members, value.Entry{Key: name, Value: value.NewAsset(&a)})
		}
		made := value.NewArchive(&value.Archive{Assets: value.MapOf(members...)})
		if capture.ContainsSecret() {
			made = made.Secret()
		}
		return made.DependingOn(capture.AllDeps()...), nil
	},
}

// secretAt returns the path of the first secret in a value, or an empty string if there is none.
func secretAt(path string, v value.Value) string {
	if v.IsSecret() {
		return path
	}
	for i := range v.Len() {
		file := path
		if v.Is(value.KindMap) {
			file += "." + v.Keys()[i]
		} else {
			file += "[]"
		}
		if found := secretAt(file, v.At(i)); found != "" {
			return found
		}
	}
	return ""
}
