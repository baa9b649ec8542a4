package builtins

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/value"
)

// BundleRequest says what fn::bundle makes an archive of.
type BundleRequest struct {
	Entry    string   // a source file, relative to the program directory
	Export   string   // a name that the entry must export, and the only one that the archive does; empty for all
	Captured bool     // the sources may import what is captured
	External []string // packages that stay imports; "@aws-sdk/*" is a pattern
	Minify   bool
}

// ErrSource is behind every Error about a source that cannot be bundled.
var ErrSource = errors.New("source")

// capturedName is the member of an archive that holds what is captured.
const capturedName = "captured.json"

// bundleFuncs make archives of source files.
var bundleFuncs = []*Func{{
	Name:    "bundle",
	Summary: "An archive of a source file with everything that it imports, to run elsewhere.",
	Params: []Param{
		{Name: "entry", Type: schema.String, Path: true,
			Doc: "the source file, relative to the program directory: TypeScript, JavaScript or Python"},
		{Name: "export", Type: schema.String, Optional: true,
			Doc: "a name that the file must export; without it, everything that it exports"},
		{Name: "capture", Type: &schema.Map{Item: schema.Any}, Optional: true, Marked: true,
			Doc: "values that the sources import: from yamlhost:captured, in Python from yamlhost_captured"},
		{Name: "external", Type: &schema.Array{Item: schema.String}, Optional: true,
			Doc: "packages to leave out, such as @aws-sdk/*"},
		{Name: "minify", Type: schema.Bool, Optional: true, Doc: "shorten names and remove white space"},
		{Name: "secret", Type: schema.String, Optional: true,
			Doc: "allow: captured values may be secret, which makes the archive secret"},
	},
	Shape:   Fields,
	Result:  always(schema.Archive),
	Example: `fn::bundle: {entry: ./handler.ts, capture: {table: orders}}`,
	Gives:   `archive of {"captured.json": asset of the text "{\"table\":\"orders\"}", "index.js": asset of the text "./handler.ts"}`,
	Since:   "0.2.0", Rule: "L10.C18",
	Eval: func(ctx context.Context, env Env, args []value.Value) (value.Value, error) {
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
}}

// secretAt is the path of the first secret in a value; empty when there is none.
func secretAt(path string, v value.Value) string {
	if v.IsSecret() {
		return path
	}
	for i := range v.Len() {
		at := path
		if v.Is(value.KindMap) {
			at += "." + v.Keys()[i]
		} else {
			at += "[]"
		}
		if found := secretAt(at, v.At(i)); found != "" {
			return found
		}
	}
	return ""
}
