package builtins

import (
	"context"
	"strings"

	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/value"
)

// assetFuncs make assets and archives. They touch no files (L6.50).
var assetFuncs = []*Func{
	{
		Name:    "stringAsset",
		Summary: "An asset with a string as its content.",
		Params:  []Param{{Name: "text", Type: schema.String, Doc: "the content"}},
		Result:  always(schema.Asset),
		Example: `fn::stringAsset: hello`,
		Call:    `stringAsset("hello")`,
		Gives:   `asset of the text "hello"`,
		Since:   "0.1.0", Rule: "L6.50", Portable: true,
		Eval: asset(func(text string) value.Asset { return value.Asset{Text: text, HasText: true} }),
	},
	{
		Name:    "fileAsset",
		Summary: "An asset with the content of a file.",
		Params:  []Param{{Name: "path", Type: schema.String, Path: true, Doc: "the file, relative to the program directory"}},
		Result:  always(schema.Asset),
		Example: `fn::fileAsset: ./index.html`,
		Call:    `fileAsset("./index.html")`,
		Gives:   `asset of the file "./index.html"`,
		Since:   "0.1.0", Rule: "L6.51", Portable: true,
		Eval: notEmpty(asset(func(path string) value.Asset { return value.Asset{Path: path} })),
	},
	{
		Name:    "remoteAsset",
		Summary: "An asset with the content that a URL serves.",
		Params: []Param{{Name: "uri", Type: schema.String, Path: true,
			Doc: "a URL that starts with http://, https:// or file://"}},
		Result:  always(schema.Asset),
		Example: `fn::remoteAsset: https://example.com/index.html`,
		Call:    `remoteAsset("https://example.com/index.html")`,
		Gives:   `asset of the address "https://example.com/index.html"`,
		Since:   "0.1.0", Rule: "L6.52", Portable: true,
		Eval: remote(asset(func(uri string) value.Asset { return value.Asset{URI: uri} })),
	},
	{
		Name:    "fileArchive",
		Summary: "An archive of a directory, or from a .tar, .tgz, .tar.gz, .zip or .jar file.",
		Params: []Param{{Name: "path", Type: schema.String, Path: true,
			Doc: "the directory or file, relative to the program directory"}},
		Result:  always(schema.Archive),
		Example: `fn::fileArchive: ./site`,
		Call:    `fileArchive("./site")`,
		Gives:   `archive of the file "./site"`,
		Since:   "0.1.0", Rule: "L6.52", Portable: true,
		Eval: notEmpty(archive(func(path string) value.Archive { return value.Archive{Path: path} })),
	},
	{
		Name:    "remoteArchive",
		Summary: "An archive of the file that a URL serves.",
		Params: []Param{{Name: "uri", Type: schema.String, Path: true,
			Doc: "a URL that starts with http://, https:// or file://"}},
		Result:  always(schema.Archive),
		Example: `fn::remoteArchive: https://example.com/site.zip`,
		Call:    `remoteArchive("https://example.com/site.zip")`,
		Gives:   `archive of the address "https://example.com/site.zip"`,
		Since:   "0.1.0", Rule: "L6.52", Portable: true,
		Eval: remote(archive(func(uri string) value.Archive { return value.Archive{URI: uri} })),
	},
	{
		Name:    "assetArchive",
		Summary: "An archive made of assets and archives, each under its name.",
		Params: []Param{{Name: "assets", Type: &schema.Map{Item: schema.Asset},
			Doc: "the assets and archives by their names in the archive; a name may contain slashes"}},
		Result:  always(schema.Archive),
		Example: `fn::assetArchive: {readme.txt: {fn::stringAsset: hello}}`,
		Call:    `assetArchive({"readme.txt" = stringAsset("hello")})`,
		Gives:   `archive of {"readme.txt": asset of the text "hello"}`,
		Since:   "0.1.0", Rule: "L6.53", Portable: true,
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			return value.NewArchive(&value.Archive{Assets: args[0]}), nil
		},
	},
}

type evalFunc = func(context.Context, Env, []value.Value) (value.Value, error)

func asset(of func(text string) value.Asset) evalFunc {
	return func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		a := of(str(args[0]))
		return value.NewAsset(&a), nil
	}
}

func archive(of func(text string) value.Archive) evalFunc {
	return func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		a := of(str(args[0]))
		return value.NewArchive(&a), nil
	}
}

// notEmpty refuses an empty path, which would be an asset without a source.
func notEmpty(eval evalFunc) evalFunc {
	return func(ctx context.Context, env Env, args []value.Value) (value.Value, error) {
		if str(args[0]) == "" {
			return value.Null, blame(0, "path: must not be empty")
		}
		return eval(ctx, env, args)
	}
}

func remote(eval evalFunc) evalFunc {
	return func(ctx context.Context, env Env, args []value.Value) (value.Value, error) {
		uri := str(args[0])
		for _, scheme := range []string{"http://", "https://", "file://"} {
			if strings.HasPrefix(strings.ToLower(uri), scheme) {
				return eval(ctx, env, args)
			}
		}
		return value.Null, blameText(0, uri, "uri: must start with http://, https:// or file://")
	}
}
