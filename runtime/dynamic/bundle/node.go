package bundle

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// namespaceStub is where esbuild finds modules whose text is ours.
const namespaceStub = "stub"

// makeNode bundles TypeScript or JavaScript.
func makeNode(o Options) (*Bundle, error) {
	format := api.FormatCommonJS
	if o.ESM {
		format = api.FormatESModule
	}
	result := api.Build(api.BuildOptions{
		EntryPoints:       []string{"./" + filepath.ToSlash(o.Source)},
		AbsWorkingDir:     o.Dir, // paths in the text are relative to it, so the digest is the same elsewhere
		Outfile:           filepath.Join(o.Dir, "bundle.js"),
		Bundle:            true,
		Platform:          api.PlatformNode,
		Format:            format,
		Target:            api.ES2022,
		Charset:           api.CharsetUTF8,
		LegalComments:     api.LegalCommentsNone,
		Sourcemap:         api.SourceMapExternal,
		SourcesContent:    api.SourcesContentExclude,
		MinifyIdentifiers: o.Minify, MinifySyntax: o.Minify, MinifyWhitespace: o.Minify,
		External:          o.External,
		Metafile:          true,
		LogLevel:          api.LogLevelSilent,
		Plugins:           []api.Plugin{confine(o), stubs(o)},
		TsconfigRaw:       "{}", // a tsconfig of the machine would change the digest
		Write:             false,
		TreeShaking:       api.TreeShakingTrue,
		KeepNames:         false,
		ResolveExtensions: []string{".ts", ".mts", ".cts", ".js", ".mjs", ".cjs", ".json"},
	})
	if len(result.Errors) > 0 {
		return nil, faultsOf(result.Errors)
	}
	b := &Bundle{}
	for _, f := range result.OutputFiles {
		if strings.HasSuffix(f.Path, ".map") {
			m, err := readMap(f.Contents)
			if err != nil {
				return nil, fault(o.Source, "the source map cannot be read: "+err.Error())
			}
			b.Map = m
		} else {
			b.Code = string(f.Contents)
		}
	}
	b.Files = inputsOf(result.Metafile)
	return b, nil
}

func faultsOf(messages []api.Message) *Error {
	e := &Error{}
	for _, m := range messages {
		f := Fault{Message: sentence(m.Text)}
		if at := m.Location; at != nil {
			f.File, f.Line, f.Column, f.Length = filepath.ToSlash(at.File), at.Line, at.Column, at.Length
		}
		e.Faults = append(e.Faults, f)
	}
	return e
}

// sentence makes an esbuild message begin as ours do.
func sentence(text string) string {
	if text == "" {
		return text
	}
	if first, rest := text[:1], text[1:]; rest != "" && rest[:1] == strings.ToLower(rest[:1]) {
		return strings.ToLower(first) + rest
	}
	return text
}

// confine refuses imports that lead out of the project, unless a folder node_modules has them.
func confine(o Options) api.Plugin {
	return api.Plugin{Name: "confine", Setup: func(build api.PluginBuild) {
		build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: "file"}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
			if slices.Contains(strings.Split(filepath.ToSlash(args.Path), "/"), "node_modules") || inside(o.Dir, args.Path) {
				return api.OnLoadResult{}, nil
			}
			return api.OnLoadResult{Errors: []api.Message{{
				Text: "the import " + filepath.Base(args.Path) + " is outside of the project: move the file into it"}}}, nil
		})
	}}
}

// stubs serves the modules that the options have a text for, where resolving them finds nothing.
func stubs(o Options) api.Plugin {
	const ours = "yamlhost-stub" // marks a question of our own, which must not come back to us
	return api.Plugin{Name: "stubs", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: `.*`}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
			if _, has := o.Stubs[args.Path]; !has || args.PluginData == ours {
				return api.OnResolveResult{}, nil
			}
			found := build.Resolve(args.Path, api.ResolveOptions{Kind: args.Kind, Importer: args.Importer,
				Namespace: args.Namespace, ResolveDir: args.ResolveDir, PluginData: ours})
			if len(found.Errors) == 0 {
				return api.OnResolveResult{Path: found.Path, Namespace: found.Namespace, External: found.External}, nil
			}
			return api.OnResolveResult{Path: args.Path, Namespace: namespaceStub}, nil
		})
		build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: namespaceStub}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
			text := o.Stubs[args.Path]
			return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, nil
		})
	}}
}
