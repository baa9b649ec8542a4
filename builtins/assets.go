package builtins

import (
	"context"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value"
)

// assetEvals are the functions that create assets and archives. They do not access any files (L6.50).
var assetEvals = map[string]evalFunc{
	"stringAsset":   asset(func(text string) value.Asset { return value.Asset{Text: text, HasText: true} }),
	"fileAsset":     notEmpty(asset(func(path string) value.Asset { return value.Asset{Path: path} })),
	"remoteAsset":   remote(asset(func(uri string) value.Asset { return value.Asset{URI: uri} })),
	"fileArchive":   notEmpty(archive(func(path string) value.Archive { return value.Archive{Path: path} })),
	"remoteArchive": remote(archive(func(uri string) value.Archive { return value.Archive{URI: uri} })),
	"assetArchive": gives(func(args []value.Value) value.Value {
		return value.NewArchive(&value.Archive{Assets: args[0]})
	}),
}

func asset(newAsset func(text string) value.Asset) evalFunc {
	return gives(func(args []value.Value) value.Value { return value.NewAsset(new(newAsset(str(args[0])))) })
}

func archive(newArchive func(text string) value.Archive) evalFunc {
	return gives(func(args []value.Value) value.Value { return value.NewArchive(new(newArchive(str(args[0])))) })
}

// notEmpty wraps eval to reject an empty path, which would make an asset without a source.
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
