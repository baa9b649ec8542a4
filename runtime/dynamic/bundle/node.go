package bundle

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// namespaceStub is the esbuild namespace of the modules in Options.Stubs.
const namespaceStub = "stub"

// makeNode bundles TypeScript or JavaScript.
func makeNode(o Options) (*Bundle, error) {
	entries, stdin := []string{"./" + filepath.ToSlash(o.Source)}, (*api.StdinOptions)(nil)
	if h := o.Handler; h != nil && h.Export != "" {
		stdin = &api.StdinOptions{Contents: "export { " + h.Export + " } from " + strconv.Quote(entries[0]) + "\n",
			ResolveDir: o.Dir, Sourcefile: exportsFile, Loader: api.LoaderJS}
		entries = nil
	}
	result := api.Build(api.BuildOptions{
		EntryPoints:       entries,
		Stdin:             stdin,
		AbsWorkingDir:     o.Dir, // paths in the bundle are relative to it, so the digest does not depend on the folder
		Outfile:           filepath.Join(o.Dir, "bundle.js"),
		Bundle:            true,
		Platform:          api.PlatformNode,
		Format:            api.FormatCommonJS,
		Target:            api.ES2022,
		Charset:           api.CharsetUTF8,
		LegalComments:     api.LegalCommentsNone,
		Sourcemap:         api.SourceMapExternal,
		SourcesContent:    api.SourcesContentExclude,
		MinifyIdentifiers: o.Minify, MinifySyntax: o.Minify, MinifyWhitespace: o.Minify,
		External:          o.External,
		Metafile:          true,
		LogLevel:          api.LogLevelSilent,
		Plugins:           []api.Plugin{ownFiles(o), captured(o), stubs(o)},
		TsconfigRaw:       "{}", // a tsconfig of the machine would change the digest
		Write:             false,
		TreeShaking:       api.TreeShakingTrue,
		KeepNames:         false,
		ResolveExtensions: []string{".ts", ".mts", ".cts", ".js", ".mjs", ".cjs", ".json"},
	})
	if len(result.Errors) > 0 {
		faults := faultsOf(result.Errors)
		for i, f := range faults.Faults {
			if f.File == exportsFile { // our own text, which only exports the name
				faults.Faults[i] = Fault{File: filepath.ToSlash(o.Source), Message: f.Message}
				if strings.HasPrefix(f.Message, "no matching export") {
					faults.Faults[i].Message = "the file exports no " + strconv.Quote(o.Handler.Export)
				}
			}
		}
		return nil, faults
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
	if o.Handler != nil {
		b.Texts = map[string]string{"index.js": b.Code}
	}
	return b, nil
}

// exportsFile names the generated module that exports only Handler.Export.
const exportsFile = "yamlhost:exports"

// captured makes the import of captured values refer to CapturedFile, which is read when the bundle runs.
func captured(o Options) api.Plugin {
	return api.Plugin{Name: "captured", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: "^" + Captured + "$"}, func(api.OnResolveArgs) (api.OnResolveResult,
			error) {
			switch {
			case o.Handler == nil:
				return api.OnResolveResult{Errors: []api.Message{{Text: "a provider captures nothing: it " +
					"receives inputs and configuration"}}}, nil
			case !o.Handler.Captured:
				return api.OnResolveResult{Errors: []api.Message{{Text: "nothing is captured: add capture to the call of fn::bundle"}}}, nil
			}
			return api.OnResolveResult{Path: "./" + CapturedFile, External: true}, nil
		})
	}}
}

func faultsOf(messages []api.Message) *Error {
	e := &Error{}
	for _, m := range messages {
		f := Fault{Message: sentence(m.Text)}
		if loc := m.Location; loc != nil {
			f.File, f.Line, f.Column, f.Length = filepath.ToSlash(loc.File), loc.Line, loc.Column, loc.Length
		}
		e.Faults = append(e.Faults, f)
	}
	return e
}

// sentence makes an esbuild message begin with a lower-case letter, like our messages.
func sentence(text string) string {
	if text == "" {
		return text
	}
	if first, rest := text[:1], text[1:]; rest != "" && rest[:1] == strings.ToLower(rest[:1]) {
		return strings.ToLower(first) + rest
	}
	return text
}

// ownFiles refuses imports from outside the project, except those from a node_modules folder.
func ownFiles(o Options) api.Plugin {
	return api.Plugin{Name: "confine", Setup: func(build api.PluginBuild) {
		build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: "file"}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
			installed := !o.Confined && slices.Contains(strings.Split(filepath.ToSlash(args.Path), "/"), "node_modules")
			if installed || inside(o.Dir, args.Path) {
				return api.OnLoadResult{}, nil
			}
			return api.OnLoadResult{Errors: []api.Message{{
				Text: "the import " + filepath.Base(args.Path) + " is outside of the project: move the file into it"}}}, nil
		})
	}}
}

// stubs serves the modules in Options.Stubs that esbuild cannot resolve otherwise.
func stubs(o Options) api.Plugin {
	const ours = "yamlhost-stub" // marks our own call of Resolve, which this plugin must not answer
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
		build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: namespaceStub}, func(args api.OnLoadArgs) (api.OnLoadResult,
			error) {
			text := o.Stubs[args.Path]
			return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, nil
		})
	}}
}
